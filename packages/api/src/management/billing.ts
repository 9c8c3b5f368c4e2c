import { autoReloadFields, creditFields, fromWire, ledgerEntryFields, toReply } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import { timeOf } from '../query.ts'
import type { WorkspaceRoute } from '../route.ts'
import { accepted, listed, pagesByAnyId } from './answers.ts'
import { balanceReply } from './replies/balance.ts'
import { replyOf } from './replies/reply-table.ts'
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
    summary: 'Get the credit of the workspace.',
    reply: 'Balance',
    handler: async (_, { billing }) => json(replyOf(balanceReply, await billing.balance())),
  },
  {
    ...writing('POST'),
    path: `${billingPath}/credits`,
    client: 'billing.credit',
    needs: ['billing:write'],
    summary: 'Add credit. Each `reference` is credited once.',
    body: 'CreateCredit',
    input: newCredit,
    reply: 'Balance',
    errors: ['duplicate_resource', 'state_precondition_failed'],
    async handler(call, { billing }) {
      return accepted(replyOf(balanceReply, await billing.credit(fromWire(newCredit, call.body))))
    },
  },
  {
    ...reading,
    path: `${billingPath}/ledger`,
    client: 'billing.ledger',
    needs: ['billing:read'],
    summary: 'List the entries of the credit ledger, newest first.',
    query: [
      { name: 'from', description: 'Start time, inclusive.', date: true },
      { name: 'to', description: 'End time, exclusive.', date: true },
      ...pagesByAnyId,
    ],
    reply: 'LedgerEntryList',
    handler(call, { billing }) {
      const [from, to] = [timeOf(call.query.from), timeOf(call.query.to)]
      const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      return listed(call, { list: page => billing.ledger({ ...span, ...page }), toView: move => toReply(ledgerEntryFields, move) })
    },
  },
  {
    ...writing('PATCH'),
    path: `${billingPath}/auto-reload`,
    client: 'billing.autoReload.update',
    needs: ['billing:write'],
    summary: 'Set up automatic reload: credit is topped up to a target when it falls below a threshold.',
    body: 'UpdateAutoReload',
    input: autoReloadChange,
    reply: 'Balance',
    async handler(call, { billing }) {
      return accepted(replyOf(balanceReply, await billing.autoReload.update(fromWire(autoReloadChange, call.body))))
    },
  },
]
