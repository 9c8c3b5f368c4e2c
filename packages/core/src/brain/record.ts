import type { RouterOffer, Why } from './port.ts'
import type { Preference, Worth } from './preferences.ts'
import type { Sight } from './sight.ts'

// What is written down of each decision, as plain values.

/** What a router decided lately. `JSON.stringify` keeps all of it, `encodeTrace` keeps it smaller. */
export interface Trace {
  readonly version: 1
  /** Of the router's dice. */
  readonly seed: number
  /** Older decisions that had to make room. */
  readonly dropped: number
  /** In the order in which they were made. */
  readonly decisions: readonly DecisionRecord[]
}

/** One choice, whom it was made among, by what numbers, and what came of it. */
export interface DecisionRecord {
  /** Milliseconds of the router's clock. */
  readonly at: number
  /** Requests are numbered as they are planned, from 0 on. */
  readonly request: number
  /** 0: the first choice of its request. */
  readonly turn: number
  /** `worth`: weights of the caller's own. `own`: a function of the caller's own. */
  readonly strategy: StrategyName
  /** The weights as they were scaled to the price of the model, in USD. Absent: a function decided. */
  readonly worth?: Worth
  /** What the weights of `preferences` are multiplied by for models of this price. */
  readonly scale: number
  readonly asked: Asked
  /** In the order in which the router had them. */
  readonly candidates: readonly Seen[]
  /** Candidates that found no room here: the worse ones by loss. */
  readonly omitted: number
  /** Who was held against the best to learn of it, by its place among the candidates, and what it could be. */
  readonly hope?: { readonly at: number; readonly sight: Sight; readonly loss: Loss }
  /** Its place among the candidates. */
  readonly chosen: number
  readonly why: Why
  /** By which it won: that of its hope, where it was tried to learn of it. */
  readonly loss: Loss
  readonly waitMs: number
  /** Absent: it had all the time. */
  readonly timeoutMs?: number
  readonly hedgeAfterMs?: number
  /** Absent: it is still under way, or nobody asked. */
  readonly outcome?: Outcome
}

export type StrategyName = Preference | 'worth' | 'own'

/** Null: a strategy said no number, or one without end. Nothing is worse. */
export type Loss = number | null

/** The request, in numbers. */
export interface Asked {
  readonly inputTokens: number
  /** Tokens that the answer was expected to have. */
  readonly outputTokens: number
  readonly stream: boolean
  /** Turns that its conversation was expected to have still, this one included. */
  readonly turns: number
  /** Milliseconds until its deadline. Absent: it had none. */
  readonly leftMs?: number
}

/** A candidate, as it looked. */
export interface Seen {
  readonly offer: RouterOffer
  readonly sight: Sight
  readonly loss: Loss
  /** Its place in the order of the caller's own, where there was one. Null: it was no number, and nothing is later. */
  readonly rank?: number | null
  /** Its provider had just failed the same request. */
  readonly shunned?: true
}

/** What came of an attempt. Milliseconds count from when the call went out. */
export interface Outcome {
  readonly ended: Ended
  /** From the decision until the call went out. */
  readonly sentAfterMs: number
  /** Absent: none came, or the answer came whole. */
  readonly firstContentMs?: number
  readonly totalMs: number
  readonly outputTokens?: number
  readonly cachedTokens?: number
}

/** `left`: nobody waited for it any more. `broken`: it broke off after first content. The others as in `Failed`. */
export type Ended = 'ok' | 'error' | 'timeout' | 'rate_limited' | 'credential' | 'refused' | 'left' | 'broken'

/** JSON has one nought. */
export const plain = (number: number): number => number + 0

/** JSON has no infinity. What is best of all stays so as the least number that there is. */
export const lossAs = (number: number): Loss =>
  number === Number.NEGATIVE_INFINITY ? -Number.MAX_VALUE : Number.isFinite(number) ? plain(number) : null
