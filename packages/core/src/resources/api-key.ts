import { keyBudgetFields } from './budget.ts'
import type { CreateInput, RecordOf, UpdateInput } from './fields.ts'
import { scopes } from './scopes.ts'

/** The fields of an API key. */
export const apiKeyFields = {
  id: { kind: 'string', format: 'uuid', reply: 'always', description: 'Id of the key.', example: '0199aa00-0000-7000-8000-000000000002' },
  workspaceId: { kind: 'string', reply: 'always', description: 'The workspace that the key belongs to.', example: 'acme' },
  name: {
    kind: 'string',
    min: 1,
    max: 255,
    create: 'required',
    update: 'optional',
    reply: 'always',
    description: 'Name of the key.',
    example: 'backend',
  },
  keyType: { kind: 'enum', values: ['api'], create: 'optional', description: 'Type of the key. `api` is the only one.', example: 'api' },
  keyPrefix: { kind: 'string', reply: 'always', description: 'First characters of the secret.', example: 'ak_Zx81kQ2p' },
  scopes: {
    kind: 'list',
    of: { kind: 'enum', values: scopes },
    min: 1,
    max: 100,
    or: '*',
    create: 'optional',
    reply: 'always',
    description: 'What the key may do. A key can only grant scopes that it has itself. Default: `inference:invoke`.',
    example: ['inference:invoke'],
  },
  isActive: {
    kind: 'boolean',
    reply: 'always',
    description: 'Whether the key can be used. false if it, or a key above it, is revoked or expired.',
    example: true,
  },
  createdAt: { kind: 'time', reply: 'always', description: 'When the key was created.', example: '2026-11-01T09:30:00.000Z' },
  rateLimitRpm: {
    kind: 'integer',
    min: 1,
    create: 'optional',
    update: 'nullable',
    reply: 'optional',
    description: 'Requests per minute for each model.',
    example: 600,
  },
  expiresAt: {
    kind: 'time',
    create: 'optional',
    update: 'nullable',
    reply: 'optional',
    description: 'When the key expires. Must be in the future.',
    example: '2027-01-31T12:00:00.000Z',
  },
  rotatedAt: { kind: 'time', reply: 'optional', description: 'When the secret was last replaced.', example: '2026-11-20T08:00:00.000Z' },
  previousSecretExpiresAt: {
    kind: 'time',
    reply: 'optional',
    description: 'When the secret that was replaced last stops working.',
    example: '2026-11-21T08:00:00.000Z',
  },
  lastUsedAt: { kind: 'time', reply: 'optional', description: 'When the key was last used.', example: '2026-11-20T08:00:00.000Z' },
  createdByKeyId: {
    kind: 'string',
    reply: 'optional',
    description: 'Id of the key that created this one.',
    example: '0199aa00-0000-7000-8000-000000000003',
  },
  budget: {
    kind: 'object',
    fields: keyBudgetFields,
    create: 'optional',
    update: 'nullable',
    description: 'Limit on what the key may spend in total. It is listed among the budgets and deleted with the key.',
    example: { limit_usd: 20 },
  },
  limits: {
    kind: 'object',
    fields: {
      tokensPerMinute: { kind: 'integer', min: 1, create: 'optional' },
      concurrentRequests: { kind: 'integer', min: 1, create: 'optional' },
    },
    create: 'optional',
    inProcess: true,
  },
  secret: { kind: 'string', create: 'optional', inProcess: true },
  playground: { kind: 'boolean', create: 'optional', inProcess: true },
} as const

/** How long a replaced secret stays valid, in seconds. */
export const rotationGrace = { defaultSeconds: 86_400, maxSeconds: 604_800 } as const

/** The fields of a rotation. */
export const rotateKeyFields = {
  gracePeriod: {
    kind: 'integer',
    min: 0,
    max: rotationGrace.maxSeconds,
    create: 'optional',
    description: `Seconds until the replaced secret stops working. Secrets that were replaced earlier stop then at the latest. 0: at once. Default: ${rotationGrace.defaultSeconds}, a day.`,
    example: 3_600,
  },
} as const

/** The options for reading the usage of an API key. */
export const keyUsageFields = { period: { kind: 'enum', values: ['day', 'week', 'month'] } } as const

/** An API key, without its secret. Times are Unix milliseconds. */
export interface ApiKey extends RecordOf<typeof apiKeyFields> {
  /** Ids of its ancestors, nearest first: the key that created it, and that key's ancestors. */
  readonly ancestors?: readonly string[]
  readonly revokedAt?: number
}

/**
 * The input for creating an API key. `scopes: '*'` grants all scopes of the actor. `secret` is used instead of a random one.
 * `playground` creates a key for the operator's own web page, which is hidden from lists and from other keys.
 */
export interface NewApiKey extends CreateInput<typeof apiKeyFields> {}

/** The input for changing an API key. null removes a limit, an expiry or a budget. */
export interface ApiKeyChange extends UpdateInput<typeof apiKeyFields> {}
