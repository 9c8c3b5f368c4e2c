import type { Effort } from '../protocol/request.ts'

// Levels of effort as numbers of tokens, for models that take a number.

/** How much of the longest answer is given to thoughts. Source: the AI SDK's catalog of models, as of 2026-11. */
export const thinkingShares: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

export interface Budgeting {
  readonly effort: Effort
  /** By the caller, who then counts it into the cap. */
  readonly named: number | undefined
  /** On everything that the model writes, where the caller named one: it is what they pay for, so it is never raised. */
  readonly cap: number | undefined
  /** For the answer alone, where nobody named a cap. */
  readonly room: number
  /** The longest that the model writes, thoughts included. */
  readonly longest: number
  readonly range: { readonly min: number; readonly max: number }
}

/** What a model may think, and write in all; nothing where the cap leaves no room for both a thought and an answer. */
export function thinkingBudget({
  effort,
  named,
  cap,
  room,
  longest,
  range: { min, max },
}: Budgeting): { readonly budget: number; readonly most: number } | undefined {
  const whole = Math.min(longest, max)
  const wanted = Math.max(min, Math.min(max, named ?? Math.floor(thinkingShares[effort] * whole)))
  const most = cap ?? (named === undefined ? Math.min(room + wanted, longest) : room)
  const least = Math.max(min, Math.floor(thinkingShares[effort] * most))
  const budget = cap !== undefined && named === undefined ? Math.min(wanted, least, Math.floor(0.95 * cap)) : Math.min(wanted, most - 1)
  return budget < min ? undefined : { budget, most }
}
