import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate } from '../offer-estimate.ts'
import type { Preference, PreferencePrices } from '../preferences.ts'

/** Limits on recorded decisions, in memory and in the text of a usage row. */
export const decisionLogLimits = {
  /** Decisions in a log. Overridden by `decisionLog.keep`. */
  decisions: 1_000,
  /** Candidates per decision, about 0.4 kB of memory each. */
  candidates: 12,
  /** Excluded offers listed per request in a gateway's log; all are counted. */
  exclusions: 100,
  /** Candidates in a usage row, over all decisions of its request. */
  rowCandidates: 12,
  rowAttempts: 8,
  rowExclusions: 6,
  /** Characters of an exclusion reason. */
  rowReason: 120,
  /** Characters of the text, which usually has 2,000 to 5,000. A longer one is replaced by a summary, and a longer summary is dropped. */
  rowText: 16_000,
} as const

/** Which decisions are recorded. */
export interface DecisionLogOptions {
  /** Maximum number of decisions; the oldest are dropped. At most 5 kB of memory each. @default 1_000 */
  readonly keep?: number
  /** Share of requests to record, sampled with the router's seed. @default 1 */
  readonly share?: number
}

/**
 * Why an offer was chosen. `best`: the lowest score. `exploration`: to learn about an offer that was not used recently. `fallback`: not the
 * first attempt of its request. `last_resort`: all offers are rate limited or failing.
 */
export type ChoiceReason = 'best' | 'exploration' | 'fallback' | 'last_resort'

/** The fields of an estimate, with their names in the API. */
export const estimateNames = {
  cost: 'cost_usd',
  firstContentMs: 'first_content_ms',
  generationMs: 'generation_ms',
  failureProbability: 'failure_rate',
  failedAttemptMs: 'failed_attempt_ms',
  breakProbability: 'break_rate',
  lateProbability: 'late_rate',
  rateLimitedMs: 'rate_limited_ms',
  circuitOpenMs: 'circuit_open_ms',
  headroom: 'headroom',
  cachedTokens: 'cached_tokens',
  unobservedMs: 'unobserved_ms',
  congestionPrice: 'congestion_price_usd',
} as const satisfies Readonly<Record<keyof OfferEstimate, string>>

/** The decisions of a router as plain, JSON-compatible values. */
export interface Trace {
  /** Version of this format. */
  readonly version: 2
  /** Seed of the router's random numbers. */
  readonly seed: number
  /** Number of older decisions that were dropped. */
  readonly dropped: number
  /** In chronological order. */
  readonly decisions: readonly DecisionRecord[]
}

/** One decision: the request, the candidates with their estimates, the choice, and its outcome. */
export interface DecisionRecord {
  /** Time in milliseconds of the router's clock. */
  readonly at: number
  /** Requests are numbered in the order of their plans, starting at 0. */
  readonly requestNumber: number
  /** Attempt number; 0 is the first of the request. */
  readonly attempt: number
  readonly strategy: StrategyName
  /** Prices of time and failures in USD, scaled to the model's price. Absent: a custom strategy decided. */
  readonly prices?: PreferencePrices | undefined
  /** Factor of the prices of `preferences` for models of this price. */
  readonly scale: number
  readonly request: RequestRecord
  /** In the router's order. */
  readonly candidates: readonly CandidateRecord[]
  /** Number of candidates beyond `decisionLogLimits.candidates`, which are the ones with the worst scores. */
  readonly omitted: number
  /** The candidate for an exploration (an index), with its optimistic estimate and score. */
  readonly exploration?: { readonly at: number; readonly estimate: OfferEstimate; readonly score: Score } | undefined
  /** Index of the chosen candidate. */
  readonly chosen: number
  readonly reason: ChoiceReason
  /** Winning score; for an exploration, that of the optimistic estimate. */
  readonly score: Score
  /** Milliseconds to wait before sending. */
  readonly waitMs: number
  /** Absent: no limit. */
  readonly timeoutMs?: number | undefined
  readonly hedgeAfterMs?: number | undefined
  /** Absent: the attempt is still running, or was never made. */
  readonly outcome?: Outcome | undefined
}

/** `prices`: custom weights. `own`: a custom function. */
export type StrategyName = Preference | 'prices' | 'own'

/** A score in USD; lower is better. Null: the strategy returned no finite number, which is worst. */
export type Score = number | null

/** Properties of the request that a decision depends on. */
export interface RequestRecord {
  readonly inputTokens: number
  /** Expected output tokens. */
  readonly outputTokens: number
  readonly stream: boolean
  /** Expected remaining turns of the conversation, including this one. */
  readonly turns: number
  /** Milliseconds until the deadline. Absent: there is none. */
  readonly timeLeftMs?: number | undefined
}

/** A candidate at the time of a decision. */
export interface CandidateRecord {
  readonly offer: RouterOffer
  readonly estimate: OfferEstimate
  readonly score: Score
  /** The caller's rank. Null: the rank is not a finite number and comes last. Absent: the caller gave no ranks. */
  readonly rank?: Score | undefined
  /** Whether its provider had just failed the same request. */
  readonly providerFailed?: true | undefined
}

/** The outcome of an attempt. */
export interface Outcome {
  readonly ended: Ended
  /** Milliseconds from the decision until the call was sent. */
  readonly sentAfterMs: number
  /** Milliseconds from sending to first content. Absent: there was none, or the response was not streamed. */
  readonly firstContentMs?: number | undefined
  /** Milliseconds from sending to the end. */
  readonly totalMs: number
  readonly outputTokens?: number | undefined
  readonly cachedTokens?: number | undefined
}

/** `left`: the client disconnected, or another attempt responded first. `broken`: it failed after first content. The others as in `AttemptFailure`. */
export type Ended = 'ok' | 'error' | 'timeout' | 'rate_limited' | 'credential' | 'refused' | 'left' | 'broken'

/** Makes a number JSON-compatible: 0 for -0, and null for NaN and infinity. The best of all scores stays the best. */
export const finiteScore = (number: number): Score =>
  number === Number.NEGATIVE_INFINITY ? -Number.MAX_VALUE : Number.isFinite(number) ? number + 0 : null
