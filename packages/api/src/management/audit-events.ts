import { auditVerificationFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { listed, pages } from './answers.ts'
import { auditEventReply } from './replies/audit-event.ts'
import { replyOf } from './replies/reply-table.ts'
import { reading, reporting } from './rows.ts'

const auditEventsPath = '/v1/workspaces/:workspace_id/audit-events'

export const auditEventRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: auditEventsPath,
    client: 'auditEvents.list',
    needs: ['audit:read'],
    summary: 'List changes with their actors, newest first.',
    query: [
      { name: 'event', description: 'Only events of this name, as in `api_key.created`.' },
      { name: 'actor_key_id', description: 'Only changes made with this key.' },
      { name: 'from', description: 'Start time, inclusive.', date: true },
      { name: 'to', description: 'End time, exclusive.', date: true },
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
      return listed(call, { list: page => auditEvents.list({ ...query, ...page }), toView: row => replyOf(auditEventReply, row) })
    },
  },
  {
    ...reporting,
    path: `${auditEventsPath}/verify`,
    client: 'auditEvents.verify',
    needs: ['audit:read'],
    summary: 'Verify that the audit log is unchanged.',
    reply: 'AuditVerification',
    handler: async (_, { auditEvents }) => json(toReply(auditVerificationFields, await auditEvents.verify())),
  },
]
