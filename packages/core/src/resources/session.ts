import { budgetFields } from './budget.ts'
import type { CreateInput, RecordOf } from './fields.ts'

/** What the token of a session begins with. */
export const sessionTokenPrefix = 'st_'

const userBudgetFields = {
  limit: { ...budgetFields.limit, min: 0 },
  period: { ...budgetFields.period, reply: 'optional' },
  group: {
    kind: 'string',
    min: 1,
    max: 200,
    create: 'optional',
    reply: 'optional',
    description: 'The users who share it. Default: this one.',
  },
  includeByok: { ...budgetFields.includeByok, reply: 'optional' },
} as const

const callLimit = { kind: 'integer', min: 1, create: 'optional', reply: 'optional' } as const

/** The fields of a session: a short time in which the holder of its token, such as a page, may call models for one user. */
export const sessionFields = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the session.',
    example: '0199aa00-0000-7000-8000-000000000007',
  },
  workspaceId: { kind: 'string', reply: 'always', description: 'The workspace that pays.', example: 'acme' },
  user: {
    kind: 'string',
    min: 1,
    max: 200,
    create: 'required',
    reply: 'always',
    description: 'The app’s id of the user, under which usage counts.',
    example: 'u_42',
  },
  tokenPrefix: { kind: 'string', reply: 'always', description: 'The beginning of the token.', example: 'st_Zx81kQ2p' },
  tags: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 64 },
    max: 8,
    create: 'optional',
    reply: 'optional',
    description: 'Names that usage is counted by.',
    example: ['plan:pro'],
  },
  models: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 255 },
    min: 1,
    max: 100,
    create: 'optional',
    reply: 'nullable',
    description: 'The models that it may call, by id or alias. Default: all that the workspace may.',
    example: ['gpt-5-mini'],
  },
  maxSpend: {
    kind: 'usd',
    min: 1,
    max: 1e15,
    create: 'optional',
    reply: 'nullable',
    description:
      'What it may spend in all, provider keys of the workspace included. Default: what its budgets and those of the workspace allow.',
    example: 0.5,
  },
  origins: {
    kind: 'list',
    of: { kind: 'string', min: 1, max: 255 },
    min: 1,
    max: 20,
    create: 'optional',
    reply: 'nullable',
    description: 'Origins whose pages may use the token. Default: all pages, and programs that are no browser.',
    example: ['https://app.example'],
  },
  limits: {
    kind: 'object',
    fields: {
      requestsPerMinute: { ...callLimit, description: 'Requests a minute for each model.', example: 20 },
      tokensPerMinute: { ...callLimit, description: 'Input and output tokens a minute.', example: 50_000 },
      concurrentRequests: { ...callLimit, description: 'Requests at the same time.', example: 2 },
    },
    create: 'optional',
    reply: 'optional',
    description: 'Limits of the user, in all its sessions together.',
    example: { requests_per_minute: 20 },
  },
  budgets: {
    kind: 'list',
    of: { kind: 'object', fields: userBudgetFields },
    max: 8,
    create: 'optional',
    reply: 'optional',
    description: 'Budgets of the user, in all its sessions together.',
    example: [{ limit_usd: 5, period: 'month' }],
  },
  expiresIn: {
    kind: 'integer',
    min: 1,
    max: 86_400,
    create: 'optional',
    description: 'Seconds until it expires. Default: 3600.',
    example: 900,
  },
  createdAt: { kind: 'time', reply: 'always', description: 'When it was created.', example: '2026-11-20T08:00:00.000Z' },
  expiresAt: { kind: 'time', reply: 'always', description: 'From then on the token is not valid.', example: '2026-11-20T08:15:00.000Z' },
} as const

/** A session, without its token. Times are Unix milliseconds, money is microdollars. */
export interface Session extends RecordOf<typeof sessionFields> {}
/** What creates a session. `maxSpend`: microdollars, as in `usd(0.5)`. `expiresIn`: seconds. */
export interface NewSession extends CreateInput<typeof sessionFields> {}
