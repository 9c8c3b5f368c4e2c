import {
  type ApiKey,
  apiKeyFields,
  auditVerificationFields,
  type ByokKey,
  budgetFields,
  byokKeyFields,
  type Field,
  type Fields,
  inviteFields,
  ledgerEntryFields,
  type Member,
  memberFields,
  profileOf,
  routingDefaultsFields,
  sessionFields,
  settingsFields,
  subscriptionFields,
  wirePath,
} from '@signalbox/core/resources'
import type { Gateway } from '@signalbox/gateway'
import type { AuditRow } from '@signalbox/storage'
import type { Settings } from '@signalbox/workspaces'
import { keyUsageReply, loggedRequestReply, summaryReply, trendsReply } from './analytics.ts'
import { balanceReply } from './balance.ts'
import { fieldsOf, type ReplyTable } from './reply-table.ts'

const { text, textOrNull } = fieldsOf<unknown>()
const ofAudit = fieldsOf<AuditRow>()

const keyId = '0199aa00-0000-7000-8000-000000000002'

/** Whether other processes may not have applied a change yet. */
export const propagationOf = ({ isShared }: Gateway): 'pending' | null => (isShared ? 'pending' : null)

const propagation = {
  kind: 'enum',
  values: ['pending'],
  reply: 'nullable',
  description: '`pending` if other processes may take up to 30 seconds to apply the change; null if it applies everywhere.',
  example: null,
} as const satisfies Field

/** After this time other processes have read a change. */
const propagatedMs = 30_000

const apiKeyReply: ReplyTable<ApiKey> = {
  ...apiKeyFields,
  profile: {
    kind: 'enum',
    values: ['inference', 'management', 'mixed'],
    reply: 'always',
    description: 'The kind of scopes that the key has.',
    example: 'inference',
    from: ({ scopes }) => profileOf(scopes),
  },
}

const createdApiKeyReply: ReplyTable<ApiKey & { readonly secret: string }> = {
  ...apiKeyReply,
  apiKey: fieldsOf<{ readonly secret: string }>().text(
    'The secret. It is returned only in this response.',
    'ak_Zx81kQ2pF7…',
    ({ secret }) => secret,
  ),
  propagationStatus: { ...propagation, from: (_, { gateway }) => propagationOf(gateway) },
}

const byokKeyReply: ReplyTable<ByokKey> = {
  ...byokKeyFields,
  propagationStatus: {
    ...propagation,
    from: ({ updatedAt, lastValidatedAt = 0 }, { gateway }) =>
      Math.abs(gateway.clock.now() - Math.max(updatedAt, lastValidatedAt)) < propagatedMs ? propagationOf(gateway) : null,
  },
}

/** Warnings about names that are no longer known, with JSON field names. */
const nameWarnings = (fields: Fields) =>
  ({
    kind: 'list',
    of: {
      kind: 'object',
      fields: {
        code: {
          kind: 'enum',
          values: ['unknown_name'],
          reply: 'always',
          description: 'Code of the warning. `unknown_name` is the only one.',
          example: 'unknown_name',
        },
        message: text('What is wrong.', 'This gateway no longer has the provider "exmaple".'),
        param: text('Path of the entry.', 'blocked_providers[0]'),
      },
    },
    reply: 'optional',
    description: 'Names in the lists that the gateway no longer knows. Absent if it knows all of them.',
    example: [],
    from: ({ warnings }: Pick<Settings, 'warnings'>) => warnings?.map(warning => ({ ...warning, param: wirePath(warning.param, fields) })),
  }) as const

