import type { AuditRow } from '@signalbox/storage'
import { fieldsOf, type ReplyTable } from './reply-table.ts'

const { text, textOrNull, time } = fieldsOf<AuditRow>()

const keyId = '0199aa00-0000-7000-8000-000000000002'

/** An entry of the audit log. */
export const auditEventReply: ReplyTable<AuditRow> = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the event.',
    example: '0199aa00-0000-7000-8000-000000000008',
    from: ({ id }) => id,
  },
  event: text({
    description: '`<resource>.<created|updated|deleted|revoked|validated|accepted>`',
    example: 'api_key.created',
    from: ({ event }) => event,
  }),
  actor: {
    kind: 'object',
    fields: {
      keyId: { kind: 'string', reply: 'nullable', description: 'Id of the API key that made the change.', example: keyId },
      name: { kind: 'string', reply: 'nullable', description: 'Name of that key.', example: 'admin' },
    },
    reply: 'always',
    description: 'Who made the change. Both fields are null for the operator of the service.',
    example: { key_id: null, name: null },
    from: ({ actorKeyId, actorName }) => ({ keyId: actorKeyId ?? null, name: actorName ?? null }),
  },
  subject: {
    kind: 'object',
    fields: {
      type: { kind: 'string', reply: 'always', description: 'Type of the resource.', example: 'api_key' },
      id: { kind: 'string', reply: 'always', description: 'Id of the resource.', example: keyId },
    },
    reply: 'always',
    description: 'The resource that was changed.',
    example: { type: 'api_key', id: keyId },
    from: ({ subjectType, subjectId }) => ({ type: subjectType, id: subjectId }),
  },
  at: time({ description: 'When the change was made.', example: '2026-11-01T09:30:00.000Z', from: ({ at }) => at }),
  requestId: textOrNull({
    description: 'Id of the request that made the change.',
    example: '0199aa00-0000-7000-8000-000000000007',
    from: ({ requestId }) => requestId,
  }),
  ip: textOrNull({ description: 'IP address that the request came from.', example: '203.0.113.7', from: ({ ip }) => ip }),
  changes: {
    kind: 'json',
    reply: 'always',
    description: 'The changed fields with their new values.',
    example: { name: 'backend' },
    from: ({ changes }) => JSON.parse(changes),
  },
}
