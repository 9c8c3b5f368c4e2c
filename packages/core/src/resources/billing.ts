import type { Endpoints } from './endpoint.ts'
import type { CreateInput, RecordOf, UpdateInput } from './fields.ts'

const maxAmount = 1e15

/** The fields of a payment into the credit of a workspace. */
export const creditFields = {
  amount: {
    kind: 'microdollars',
    min: 1,
    max: maxAmount,
    create: 'required',
    description: 'Amount to add to the credit.',
    example: 50_000_000,
  },
  reference: {
    kind: 'string',
    min: 1,
    max: 255,
    create: 'required',
    description: 'Reference of the payment. Repeating it changes nothing; repeating it with another amount is refused.',
    example: 'invoice 17',
  },
  note: { kind: 'string', max: 1_000, create: 'optional', description: 'A note for the ledger.', example: 'November' },
} as const

/** The fields of a correction of the credit, up or down. */
const adjustmentFields = { ...creditFields, amount: { ...creditFields.amount, min: -maxAmount } } as const

/** The fields of the automatic reload of credit. */
export const autoReloadFields = {
  enabled: {
    kind: 'boolean',
    update: 'optional',
    reply: 'always',
    description: 'Whether credit is reloaded automatically.',
    example: true,
  },
  threshold: {
    kind: 'microdollars',
    min: 0,
    max: maxAmount,
    update: 'optional',
    reply: 'optional',
    description: 'Credit is reloaded when the balance falls below this.',
    example: 5_000_000,
  },
  target: {
    kind: 'microdollars',
    min: 1,
    max: maxAmount,
    update: 'optional',
    reply: 'optional',
    description: 'The balance after a reload. Must be above the threshold.',
    example: 20_000_000,
  },
} as const

/** The fields of an entry of the credit ledger. */
export const ledgerEntryFields = {
  id: { kind: 'string', reply: 'always', description: 'Id of the entry.', example: 'credit:invoice 17' },
  at: { kind: 'time', reply: 'always', description: 'When the entry was made.', example: '2026-11-01T09:30:00.000Z' },
  kind: {
    kind: 'enum',
    values: ['credit', 'usage', 'adjustment'],
    reply: 'always',
    description: 'Type of the entry.',
    example: 'credit',
  },
  amount: {
    kind: 'microdollars',
    reply: 'always',
    description: 'Amount of the entry: positive if added, negative if spent.',
    example: 50_000_000,
  },
  balanceAfter: { kind: 'microdollars', reply: 'always', description: 'The balance after the entry.', example: 62_500_000 },
  requestId: {
    kind: 'string',
    reply: 'nullable',
    description: 'Id of the request, for entries of usage.',
    example: '0199aa00-0000-7000-8000-000000000007',
  },
  reference: {
    kind: 'string',
    reply: 'nullable',
    description: 'Reference of the payment, for credits and adjustments.',
    example: 'invoice 17',
  },
} as const

/** The fields of the plan of a workspace. Only the operator changes them. */
export const subscriptionFields = {
  plan: {
    kind: 'string',
    min: 1,
    max: 255,
    update: 'nullable',
    reply: 'always',
    description: 'Name of the plan. Default: `standard`.',
    example: 'pro',
  },
  status: {
    kind: 'enum',
    values: ['active', 'past_due', 'canceled'],
    update: 'nullable',
    reply: 'always',
    description: 'Status of the plan. It is informational: no request is refused because of it. Default: `active`.',
    example: 'active',
  },
  byokMonthlyRequestCap: {
    kind: 'integer',
    min: 0,
    update: 'nullable',
    reply: 'nullable',
    description: 'Limit on requests with provider keys of the workspace in a calendar month (UTC). null: no limit.',
    example: 100_000,
  },
  currentPeriodStart: {
    kind: 'time',
    update: 'nullable',
    reply: 'always',
    description: 'Start of the current period. Default: the start of the calendar month (UTC).',
    example: '2026-11-01T00:00:00.000Z',
  },
  currentPeriodEnd: {
    kind: 'time',
    update: 'nullable',
    reply: 'always',
    description: 'End of the current period. Default: the end of the calendar month (UTC).',
    example: '2026-12-01T00:00:00.000Z',
  },
} as const

/** The input of a payment or a correction. `amount` is microdollars, as in `usd(50)`; a correction may be negative. */
export interface NewCredit extends CreateInput<typeof creditFields> {}
/** The input for changing the automatic reload. */
export interface AutoReloadChange extends UpdateInput<typeof autoReloadFields> {}
/** An entry of the credit ledger. Money is microdollars. */
export interface MoneyMove extends RecordOf<typeof ledgerEntryFields> {
  readonly note?: string
}
/** The plan of a workspace. */
export interface Subscription extends RecordOf<typeof subscriptionFields> {}
/** The input for changing the plan. null restores a default. */
export interface SubscriptionChange extends UpdateInput<typeof subscriptionFields> {}

/** Amounts in microdollars. */
export interface CreditBalance {
  readonly balance: number
  /** On hold for running requests. */
  readonly held: number
  readonly credited: number
  readonly spent: number
  /** Amounts are absent if never set. */
  readonly autoReload: { readonly enabled: boolean; readonly threshold?: number; readonly target?: number }
  /** From the operator's `billing.hasPaymentMethod`; false without it. */
  readonly hasPaymentMethod: boolean
  /** Requests with the workspace's own credentials per calendar month (UTC). Absent: unlimited. */
  readonly byokMonthlyRequestCap?: number
  readonly byokRequestsRemaining?: number
}

/** The methods of `billing`. */
export const billingEndpoints = {
  balance: {
    route: ['GET', '/billing/balance'],
    scopes: ['billing:read'],
    summary: 'Get the credit of the workspace.',
    reply: 'Balance',
  },
  credit: {
    route: ['POST', '/billing/credits'],
    scopes: ['billing:write'],
    summary: 'Add credit. Each `reference` is credited once.',
    body: 'CreateCredit',
    input: { fields: creditFields, mode: 'create' },
    reply: 'Balance',
    errors: ['duplicate_resource', 'state_precondition_failed'],
  },
  adjust: { input: { fields: adjustmentFields, mode: 'create' } },
  ledger: {
    route: ['GET', '/billing/ledger'],
    scopes: ['billing:read'],
    summary: 'List the entries of the credit ledger, newest first.',
    options: {
      from: { kind: 'milliseconds', description: 'Start time, inclusive.' },
      to: { kind: 'milliseconds', description: 'End time, exclusive.' },
    },
    reply: 'LedgerEntry',
    page: { name: 'LedgerEntryList', anyId: true },
  },
} as const satisfies Endpoints

/** The methods of `billing.autoReload`. */
export const autoReloadEndpoints = {
  update: {
    route: ['PATCH', '/billing/auto-reload'],
    scopes: ['billing:write'],
    summary: 'Set up automatic reload: credit is topped up to a target when it falls below a threshold.',
    body: 'UpdateAutoReload',
    input: { fields: autoReloadFields, mode: 'update' },
    reply: 'Balance',
  },
} as const satisfies Endpoints

/** The methods of `subscription`. */
export const subscriptionEndpoints = {
  get: { route: ['GET', '/subscription'], scopes: ['billing:read'], summary: 'Get the plan of the workspace.', reply: 'Subscription' },
  set: { input: { fields: subscriptionFields, mode: 'update' } },
} as const satisfies Endpoints
