import type { Balance } from '@signalbox/storage'
import type { BudgetFacts } from '../errors/gateway-error.ts'
import { budgetAccount, periodOf } from './accounts.ts'
import type { Kept } from './records.ts'

/** Where a budget stands, of which `balance` is the account of the period that `at` lies in. */
export function budgetFactsOf({ body }: Kept<'budget'>, balance: Balance, at: number): BudgetFacts {
  const used = balance.spent - balance.credited
  const { end } = periodOf(body.period, at)
  return { limit: body.limit, used, remaining: Math.max(0, body.limit - used), ...(end !== undefined && { resetsAt: end }) }
}

/** The account that a budget counts in at a moment. */
export const budgetAccountAt = ({ id, body }: Kept<'budget'>, at: number): string => budgetAccount(id, periodOf(body.period, at))

/** Of those that are enforced, the one with the least left. */
export function tightestOf(budgets: readonly { readonly budget: Kept<'budget'>; readonly facts: BudgetFacts }[]): BudgetFacts | undefined {
  let tightest: BudgetFacts | undefined
  for (const { budget, facts } of budgets)
    if (budget.body.enforce && (tightest === undefined || facts.remaining < tightest.remaining)) tightest = facts
  return tightest
}
