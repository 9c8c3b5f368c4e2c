import { keyBudgetFields } from './budget.ts'
import type { Endpoints } from './endpoint.ts'
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

/** The methods of `apiKeys`. */
export const apiKeyEndpoints = {
  create: {
    route: ['POST', '/api-keys'],
    scopes: ['keys:write'],
    summary: 'Create an API key. Its secret is returned only in this response.',
    body: 'CreateApiKey',
    input: { fields: apiKeyFields, mode: 'create' },
    reply: 'CreatedApiKey',
    errors: ['state_precondition_failed'],
    secret: true,
  },
  list: {
    route: ['GET', '/api-keys'],
    scopes: ['keys:read'],
    summary: 'List the API keys that are not revoked, oldest first.',
    options: { includeRevoked: { kind: 'boolean', description: 'Whether to include revoked keys. Default: false.' } },
    reply: 'ApiKey',
    page: { name: 'ApiKeyList' },
  },
  get: { route: ['GET', '/api-keys/:api_key_id'], id: true, scopes: ['keys:read'], summary: 'Get an API key.', reply: 'ApiKey' },
  update: {
    route: ['PATCH', '/api-keys/:api_key_id'],
    id: true,
    scopes: ['keys:write'],
    summary: 'Change the name, rate limit, expiry or budget of an API key. null removes a value.',
    body: 'UpdateApiKey',
    input: { fields: apiKeyFields, mode: 'update' },
    reply: 'ApiKey',
    errors: ['state_precondition_failed'],
  },
  rotate: {
    route: ['POST', '/api-keys/:api_key_id/rotate'],
    id: true,
    scopes: ['keys:write'],
    summary: 'Replace the secret of an API key. The new one is returned only in this response; the old one stays valid for a grace period.',
    body: 'RotateApiKey',
    options: {
      gracePeriod: {
        kind: 'integer',
        min: 0,
        max: rotationGrace.maxSeconds,
        description: `Seconds until the replaced secret stops working. Secrets that were replaced earlier stop then at the latest. 0: at once. Default: ${rotationGrace.defaultSeconds}, a day.`,
        example: 3_600,
      },
    },
    reply: 'CreatedApiKey',
    errors: ['state_precondition_failed'],
    secret: true,
  },
  revoke: {
    route: ['DELETE', '/api-keys/:api_key_id'],
    id: true,
    scopes: ['keys:write'],
    summary:
      'Revoke an API key and the keys created with it. They stop working everywhere within 30 seconds. Revoking a key twice changes nothing.',
    options: {
      keepMade: {
        kind: 'boolean',
        description: 'Whether to keep the keys created with it; they move below the keys above it. Default: false.',
      },
    },
    reply: 'Acknowledgement',
    done: { message: 'The key is revoked.', pending: 'The key is revoked, and stops working everywhere within 30 seconds.' },
  },
  usage: {
    route: ['GET', '/api-keys/:api_key_id/usage'],
    id: true,
    scopes: ['keys:read', 'usage:read'],
    summary: 'Get the usage of an API key in the current day, week or month (UTC; weeks begin on Monday).',
    options: { period: { kind: 'enum', values: ['day', 'week', 'month'], description: 'Default: `month`.' } },
    reply: 'ApiKeyUsage',
  },
} as const satisfies Endpoints
