import { toUsd } from '../protocol/usd.ts'
import type { BudgetFacts } from './gateway-error.ts'

/**
 * The state of a budget as response headers. The budget is the one that refused the request, or that would be the first to refuse one.
 *
 * @example budgetHeaders(error.facts.budget) // { 'x-budget-limit-usd': '5', … }
 */
export const budgetHeaders = (budget: BudgetFacts | undefined): Record<string, string> =>
  budget === undefined
    ? {}
    : {
        'x-budget-limit-usd': String(toUsd(budget.limit)),
        'x-budget-used-usd': String(toUsd(budget.used)),
        'x-budget-remaining-usd': String(toUsd(budget.remaining)),
        'x-budget-reset': budget.resetsAt === undefined ? 'never' : new Date(budget.resetsAt).toISOString(),
      }
