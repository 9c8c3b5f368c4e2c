import type { Effort } from '../protocol/request.ts'

// Converts effort levels to token budgets, for models that take a number.

// A limit on the output includes thinking, as the Responses API defines it, and the hold covers exactly that. To raise it by the budget would
// cost more than the caller allowed.

/** Share of the longest response that is spent on thinking. Source: the AI SDK's model catalog, 2026-11. */
export const thinkingShares: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

export interface BudgetInput {
  readonly effort: Effort
  /** The client's thinking budget, which counts against the limit. */
  readonly named: number | undefined
  /** The client's limit on all output, if any. Never raised, because the client pays for the output. */
  readonly cap: number | undefined
  /** Tokens for the response alone, if the client sets no limit. */
  readonly room: number
  /** The model's limit on all output, including thinking. */
  readonly longest: number
  readonly range: { readonly min: number; readonly max: number }
}

/** Computes the thinking budget and the limit on all output; undefined if the limit has no room for both thinking and response. */
export function thinkingBudget({
  effort,
  named,
  cap,
  room,
  longest,
  range: { min, max },
}: BudgetInput): { readonly budget: number; readonly most: number } | undefined {
  const whole = Math.min(longest, max)
  const wanted = Math.max(min, Math.min(max, named ?? Math.floor(thinkingShares[effort] * whole)))
  const most = cap ?? (named === undefined ? Math.min(room + wanted, longest) : room)
  const least = Math.max(min, Math.floor(thinkingShares[effort] * most))
  const budget = cap !== undefined && named === undefined ? Math.min(wanted, least, Math.floor(0.95 * cap)) : Math.min(wanted, most - 1)
  return budget < min ? undefined : { budget, most }
}

/** The output limit that a budget is compared with if the request sets none. */
const assumedCap = 32_000

/** Excludes `none`, because a budget always means thinking. */
const budgetEfforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[]

/** The effort whose share of `cap` output tokens is closest to a token budget; the lower one in case of a tie. */
export function effortForBudget(budget: number, cap = assumedCap): Effort {
  const distance = (effort: Effort): number => Math.abs(budget / cap - thinkingShares[effort])
  return budgetEfforts.reduce<Effort>((best, next) => (distance(next) < distance(best) ? next : best), 'minimal')
}
