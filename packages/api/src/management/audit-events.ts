import type { AuditRow } from '@signalbox/core/management'
import { auditVerificationFields, toReply } from '@signalbox/core/resources'
import * as z from 'zod'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { dateTime, listed, pageSchema, pages } from './answers.ts'
import { resourceSchema } from './resource-schemas.ts'
import { reading } from './rows.ts'

const auditEventsPath = '/v1/workspaces/:workspace_id/audit-events'

export const auditEventRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: auditEventsPath,
    client: 'auditEvents.list',
    needs: ['audit:read'],
    summary: 'List who changed what, newest first.',
    query: [
      { name: 'event', description: 'Only events of this name, as in `api_key.created`.' },
      { name: 'actor_key_id', description: 'Only what was done with this key.' },
      { name: 'from', description: 'Since this time, which is included.', date: true },
      { name: 'to', description: 'Before this time.', date: true },
      ...pages,
    ],
    reply: 'AuditEventList',
    handler(call, { auditEvents }) {
      const { event, actor_key_id: actorKeyId } = call.query
      const [from, to] = [timeOf(call.query.from), timeOf(call.query.to)]
      const query = {
        ...(event !== undefined && { event }),
        ...(actorKeyId !== undefined && { actorKeyId }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }
      return listed(call, { list: page => auditEvents.list({ ...query, ...page }), byokKeyView: auditEventView })
    },
  },
  {
    ...reading,
    path: `${auditEventsPath}/verify`,
    client: 'auditEvents.verify',
    needs: ['audit:read'],
    summary: 'Tell whether the audit chain is as it was written.',
    reply: 'AuditVerification',
    handler: async (_, { auditEvents }) => json(toReply(auditVerificationFields, await auditEvents.verify())),
  },
]

const auditEventView = (row: AuditRow) => ({
  id: row.id,
  event: row.event,
  actor: { key_id: row.actorKeyId ?? null, name: row.actorName ?? null },
  subject: { type: row.subjectType, id: row.subjectId },
  at: dateTime(row.at),
  request_id: row.requestId ?? null,
  ip: row.ip ?? null,
  changes: JSON.parse(row.changes),
})

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
