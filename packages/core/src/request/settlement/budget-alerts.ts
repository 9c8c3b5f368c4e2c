import type { LedgerStore } from '@signalbox/storage'
import { budgetsOf } from '../../access/accounts.ts'
import { budgetAccountAt } from '../../access/budget-facts.ts'
import type { Hooks, Logger } from '../../runtime/ports.ts'
import { tell } from '../../runtime/tell.ts'
import type { Owing } from './bill.ts'

export interface Alerting {
  readonly ledger: LedgerStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/**
 * Tells of each share of a budget that this settlement has passed. By the entry that it left in the ledger: entries follow each
 * other, so that of all processes exactly one passes a share. Nothing where nobody listens or no budget asks for it.
 */
export function tellBudgets(
  { ledger, hooks, logger }: Alerting,
  owing: Owing,
  amounts: Readonly<Record<string, number>>,
): Promise<void> | undefined {
  const { onBudget } = hooks
  const { call, terms, at } = owing
  if (!onBudget || terms.budgets.length === 0) return undefined
  const asked = budgetsOf(terms, call).map(async budget => {
    const { limit, alertAt, enforce } = budget.body
    const account = budgetAccountAt(budget, at)
    // A budget that is not enforced always alerts at 100 %.
    const shares = [...new Set(enforce ? alertAt : [...alertAt, 1])]
    if (shares.length === 0 || amounts[account] === undefined) return
    const [entry] = await ledger.entries(account, { id: call.requestId, limit: 1 })
    if (!entry) return
    const after = 0 - entry.balanceAfter
    const before = after + entry.amount
    for (const share of shares.filter(each => before < each * limit && after >= each * limit)) {
      const facts = { workspaceId: call.workspaceId, budgetId: budget.id, share, usedUsd: after / 1_000_000, limitUsd: limit / 1_000_000 }
      tell(logger, 'onBudget', () => onBudget.call(hooks, facts))
    }
  })
  return Promise.all(asked).then(
    () => {},
    (error: unknown) => logger.warn({ requestId: call.requestId, error: String(error) }, 'Whether a budget is used up could not be told.'),
  )
}
