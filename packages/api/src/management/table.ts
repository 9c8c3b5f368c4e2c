import { checkInput } from '@signalbox/core/resources'
import { createMatcher } from '../match.ts'
import type { ManagementTable } from '../route.ts'
import { managementRoutes } from './routes.ts'

/** Makes the table for one API. `managementTable('/api').match('GET', '/api/v1/workspaces/ws_1/settings')` */
export const managementTable = (basePath: string): ManagementTable => ({
  match: createMatcher(managementRoutes, basePath),
  checkBody: (input, body) => checkInput(input, body, 'json'),
})
