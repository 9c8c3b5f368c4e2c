import { own } from '@signalbox/core/protocol'
import type { ZodType } from 'zod'
import { checkFields } from '../check-fields.ts'
import { createMatcher } from '../match.ts'
import type { ManagementTable } from '../route.ts'
import { managementRoutes } from './routes.ts'
import { managementSchemas } from './schemas.ts'

/** Makes the table for one API. `managementTable('/api').match('GET', '/api/v1/workspaces/ws_1/settings')` */
export function managementTable(basePath: string): ManagementTable {
  const schemas: Readonly<Record<string, ZodType>> = managementSchemas()
  return {
    match: createMatcher(managementRoutes, basePath),
    checkBody(row, body) {
      const schema = row.body === undefined ? undefined : own(schemas, row.body)
      if (schema) checkFields(schema, body, row.immutable)
    },
  }
}
