import type { AuditRow } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { dateTime, listed, pageSchema, pages } from './answers.ts'
import { reading } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/audit-events'

export const auditEventRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path,
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
      return listed(call, { list: page => auditEvents.list({ ...query, ...page }), view })
    },
  },
  {
    ...reading,
    path: `${path}/verify`,
    needs: ['audit:read'],
    summary: 'Tell whether the audit chain is as it was written.',
    reply: 'AuditVerification',
    async handler(_, { auditEvents }) {
      const { valid, checked, anchored, anchoredFrom, reason, firstBrokenId } = await auditEvents.verify()
      return json({
        valid,
        checked,
        anchored,
        anchored_from: anchoredFrom ?? null,
        reason: reason ?? null,
        first_broken_id: firstBrokenId ?? null,
      })
    },
  },
]

const view = (row: AuditRow) => ({
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
  AuditVerification: z.object({
    valid: z.boolean(),
    checked: z.int().meta({ description: 'Rows that were looked at.' }),
    anchored: z.boolean().meta({ description: 'The end of the chain is known, so that one that was cut off or replaced is seen.' }),
    anchored_from: z.int().nullable().meta({ description: 'The place from which on it was known at each change; 1: always.' }),
    reason: z.enum(['row_changed', 'end_missing', 'rows_added', 'chain_replaced', 'anchor_changed']).nullable(),
    first_broken_id: z.string().nullable(),
  }),
})

const auditEvent = () =>
  z.object({
    id: z.uuid(),
    event: z.string().meta({ description: '`<resource>.<created|updated|deleted|revoked|validated|accepted>`' }),
    actor: z
      .object({ key_id: z.string().nullable(), name: z.string().nullable() })
      .meta({ description: 'null: the operator of the service.' }),
    subject: z.object({ type: z.string(), id: z.string() }),
    at: z.iso.datetime(),
    request_id: z.string().nullable(),
    ip: z.string().nullable(),
    changes: z.record(z.string(), z.unknown()),
  })
