import type { CreditBalance, MoneyMove } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { accepted, dateTime, listed, pageSchema, pages } from './answers.ts'
import { bodyOf } from './fields.ts'
import { centsOf, dollarsOf } from './money.ts'
import { reading, writing } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/billing'

export const billingRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${path}/balance`,
    needs: ['billing:read'],
    summary: 'Tell the credit of the workspace.',
    reply: 'Balance',
    handler: async (_, { billing }) => json(view(await billing.balance())),
  },
  {
    ...writing('POST'),
    path: `${path}/credits`,
    needs: ['billing:write'],
    summary: 'Add credit, once for each `reference`.',
    body: 'CreateCredit',
    reply: 'Balance',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    async handler(call, { billing }) {
      const { amountMicrodollars: amount, ...input } = bodyOf<typeof createCredit>(call)
      return accepted(view(await billing.credit({ ...input, amount })))
    },
  },
  {
    ...reading,
    path: `${path}/ledger`,
    needs: ['billing:read'],
    summary: 'List what came into the credit and went out of it, newest first.',
    query: [
      { name: 'from', description: 'Since this time, which is included.', date: true },
      { name: 'to', description: 'Before this time.', date: true },
      ...pages,
    ],
    reply: 'LedgerEntryList',
    handler(call, { billing }) {
      const [from, to] = [timeOf(call.query.from), timeOf(call.query.to)]
      const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      return listed(call, { list: page => billing.ledger({ ...span, ...page }), view: moveView })
    },
  },
  {
    ...writing('PATCH'),
    path: `${path}/auto-reload`,
    needs: ['billing:write'],
    summary: 'Have credit paid in to a target whenever it falls below a threshold.',
    body: 'UpdateAutoReload',
    reply: 'Balance',
    async handler(call, { billing }) {
      const { thresholdMicrodollars: threshold, targetMicrodollars: target, ...input } = bodyOf<typeof updateAutoReload>(call)
      const change = { ...input, ...(threshold !== undefined && { threshold }), ...(target !== undefined && { target }) }
      return accepted(view(await billing.autoReload.update(change)))
    },
  },
]

const view = ({ balance, credited, spent, autoReload, ...rest }: CreditBalance) => ({
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

const moveView = (move: MoneyMove) => ({
  id: move.id,
  at: dateTime(move.at),
  kind: move.kind,
  amount_microdollars: move.amount,
  balance_after_microdollars: move.balanceAfter,
  request_id: move.requestId ?? null,
  reference: move.reference ?? null,
})

export const billingSchemas = () => ({
  Balance: balance(),
  CreateCredit: createCredit(),
  LedgerEntryList: pageSchema(move()),
  UpdateAutoReload: updateAutoReload(),
})

const createCredit = () =>
  z.strictObject({
    amount_microdollars: z.int().min(1).max(1e15),
    reference: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'Of the payment: the same one again changes nothing, with another amount it is refused.' }),
    note: z.string().max(1_000).optional(),
  })

const updateAutoReload = () =>
  z.strictObject({
    enabled: z.boolean().optional(),
    threshold_microdollars: z.int().min(0).max(1e15).optional(),
    target_microdollars: z.int().min(1).max(1e15).optional().meta({ description: 'More than the threshold.' }),
  })

const balance = () =>
  z.object({
    balance_microdollars: z.int(),
    balance_cents: z.int().meta({ description: 'Rounded down, as all cents here.' }),
    balance_dollars: z.string().meta({ description: 'With two places, as in "-1.05".' }),
    lifetime_purchased_microdollars: z.int(),
    lifetime_purchased_cents: z.int(),
    lifetime_used_microdollars: z.int(),
    lifetime_used_cents: z.int(),
    auto_reload_enabled: z.boolean(),
    auto_reload_threshold_microdollars: z.int().nullable(),
    auto_reload_threshold_cents: z.int().nullable(),
    auto_reload_target_microdollars: z.int().nullable(),
    auto_reload_target_cents: z.int().nullable(),
    has_payment_method: z.boolean(),
    byok_monthly_request_cap: z.int().nullable().meta({ description: 'null: any number.' }),
    byok_requests_remaining: z.int().nullable().meta({ description: 'In this calendar month of UTC. null: any number.' }),
  })

const move = () =>
  z.object({
    id: z.string(),
    at: z.iso.datetime(),
    kind: z.enum(['credit', 'usage', 'adjustment']),
    amount_microdollars: z.int().meta({ description: 'Above 0 came in, below 0 went out.' }),
    balance_after_microdollars: z.int(),
    request_id: z.string().nullable().meta({ description: 'Of usage.' }),
    reference: z.string().nullable().meta({ description: 'Of what was paid in, or corrected.' }),
  })
