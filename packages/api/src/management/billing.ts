import type { CreditBalance } from '@signalbox/core/management'
import { autoReloadFields, creditFields, fromWire, ledgerEntryFields, type MoneyMove, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted, listed, pagesByAnyId } from './answers.ts'
import { centsOf, dollarsOf } from './money.ts'
import { reading, writing } from './rows.ts'

const billingPath = '/v1/workspaces/:workspace_id/billing'
const newCredit = { fields: creditFields, mode: 'create' } as const
const autoReloadChange = { fields: autoReloadFields, mode: 'update' } as const

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
    input: newCredit,
    reply: 'Balance',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    async handler(call, { billing }) {
      return accepted(creditView(await billing.credit(fromWire(newCredit, call.body))))
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
      return listed(call, { list: page => billing.ledger({ ...span, ...page }), toView: moveView })
    },
  },
  {
    ...writing('PATCH'),
    path: `${billingPath}/auto-reload`,
    client: 'billing.autoReload.update',
    needs: ['billing:write'],
    summary: 'Have credit paid in to a target whenever it falls below a threshold.',
    body: 'UpdateAutoReload',
    input: autoReloadChange,
    reply: 'Balance',
    async handler(call, { billing }) {
      return accepted(creditView(await billing.autoReload.update(fromWire(autoReloadChange, call.body))))
    },
  },
]

const creditView = ({ balance, held, credited, spent, autoReload, ...rest }: CreditBalance) => ({
  balance_microdollars: balance,
  balance_cents: centsOf(balance),
  balance_dollars: dollarsOf(balance),
  held_microdollars: held,
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
