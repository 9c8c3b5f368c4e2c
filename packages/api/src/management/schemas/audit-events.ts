import { auditVerificationFields } from '@signalbox/core/resources'
import * as z from 'zod/v4'
import { pageSchema } from './page.ts'
import { resourceSchema } from './resource.ts'

export const auditEventSchemas = () => ({
  AuditEvent: auditEvent(),
  AuditEventList: pageSchema(auditEvent()),
  AuditVerification: resourceSchema(auditVerificationFields, 'reply'),
})

const textSchema = (description: string, example: string) => z.string().meta({ description, example })
const textOrNull = (description: string, example: string) => z.string().nullable().meta({ description, example })

const auditEvent = () =>
  z.object({
    id: z.uuid().meta({ description: 'Id of the event.', example: '0199aa00-0000-7000-8000-000000000008' }),
    event: textSchema('`<resource>.<created|updated|deleted|revoked|validated|accepted>`', 'api_key.created'),
    actor: z
      .object({
        key_id: textOrNull('The key that was used.', '0199aa00-0000-7000-8000-000000000002'),
        name: textOrNull('Its name.', 'admin'),
      })
      .meta({ description: 'null: the operator of the service.', example: { key_id: null, name: null } }),
    subject: z
      .object({ type: textSchema('Kind of the resource.', 'api_key'), id: textSchema('Its id.', '0199aa00-0000-7000-8000-000000000002') })
      .meta({ description: 'What was changed.', example: { type: 'api_key', id: '0199aa00-0000-7000-8000-000000000002' } }),
    at: z.iso.datetime().meta({ description: 'When it happened.', example: '2026-11-01T09:30:00.000Z' }),
    request_id: textOrNull('The request that did it.', '0199aa00-0000-7000-8000-000000000007'),
    ip: textOrNull('Where the request came from.', '203.0.113.7'),
    changes: z.record(z.string(), z.unknown()).meta({ description: 'Fields, with what they are now.', example: { name: 'backend' } }),
  })
