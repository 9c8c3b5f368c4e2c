import type { BudgetFacts } from '@signalbox/dialects/errors'
import type { BudgetBody } from '../resources/budget.ts'
import type { CallerBudget } from '../runtime/ports.ts'
import { budgetAccount, periodOf } from './accounts.ts'
import type { Caller } from './caller.ts'

/**
 * The state of a budget, as clients see it. `used` is the microdollars spent in its period, including amounts on hold where they count.
 *
 * @example budgetFacts(budget.body, { used: 2_500_000, at: clock.now() }) // { limit: 10_000_000, used: 2_500_000, remaining: 7_500_000, resetsAt: … }
 */
export function budgetFacts(
  { limit, period }: Pick<BudgetBody, 'limit' | 'period'>,
  { used, at }: { readonly used: number; readonly at: number },
): BudgetFacts {
  const { end } = periodOf(period, at)
  return { limit, used, remaining: Math.max(0, limit - used), resetsAt: end }
}

/** Whether a caller may see the state of a budget: a key may see every budget that applies to it, an end user only its own. */
export const maySee = ({ isEndUser, budgets }: Pick<Caller, 'isEndUser' | 'budgets'>, budget: CallerBudget): boolean =>
  !isEndUser || (!budget.isGroup && budgets?.includes(budget) === true)

/** The ledger account of a budget at a time (Unix milliseconds). */
export const budgetAccountAt = ({ id, body }: CallerBudget, at: number): string => budgetAccount(id, periodOf(body.period, at))

/** The budget with the least remaining. */
export const tightestOf = (budgets: readonly BudgetFacts[]): BudgetFacts | undefined =>
  budgets.reduce<BudgetFacts | undefined>((least, facts) => (least && least.remaining <= facts.remaining ? least : facts), undefined)
