import type { RouterOffer } from './offer.ts'

/** The estimates of an offer for one request, each a finite number. Input of a strategy. */
export interface OfferEstimate {
  /** Expected cost of the response in USD, including the effect of prompt caches on this and later turns of the conversation. */
  readonly cost: number
  /** Milliseconds to first content, including queueing. */
  readonly firstContentMs: number
  /** Milliseconds from first content to the end. */
  readonly generationMs: number
  /** Probability (0 to 1) of a failure before first content, when another offer can still be tried. */
  readonly failureProbability: number
  /** Milliseconds that such a failure takes. */
  readonly failedAttemptMs: number
  /** Probability (0 to 1) that the response breaks after first content, when no other offer can be tried. */
  readonly breakProbability: number
  /** Probability (0 to 1) that first content comes after the deadline. */
  readonly lateProbability: number
  /** Milliseconds until its rate limit allows a call, beyond what the request may queue for. 0: now. */
  readonly rateLimitedMs: number
  /** Milliseconds until its circuit breaker allows a call. 0: now. */
  readonly circuitOpenMs: number
  /** Remaining share of its rate limit according to its headers, 0 to 1. */
  readonly headroom: number
  /** Prompt tokens that it has probably cached. */
  readonly cachedTokens: number
  /** Milliseconds since its last outcome; a large number if there was none. */
  readonly unobservedMs: number
  /** USD added because its capacity is scarce: a slot taken here is not free for another request. 0: no congestion. */
  readonly congestionPrice: number
}

/**
 * Ranks offers: the lowest score wins, the first one in case of a tie. NaN counts as the worst. Custom strategies may use any unit; scores
 * by preference are in USD.
 */
export type Strategy = (estimate: OfferEstimate, offer: RouterOffer) => number
