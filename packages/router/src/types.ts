import type { ChoiceReason, DecisionLogOptions, Trace } from './decision-log/records.ts'
import type { RouterOffer } from './offer.ts'
import type { OfferEstimate, Strategy } from './offer-estimate.ts'
import type { Preference, PreferencePrices } from './preferences.ts'

// The public types of the router. It makes no calls, so anything can drive it: the gateway, a simulator, a test.

/** Properties of one request that affect the choice. */
export interface RouterRequest {
  readonly inputTokens: number
  /** Output tokens, if known. Default: the average so far. */
  readonly outputTokens?: number
  /** The output limit set by the client. */
  readonly maxOutputTokens?: number
  /** Default: true. */
  readonly stream?: boolean
  /** Identifies the conversation: an offer that has read its beginning may still have it cached. */
  readonly cacheKey?: string
  /** Default: that of the router. */
  readonly preference?: Preference | PreferencePrices | Strategy
  /** Ids of the offers that can serve this request. Default: all. */
  readonly offers?: readonly string[]
  /** Milliseconds for the whole request, including all attempts. Default: no limit. */
  readonly deadlineMs?: number
  /**
   * Maximum milliseconds to first content of one attempt; for a non-streamed response, to its end. Default: 120,000, or 300,000 for a
   * non-streamed response.
   */
  readonly timeoutMs?: number
  /** Maximum attempts of the request. Default: 4. */
  readonly maxAttempts?: number
  /** Allows a second call while the first is silent. Default: false. */
  readonly hedge?: boolean
  /** Lower bound of learned timeouts in milliseconds, for models that reason before they answer. Default: 0. */
  readonly minTimeoutMs?: number
  /** Milliseconds to first content allowed to an offer with few observations. Default: 10,000. */
  readonly newOfferTimeoutMs?: number
  /** Custom order: the lowest rank goes first, and the score decides among equals. Disables exploration. */
  readonly rank?: (offer: RouterOffer) => number
  /** Preview only: does not explore, does not count conversation turns, records nothing. Default: false. */
  readonly dryRun?: boolean
}

/** The choices of one request. */
export interface RouterPlan {
  /** All candidates, best first, as of the creation of the plan. Never empty. */
  choices(): readonly [RouterChoice, ...RouterChoice[]]
  /** The next candidate to try, re-evaluated with what was learned since and the remaining time. Undefined if no candidate, attempt or time is left. */
  next(): RouterChoice | undefined
  /** The decisions of this request so far, with their outcomes. Absent if the request is not recorded. */
  trace?(): Trace
}

/** A candidate offer with the estimates that ranked it. */
export interface RouterChoice {
  readonly offer: RouterOffer
  /** Expected cost of the choice in USD, or the value returned by a custom strategy. */
  readonly score: number
  /** The estimates that decided the choice. */
  readonly estimate: OfferEstimate
  readonly reason: ChoiceReason
  /** Milliseconds to wait before sending, because every offer is rate limited. Usually 0. */
  readonly waitMs: number
  /** Milliseconds that the request may wait for a rate-limited offer after that, by its preference and deadline. */
  readonly maxFurtherWaitMs: number
  /** Milliseconds without first content after which the attempt should be given up; for a non-streamed response, without its end. */
  readonly timeoutMs: number
  /** Milliseconds without first content after which a second call is worth its cost. Absent: never. */
  readonly hedgeAfterMs?: number
}

/** A running call. */
export interface RouterAttempt {
  readonly choice: RouterChoice
}

/** Token usage of a finished response. Missing fields teach nothing. */
export interface AnswerUsage {
  readonly outputTokens?: number
  /** Input tokens that came from the provider's cache. */
  readonly cachedTokens?: number
}

/**
 * How an attempt failed. `error`: the provider failed, or the response broke. `timeout`: it was given up. `rate_limited`: 429.
 * `credential`: 401, 402, 403. `refused`: the request itself is invalid, which says nothing about the offer.
 */
export interface AttemptFailure {
  readonly kind: 'error' | 'timeout' | 'rate_limited' | 'credential' | 'refused'
  /** From the Retry-After header, in milliseconds. */
  readonly retryAfterMs?: number
  /** Whether a retry with the same offer would fail too. Default: depends on `kind`. */
  readonly permanent?: boolean
  /** Whether the timeout was set by the client. It then counts against the offer only if the silence was longer than nearly all its responses take. */
  readonly callerTimeout?: boolean
}

/** A router with a fixed set of offers, created by `createRouter`. Report the end of every attempt exactly once; later reports are ignored. */
export interface Router {
  plan(request: RouterRequest): RouterPlan
  /** Call it when the request is sent. */
  startAttempt(choice: RouterChoice): RouterAttempt
  /** Call it at the first content of a stream. */
  recordFirstContent(attempt: RouterAttempt): void
  /** Call it when the response is complete. */
  finishAttempt(attempt: RouterAttempt, used?: AnswerUsage): void
  /** Call it when the attempt failed, before or after first content. */
  failAttempt(attempt: RouterAttempt, failed: AttemptFailure): void
  /** Call it when the response is no longer needed: the client disconnected, or another attempt responded first. */
  abandonAttempt(attempt: RouterAttempt): void
  /** Call it with the rate limit headers of a response: the remaining share, and the milliseconds until the limit is fully available again. */
  updateHeadroom(offerId: string, seen: { readonly share: number; readonly resetsInMs: number }): void
}

/** Access to recorded decisions. */
export interface Recorded {
  /** The latest decisions. Empty unless `decisionLog` is set. */
  trace(): Trace
}

/** Options of `createRouter`. */
export interface RouterOptions {
  readonly offers: readonly RouterOffer[]
  /** Default: `balanced`. */
  readonly preference?: Preference | PreferencePrices | Strategy
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly clock?: { monotonic(): number } | { now(): number }
  /** The same seed, calls and times give the same choices. Default: 1. */
  readonly seed?: number
  /** Which decisions are recorded for `trace()` of the router and of plans. Default: none. */
  readonly decisionLog?: DecisionLogOptions
}
