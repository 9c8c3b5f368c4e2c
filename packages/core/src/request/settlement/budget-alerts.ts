import type { LedgerStore } from '@signalbox/storage'
import { budgetsOf } from '../../access/accounts.ts'
import { budgetAccountAt } from '../../access/budget-facts.ts'
import { callHook } from '../../runtime/call-hook.ts'
import type { Hooks, Logger } from '../../runtime/ports.ts'
import type { BillContext } from './bill.ts'

export interface BudgetAlertPorts {
  readonly ledger: LedgerStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/**
 * Calls `onBudget` for each share of a budget that this settlement has passed. Ledger entries are ordered, so exactly one settlement
 * across all processes passes each share. Undefined if there is no hook or no budget.
 */
export function sendBudgetAlerts(
  { ledger, hooks, logger }: BudgetAlertPorts,
  owing: BillContext,
  amounts: Readonly<Record<string, number>>,
): Promise<void> | undefined {
  const { onBudget } = hooks
  const { facts, policy, at } = owing
  if (!onBudget || policy.budgets.length === 0) return undefined
  const checks = budgetsOf(policy, facts).map(async budget => {
    const { limit, alertAt, enforce } = budget.body
    const account = budgetAccountAt(budget, at)
    // A budget that is not enforced always alerts at 100 %.
    const shares = [...new Set(enforce ? alertAt : [...alertAt, 1])]
    if (shares.length === 0 || amounts[account] === undefined) return
    const [entry] = await ledger.entries(account, { id: facts.requestId, limit: 1 })
    if (!entry) return
    const after = 0 - entry.balanceAfter
    const before = after + entry.amount
    for (const share of shares.filter(each => before < each * limit && after >= each * limit)) {
      const alert = { workspaceId: facts.workspaceId, budgetId: budget.id, share, used: after, limit }
      callHook(logger, 'onBudget', () => onBudget.call(hooks, alert))
    }
  })
  return Promise.all(checks).then(
    () => {},
    (error: unknown) => logger.warn({ requestId: facts.requestId, error: String(error) }, 'The state of a budget could not be determined.'),
  )
}
