import type { CreditBalance } from '@signalbox/core/management'
import { autoReloadFields, creditFields, fromWire, ledgerEntryFields, type MoneyMove, toReply } from '@signalbox/core/resources'
import * as z from 'zod'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted, listed, pageSchema, pagesByAnyId } from './answers.ts'
import { centsOf, dollarsOf } from './money.ts'
import { resourceSchema } from './resource-schemas.ts'
import { reading, writing } from './rows.ts'

const billingPath = '/v1/workspaces/:workspace_id/billing'

export const billingRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${billingPath}/balance`,
    client: 'billing.balance',
    needs: ['billing:read'],
    summary: 'Tell the credit of the workspace.',
    reply: 'Balance',
    handler: async (_, { billing }) => json(creditView(await billing.balance())),
  },
  {
    ...writing('POST'),
    path: `${billingPath}/credits`,
    client: 'billing.credit',
    needs: ['billing:write'],
    summary: 'Add credit, once for each `reference`.',
    body: 'CreateCredit',
    reply: 'Balance',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    async handler(call, { billing }) {
      return accepted(creditView(await billing.credit(fromWire({ fields: creditFields, mode: 'create' }, call.body))))
    },
  },
  {
    ...reading,
    path: `${billingPath}/ledger`,
    client: 'billing.ledger',
    needs: ['billing:read'],
    summary: 'List what came into the credit and went out of it, newest first.',
    query: [
      { name: 'from', description: 'Since this time, which is included.', date: true },
      { name: 'to', description: 'Before this time.', date: true },
      ...pagesByAnyId,
    ],
    reply: 'LedgerEntryList',
    handler(call, { billing }) {
      const [from, to] = [timeOf(call.query.from), timeOf(call.query.to)]
      const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      return listed(call, { list: page => billing.ledger({ ...span, ...page }), byokKeyView: moveView })
    },
  },
  {
    ...writing('PATCH'),
    path: `${billingPath}/auto-reload`,
    client: 'billing.autoReload.update',
    needs: ['billing:write'],
    summary: 'Have credit paid in to a target whenever it falls below a threshold.',
    body: 'UpdateAutoReload',
    reply: 'Balance',
    async handler(call, { billing }) {
      return accepted(creditView(await billing.autoReload.update(fromWire({ fields: autoReloadFields, mode: 'update' }, call.body))))
    },
  },
]

const creditView = ({ balance, credited, spent, autoReload, ...rest }: CreditBalance) => ({
  balance_microdollars: balance,
  balance_cents: centsOf(balance),
  balance_dollars: dollarsOf(balance),
  lifetime_purchased_microdollars: credited,
  lifetime_purchased_cents: centsOf(credited),
  lifetime_used_microdollars: spent,
  lifetime_used_cents: centsOf(spent),
  auto_reload_enabled: autoReload.enabled,
  ...both('auto_reload_threshold', autoReload.threshold),
  ...both('auto_reload_target', autoReload.target),
  has_payment_method: rest.hasPaymentMethod,
  byok_monthly_request_cap: rest.byokMonthlyRequestCap ?? null,
  byok_requests_remaining: rest.byokRequestsRemaining ?? null,
})

const both = (name: string, amount: number | undefined) => ({
  [`${name}_microdollars`]: amount ?? null,
  [`${name}_cents`]: amount === undefined ? null : centsOf(amount),
})

const moveView = (move: MoneyMove) => toReply(ledgerEntryFields, move)

export const billingSchemas = () => ({
  Balance: balance(),
  CreateCredit: resourceSchema(creditFields, 'create'),
  LedgerEntryList: pageSchema(resourceSchema(ledgerEntryFields, 'reply')),
  UpdateAutoReload: resourceSchema(autoReloadFields, 'update'),
})

const integer = (description: string, example: number | null) => z.int().meta({ description, example })
const integerOrNull = (description: string, example: number | null) => z.int().nullable().meta({ description, example })

const balance = () =>
  z.object({
    balance_microdollars: integer('Credit of the workspace.', 12_500_000),
    balance_cents: integer('The same in cents, rounded down as all cents here.', 1_250),
    balance_dollars: z.string().meta({ description: 'The same in dollars, with two places.', example: '12.50' }),
    lifetime_purchased_microdollars: integer('All credit that was ever added.', 50_000_000),
    lifetime_purchased_cents: integer('The same in cents.', 5_000),
    lifetime_used_microdollars: integer('All credit that was ever spent.', 37_500_000),
    lifetime_used_cents: integer('The same in cents.', 3_750),
    auto_reload_enabled: z.boolean().meta({ description: 'Whether credit is reloaded.', example: true }),
    auto_reload_threshold_microdollars: integerOrNull('Below this balance, credit is reloaded. null: never set.', 5_000_000),
    auto_reload_threshold_cents: integerOrNull('The same in cents.', 500),
    auto_reload_target_microdollars: integerOrNull('The balance after a reload. null: never set.', 20_000_000),
    auto_reload_target_cents: integerOrNull('The same in cents.', 2_000),
    has_payment_method: z.boolean().meta({ description: 'Whether the operator can charge the workspace.', example: true }),
    byok_monthly_request_cap: integerOrNull(
      'Requests with provider keys of the workspace in a calendar month (UTC). null: any number.',
      null,
    ),
    byok_requests_remaining: integerOrNull('Left of them in this month. null: any number.', null),
  })
