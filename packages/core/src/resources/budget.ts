import type { Endpoints } from './endpoint.ts'
import type { BodyOf, CreateInput, RecordOf, UpdateInput } from './fields.ts'

const optional = { create: 'optional', update: 'optional', reply: 'always' } as const

/** The fields of a budget: a spending limit for all keys of a workspace, or for one key, in a period. */
export const budgetFields = {
  id: {
    kind: 'string',
    format: 'uuid',
    reply: 'always',
    description: 'Id of the budget.',
    example: '0199aa00-0000-7000-8000-000000000001',
  },
  workspaceId: { kind: 'string', reply: 'always', description: 'The workspace that the budget belongs to.', example: 'acme' },
  name: {
    kind: 'string',
    min: 1,
    max: 255,
    create: 'required',
    update: 'optional',
    reply: 'always',
    description: 'Name of the budget.',
    example: 'November',
  },
  scope: {
    kind: 'enum',
    values: ['workspace', 'api_key'],
    create: 'optional',
    reply: 'always',
    description:
      'Whether the requests of all keys of the workspace count, or those of one key. Default: `api_key` if `api_key_id` is set, otherwise `workspace`.',
    example: 'workspace',
  },
  apiKeyId: {
    kind: 'string',
    create: 'optional',
    reply: 'nullable',
    description: 'Id of the key whose requests count, if `scope` is `api_key`.',
    example: '0199aa00-0000-7000-8000-000000000002',
  },
  period: {
    kind: 'enum',
    values: ['day', 'week', 'month', 'total'],
    create: 'optional',
    reply: 'always',
    description: 'Period of the limit, in UTC. Weeks begin on Monday. Default: `month`.',
    example: 'month',
  },
  limit: {
    kind: 'usd',
    min: 1,
    max: 1e15,
    create: 'required',
    update: 'optional',
    reply: 'always',
    description: 'Amount that may be spent in a period.',
    example: 100,
  },
  enforce: {
    ...optional,
    kind: 'boolean',
    description: 'Whether requests beyond the limit are refused. false: the budget only reports. Default: true.',
    example: true,
  },
  includeByok: {
    ...optional,
    kind: 'boolean',
    description: 'Whether requests with provider keys of the workspace count too, at list price. Default: false.',
    example: false,
  },
  alertAt: {
    ...optional,
    kind: 'list',
    of: { kind: 'number', above: 0, max: 1 },
    max: 10,
    description: 'Fractions of the limit at which the operator is notified. Default: none.',
    example: [0.8, 1],
  },
  used: { kind: 'usd', reply: 'always', description: 'Amount spent in the current period.', example: 12.5 },
  remaining: { kind: 'usd', reply: 'always', description: 'Amount left in the current period; 0 if the budget is used up.', example: 87.5 },
  resetsAt: {
    kind: 'time',
    reply: 'nullable',
    description: 'When the next period begins. null: never.',
    example: '2026-12-01T00:00:00.000Z',
  },
  createdAt: { kind: 'time', reply: 'always', description: 'When the budget was created.', example: '2026-11-01T09:30:00.000Z' },
} as const

/** A spending limit for all keys of a workspace, or for one key, in a period. Money is microdollars, times are Unix milliseconds. */
export interface Budget extends RecordOf<typeof budgetFields> {}
/** The input for creating a budget. `limit` is microdollars, as in `usd(50)`. */
export interface NewBudget extends CreateInput<typeof budgetFields> {}
/** The input for changing a budget. Scope, key and period cannot be changed. */
export interface BudgetChange extends UpdateInput<typeof budgetFields> {}
/** A budget as it is stored. */
export interface BudgetBody extends BodyOf<typeof budgetFields> {}

const { name, period, enforce, limit, used, remaining, resetsAt } = budgetFields
/** The fields of a budget that callers see whose requests count against it. */
export const callerBudgetFields = { name, period, enforce, limit, used, remaining, resetsAt } as const
/** The state of a budget that a caller's requests count against. Money is microdollars, times are Unix milliseconds. */
export interface CallerBudgetState extends RecordOf<typeof callerBudgetFields> {}

/** The fields of a budget that is created and deleted together with an API key. */
export const keyBudgetFields = { limit: budgetFields.limit, enforce: budgetFields.enforce, includeByok: budgetFields.includeByok } as const
/** The input for changing the budget of an API key. */
export interface KeyBudgetChange extends UpdateInput<typeof keyBudgetFields> {}

/** The methods of `budgets`. */
export const budgetEndpoints = {
  create: {
    route: ['POST', '/budgets'],
    scopes: ['budgets:write'],
    summary: 'Create a budget: a limit on what all keys of the workspace, or one key, may spend in a period.',
    body: 'CreateBudget',
    input: { fields: budgetFields, mode: 'create' },
    reply: 'Budget',
    errors: ['state_precondition_failed'],
  },
  list: {
    route: ['GET', '/budgets'],
    scopes: ['budgets:read'],
    summary: 'List the budgets, oldest first, including those of keys.',
    reply: 'Budget',
    page: { name: 'BudgetList' },
  },
  get: {
    route: ['GET', '/budgets/:budget_id'],
    id: true,
    scopes: ['budgets:read'],
    summary: 'Get a budget and its remaining amount.',
    reply: 'Budget',
  },
  update: {
    route: ['PATCH', '/budgets/:budget_id'],
    id: true,
    scopes: ['budgets:write'],
    summary: 'Change a budget. The amount used so far stays the same.',
    body: 'UpdateBudget',
    input: { fields: budgetFields, mode: 'update' },
    reply: 'Budget',
  },
  delete: {
    route: ['DELETE', '/budgets/:budget_id'],
    id: true,
    scopes: ['budgets:write'],
    summary: 'Delete a budget.',
    reply: 'Acknowledgement',
    done: { message: 'The budget is removed.' },
  },
} as const satisfies Endpoints
