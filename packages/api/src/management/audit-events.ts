import type { AuditRow } from '@signalbox/core/management'
import { auditVerificationFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { dateTime, listed, pages } from './answers.ts'
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
      return listed(call, { list: page => auditEvents.list({ ...query, ...page }), toView: auditEventView })
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
