import { type Capacity, makeCapacity } from './capacity.ts'
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts'
import { tuning } from './constants.ts'
import type { PriceVector } from './cost.ts'
import { afterContent, beforeContent, type FailureModel, makeFailureModel } from './failure-model.ts'
import { type Latency, makeLatency } from './latency.ts'
import type { RouterOffer } from './offer.ts'
import { makePrefillLatency, type PrefillLatency } from './prefill-latency.ts'
import { makeRunningAverage, type RunningAverage } from './running-average.ts'
import { makeOutcomeCounts, type OutcomeCounts } from './sync/outcome-counts.ts'
import type { RouterAttempt } from './types.ts'

/** What the router has learned about an offer from the outcomes of its calls. */
export interface OfferState {
  /** Failures before first content, when another offer can still be tried. */
  readonly failures: FailureModel
  /** Breaks after first content. */
  readonly breaks: FailureModel
  readonly latency: Latency
  readonly prefill: PrefillLatency
  /** Natural log of tokens per second. */
  readonly speed: RunningAverage
  /** Milliseconds that a failure before first content takes. */
  readonly failedAttemptMs: RunningAverage
  /** Share of failures before first content that were timeouts. */
  readonly hangShare: RunningAverage
  readonly capacity: Capacity
  readonly circuit: CircuitBreaker
  /** Share of the expected cached tokens that were actually cached. */
  readonly cacheHitShare: RunningAverage
  /** Running streams without first content, the oldest first. */
  readonly silentAttempts: Set<RunningAttempt>
  /** Outcomes observed in this process, to be published to others. */
  readonly outcomes: OutcomeCounts
  /** When the latest answered call was sent. */
  lastAnsweredStart: number
  /** Calls that are running. */
  runningAttempts: number
  /** Calls that ended in a response or a fault. */
  observations: number
  /** When the last of them ended, or when the state was created. */
  observedAt: number
  /** No exploration before this time. */
  exploreAt: number
  /** Expected gain forgone since the offer was last called, and the number of requests not yet included in it. */
  forgoneGain: number
  passedOver: number
}

/** An offer with its learned state. */
export interface TrackedOffer {
  readonly offer: RouterOffer
  /** Its prices as a vector. */
  readonly prices: PriceVector
  readonly state: OfferState
}

/** A running call plus what is needed to learn from it. */
export interface RunningAttempt extends RouterAttempt {
  readonly tracked: TrackedOffer
  readonly stream: boolean
  readonly startedAt: number
  /** Prompt tokens that were not expected to be cached. */
  readonly uncachedTokens: number
  readonly cachedTokens: number
  readonly inputTokens: number
  readonly cacheKey: string | undefined
  /** Whether it was sent although the offer was expected to be full. */
  readonly beyondLimit: boolean
  firstContentAt: number | undefined
  ended: boolean
}

const { priorTokensPerSecond, priorFailureMs, priorHangShare, priorHangFailures, priorCacheHitShare, priorCacheReads } = tuning.averages

/** Priors for an offer without observations and without peers: natural logs of milliseconds and of tokens per second. */
export const priorLevel = Math.log(tuning.latency.priorMs)
/** Prior duration of a failed attempt, in milliseconds. */
export const priorFailedAttemptMs = priorFailureMs
export const priorLogSpeed = Math.log(priorTokensPerSecond)

export const makeOfferState = (at: number): OfferState => ({
  failures: makeFailureModel(at, beforeContent),
  breaks: makeFailureModel(at, afterContent),
  latency: makeLatency(at, priorLevel),
  prefill: makePrefillLatency(),
  speed: makeRunningAverage(priorLogSpeed),
  failedAttemptMs: makeRunningAverage(priorFailedAttemptMs),
  hangShare: makeRunningAverage(priorHangShare, priorHangFailures),
  capacity: makeCapacity(at),
  circuit: makeCircuitBreaker(),
  // A single miss must not reset it: an offer believed to cache nothing gets no conversations and could never prove otherwise.
  cacheHitShare: makeRunningAverage(priorCacheHitShare, priorCacheReads),
  silentAttempts: new Set(),
  outcomes: makeOutcomeCounts(),
  lastAnsweredStart: Number.NEGATIVE_INFINITY,
  runningAttempts: 0,
  observations: 0,
  observedAt: at,
  exploreAt: 0,
  forgoneGain: 0,
  passedOver: 0,
})
