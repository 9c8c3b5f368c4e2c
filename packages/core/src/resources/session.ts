import { budgetFields } from './budget.ts'
import type { Endpoints } from './endpoint.ts'
import type { CreateInput, RecordOf } from './fields.ts'

const userBudgetFields = {
  limit: { ...budgetFields.limit, min: 0 },
  period: { ...budgetFields.period, reply: 'optional' },
  group: {
    kind: 'string',
    min: 1,
    max: 200,
    create: 'optional',
    reply: 'optional',
    description: 'Name of a group of users that share the budget. Default: only this user.',
  },
  includeByok: { ...budgetFields.includeByok, reply: 'optional' },
} as const

const callLimit = { kind: 'integer', min: 1, create: 'optional', reply: 'optional' } as const

/** The fields of a session, during which the holder of its token, such as a web page, may call models for one user. */
export const sessionFields = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the session.',
    example: '0199aa00-0000-7000-8000-000000000007',
  },
  workspaceId: { kind: 'string', reply: 'always', description: 'Id of the workspace that pays.', example: 'acme' },
  user: {
    kind: 'string',
    min: 1,
    max: 200,
    create: 'required',
    reply: 'always',
    description: 'Id of the user in the app. Usage is recorded under it.',
    example: 'u_42',
  },
  tokenPrefix: { kind: 'string', reply: 'always', description: 'First characters of the token.', example: 'st_Zx81kQ2p' },
  tags: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 64 },
    max: 8,
    create: 'optional',
    reply: 'optional',
    description: 'Tags by which usage is recorded.',
    example: ['plan:pro'],
  },
  models: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 255 },
    min: 1,
    max: 100,
    create: 'optional',
    reply: 'nullable',
    description: 'Models that the session may call, by id or alias. Default: all models of the workspace.',
    example: ['gpt-5-mini'],
  },
  maxSpend: {
    kind: 'usd',
    min: 1,
    max: 1e15,
    create: 'optional',
    reply: 'nullable',
    description:
      'Amount that the session may spend in total, including requests with provider keys of the workspace. Default: no limit beyond its budgets and those of the workspace.',
    example: 0.5,
  },
  origins: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 255 },
    min: 1,
    max: 20,
    create: 'optional',
    reply: 'nullable',
    description: 'Browser origins that may use the token. Default: any origin, and clients that are not browsers.',
    example: ['https://app.example'],
  },
  limits: {
    kind: 'object',
    fields: {
      requestsPerMinute: { ...callLimit, description: 'Requests per minute for each model.', example: 20 },
      tokensPerMinute: { ...callLimit, description: 'Input and output tokens per minute.', example: 50_000 },
      concurrentRequests: { ...callLimit, description: 'Concurrent requests.', example: 2 },
    },
    create: 'optional',
    reply: 'optional',
    description: 'Limits of the user across all of its sessions.',
    example: { requests_per_minute: 20 },
  },
  budgets: {
    kind: 'list',
    of: { kind: 'object', fields: userBudgetFields },
    max: 8,
    create: 'optional',
    reply: 'optional',
    description: 'Budgets of the user across all of its sessions.',
    example: [{ limit_usd: 5, period: 'month' }],
  },
  providerStorage: {
    kind: 'boolean',
    create: 'optional',
    reply: 'optional',
    description:
      'Whether the session may name what is stored at a provider (files, containers, vector stores), where keys of its workspace may. Default: false.',
    example: false,
  },
  expiresIn: {
    kind: 'integer',
    min: 1,
    max: 86_400,
    create: 'optional',
    description: 'Seconds until it expires. Default: 3600.',
    example: 900,
  },
  createdAt: { kind: 'time', reply: 'always', description: 'When the session was created.', example: '2026-11-20T08:00:00.000Z' },
  expiresAt: { kind: 'time', reply: 'always', description: 'When the token expires.', example: '2026-11-20T08:15:00.000Z' },
} as const

/** A session, without its token. Times are Unix milliseconds, money is microdollars. */
export interface Session extends RecordOf<typeof sessionFields> {}
/** The input for creating a session. `maxSpend` is microdollars, as in `usd(0.5)`. `expiresIn` is seconds. */
export interface NewSession extends CreateInput<typeof sessionFields> {}

/** The methods of `sessions`. */
export const sessionEndpoints = {
  create: {
    route: ['POST', '/sessions'],
    scopes: ['keys:write'],
    summary: 'Create a session of a user. Its token is returned only in this response.',
    body: 'CreateSession',
    input: { fields: sessionFields, mode: 'create' },
    reply: 'CreatedSession',
    errors: ['state_precondition_failed'],
    secret: true,
  },
  list: {
    route: ['GET', '/sessions'],
    scopes: ['keys:read'],
    summary: 'List the sessions that have not expired, oldest first.',
    options: { user: { kind: 'string', description: 'Only sessions of this user.' } },
    reply: 'Session',
    page: { name: 'SessionList' },
  },
  revoke: {
    route: ['DELETE', '/sessions/:session_id'],
    id: true,
    scopes: ['keys:write'],
    summary: 'Revoke a session. Its token stops working everywhere within 30 seconds.',
    reply: 'Acknowledgement',
    done: { message: 'The session is revoked.' },
  },
} as const satisfies Endpoints