const auditEventReply: ReplyTable<AuditRow> = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the event.',
    example: '0199aa00-0000-7000-8000-000000000008',
  },
  event: ofAudit.text('`<resource>.<created|updated|deleted|revoked|validated|accepted>`', 'api_key.created'),
  actor: {
    kind: 'object',
    fields: { keyId: textOrNull('Id of the API key that made the change.', keyId), name: textOrNull('Name of that key.', 'admin') },
    reply: 'always',
    description: 'Who made the change. Both fields are null for the operator of the service.',
    example: { key_id: null, name: null },
    from: ({ actorKeyId = null, actorName = null }) => ({ keyId: actorKeyId, name: actorName }),
  },
  subject: {
    kind: 'object',
    fields: { type: text('Type of the resource.', 'api_key'), id: text('Id of the resource.', keyId) },
    reply: 'always',
    description: 'The resource that was changed.',
    example: { type: 'api_key', id: keyId },
    from: ({ subjectType, subjectId }) => ({ type: subjectType, id: subjectId }),
  },
  at: ofAudit.time('When the change was made.', '2026-11-01T09:30:00.000Z'),
  requestId: ofAudit.textOrNull('Id of the request that made the change.', '0199aa00-0000-7000-8000-000000000007'),
  ip: ofAudit.textOrNull('IP address that the request came from.', '203.0.113.7'),
  changes: {
    kind: 'json',
    reply: 'always',
    description: 'The changed fields with their new values.',
    example: { name: 'backend' },
    from: ({ changes }) => JSON.parse(changes),
  },
}

/** A change of a resource that is confirmed, not returned. */
export interface Acknowledgement {
  readonly id: string
  readonly propagationStatus: 'pending' | null
  readonly message: string
}

const acknowledgementReply: ReplyTable<Acknowledgement> = {
  id: text('Id of the resource that was changed.', '01a1fd6c-4db3-76f2-bb09-734d779bb6f4'),
  propagationStatus: {
    kind: 'enum',
    values: ['pending'],
    reply: 'nullable',
    description: '`pending` if other processes may take up to 30 seconds to apply the change; otherwise null.',
  },
  message: text('What was done.', 'The key was revoked.'),
}

/** The member that an invite made, with its workspace. */
export const acceptedInviteReply: ReplyTable<Member & { readonly workspaceId: string }> = {
  ...memberFields,
  workspaceId: text('Id of the workspace that was joined.', 'acme'),
}

/** A reply of management, for its schema and its JSON. */
export interface Reply {
  readonly description?: string
  readonly fields: ReplyTable<never>
}

/** The replies of management by the names of their schemas. */
export const replies: Readonly<Record<string, Reply>> = {
  ApiKey: { fields: apiKeyReply },
  CreatedApiKey: { fields: createdApiKeyReply },
  ApiKeyUsage: { description: 'Usage of an API key in a period.', fields: keyUsageReply },
  Budget: { fields: budgetFields },
  Balance: { description: 'Credit of a workspace.', fields: balanceReply },
  LedgerEntry: { fields: ledgerEntryFields },
  Subscription: { fields: subscriptionFields },
  ByokKey: { fields: byokKeyReply },
  Session: { fields: sessionFields },
  CreatedSession: { fields: { ...sessionFields, token: text('The token. It is returned only in this response.', 'st_Zx81kQ2pF7…') } },
  Settings: { fields: { ...settingsFields, warnings: nameWarnings(settingsFields) } },
  RoutingDefaults: { fields: { ...routingDefaultsFields, warnings: nameWarnings(routingDefaultsFields) } },
  Member: { fields: memberFields },
  Invite: { fields: inviteFields },
  CreatedInvite: {
    fields: { ...inviteFields, token: text('The token that accepts the invite. It is returned only in this response.', 'inv_Jf0…') },
  },
  AcceptedInvite: { fields: acceptedInviteReply },
  AuditEvent: { fields: auditEventReply },
  AuditVerification: { description: 'Whether the audit log is unchanged.', fields: auditVerificationFields },
  AnalyticsSummary: { description: 'Usage, cost and latency of the workspace.', fields: summaryReply },
  AnalyticsTrends: { description: 'Usage, cost and latency of the workspace over time.', fields: trendsReply },
  LoggedRequest: { description: 'A request of the log.', fields: loggedRequestReply },
  Acknowledgement: { description: 'Confirmation of a change.', fields: acknowledgementReply },
}
