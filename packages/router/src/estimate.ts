import type { CachedPrompt } from './cache-affinity.ts'
import { currentCongestionPrice, currentHeadroom, timeUntilFree } from './capacity.ts'
import { openMs } from './circuit-breaker.ts'
import { tuning } from './constants.ts'
import { expectedCost, type TokenUse, typicalCost } from './cost.ts'
import { afterContent, beforeContent, failureProbability, failureProbabilityGiven } from './failure-model.ts'
import { currentLevel, currentVariance, tailOdds, tailShare } from './latency.ts'
import type { OfferEstimate } from './offer-estimate.ts'
import { type OfferState, priorFailedAttemptMs, priorLevel, priorLogSpeed, type TrackedOffer } from './offer-state.ts'
import { prefillMsPerToken } from './prefill-latency.ts'

const {
  maxUnobservedSpeedup,
  newcomerSpeedup,
  coldQueueShare,
  wholeHangFactor,
  optimismDeviations,
  maxSilentCalls,
  priorChangeOdds,
  remainingSilence,
} = tuning.estimate

/** Request properties that affect every offer's estimate. */
export interface EstimateInput extends TokenUse {
  readonly now: number
  readonly stream: boolean
  /** Milliseconds that the request has left; may be infinite. */
  readonly timeLeftMs: number
  /** Longest time to queue for a rate-limited offer, in milliseconds. */
  readonly maxQueueMs: number
  /** The best known latency and speed: assumed for an offer without observations. */
  readonly best: BestKnown
}

export interface BestKnown {
  /** Natural log of milliseconds to first content. */
  readonly level: number
  /** Natural log of tokens per second. */
  readonly speed: number
}

export const { knownAfterAnswers, newcomerTries, unobservedMs } = tuning.estimate

/** A longer queue counts as this long, in milliseconds. */
const maxCountedQueueMs = 30_000

/** Estimates an offer for a request from its learned state, as of now. */
export function estimateOffer({ prices, state }: TrackedOffer, input: EstimateInput): OfferEstimate {
  const { now, stream, best, inputTokens, outputTokens, cachedTokens } = input
  const { latency } = state
  const isKnown = latency.observations >= knownAfterAnswers
  const silence = evidenceOfSilence(state, now)
  const level =
    silence.level ??
    (isKnown
      ? currentLevel(latency, now) - optimismDeviations * Math.sqrt(currentVariance(latency, now))
      : Math.min(best.level, priorLevel))
  const uncachedTokens = inputTokens - Math.min(cachedTokens, inputTokens) * state.cacheHitShare.value
  const firstContentMs = Math.exp(level) * latency.tail + prefillMsPerToken(state.prefill) * uncachedTokens
  const speed = state.speed.observations >= knownAfterAnswers ? state.speed.value : Math.max(best.speed, state.speed.value)
  const generationMs = (outputTokens / Math.exp(speed)) * 1_000
  const heldMs = timeUntilFree(state.capacity, now)
  const leftMs = input.timeLeftMs - Math.min(heldMs, maxCountedQueueMs) - (stream ? 0 : generationMs)
  const queueMs = heldMs <= (cachedTokens > 0 ? input.maxQueueMs : input.maxQueueMs * coldQueueShare) ? heldMs : 0
  const { failures } = silence
  const failure =
    failures === 0
      ? failureProbability(state.failures, now, inputTokens)
      : failureProbabilityGiven(state.failures, { now, tokens: inputTokens, given: failures })
  const breaking = failureProbability(state.breaks, now)
  return {
    cost: expectedCost(prices, input, state.cacheHitShare),
    // Queueing time counts like any other wait.
    firstContentMs: Math.min(heldMs, maxCountedQueueMs) + firstContentMs,
    generationMs,
    // A non-streamed response that breaks was not shown yet, so another offer can still be tried.
    failureProbability: stream ? failure : 1 - (1 - failure) * (1 - breaking),
    failedAttemptMs: stream
      ? state.failedAttemptMs.value
      : state.failedAttemptMs.value + state.hangShare.value * wholeHangFactor * generationMs,
    breakProbability: stream ? breaking : 0,
    lateProbability: leftMs > ampleTimeFactor * firstContentMs ? 0 : lateProbabilityOf(state, { leftMs, level, firstContentMs }),
    rateLimitedMs: heldMs - queueMs,
    circuitOpenMs: openMs(state.circuit, now),
    headroom: currentHeadroom(state.capacity, now),
    cachedTokens,
    unobservedMs: Math.min(now - state.observedAt, 1e9),
    congestionPrice: currentCongestionPrice(state.capacity, now) * typicalCost(prices[0] as number, prices[1] as number),
  }
}

/**
 * Estimates an offer as if its faults were over: usual failure rates, and as fast as in the long run, or as the best if it was not
 * observed for long.
 */
export function optimisticEstimate({ prices, state }: TrackedOffer, input: EstimateInput): OfferEstimate {
  const { now, best, inputTokens, outputTokens } = input
  const { latency } = state
  input.cachedTokens = 0
  // Unobserved for minutes, it may have become as good as the best. Observed only a few times, it may have been unlucky.
  const isUnobserved = now - state.observedAt > unobservedMs || state.observations === 0
  const currently = currentLevel(latency, now)
  const level = isUnobserved
    ? Math.min(latency.longRun, best.level) - maxUnobservedSpeedup
    : Math.min(latency.longRun, currently) - (latency.observations < newcomerTries ? newcomerSpeedup : 0)
  const speed = isUnobserved ? Math.max(best.speed, state.speed.value) : state.speed.value
  return {
    cost: expectedCost(prices, input, state.cacheHitShare),
    firstContentMs: Math.exp(level) * latency.tail + prefillMsPerToken(state.prefill) * inputTokens,
    generationMs: (outputTokens / Math.exp(speed)) * 1_000,
    failureProbability: Math.min(state.failures.baseline, beforeContent.baseline),
    failedAttemptMs: Math.min(state.failedAttemptMs.value, priorFailedAttemptMs),
    breakProbability: input.stream ? Math.min(state.breaks.baseline, afterContent.baseline) : 0,
    lateProbability: 0,
    rateLimitedMs: timeUntilFree(state.capacity, now),
    circuitOpenMs: openMs(state.circuit, now),
    headroom: currentHeadroom(state.capacity, now),
    cachedTokens: 0,
    unobservedMs: Math.min(now - state.observedAt, 1e9),
    congestionPrice: currentCongestionPrice(state.capacity, now) * typicalCost(prices[0] as number, prices[1] as number),
  }
}

interface SilenceEvidence {
  /** The level that the silent calls suggest; undefined if they suggest none. */
  readonly level: number | undefined
  /** Failures that the silent calls count as. */
  readonly failures: number
}

/**
 * Derives evidence from calls that are still silent. One call that is silent for longer than most answers take is no evidence; several are,
 * or one that is silent for longer than any answer took. Weighted by how often that happens by chance, they raise the level, and calls
 * silent for longer than nearly all answers count as failures.
 */
function evidenceOfSilence({ silentAttempts, latency, prefill, lastAnsweredStart }: OfferState, now: number): SilenceEvidence {
  if (silentAttempts.size === 0) return noSilence
  const level = currentLevel(latency, now)
  let odds = priorChangeOdds
  let longest = level
  let overdue = 0
  let at = 0
  for (const call of silentAttempts) {
    const age = now - call.startedAt - prefillMsPerToken(prefill) * call.uncachedTokens
    const off = Math.log(Math.max(1, age)) - level
    if (off < latency.p92) break
    if (off > latency.p996) overdue += 1
    at += 1
    if (at >= maxSilentCalls) break
    // Once a later call was answered, an earlier silent call is no evidence about the level: it is slow by itself, or lost.
    if (call.startedAt < lastAnsweredStart) continue
    odds *= tailOdds(latency, off)
    longest = Math.max(longest, level + off + remainingSilence)
  }
  if (at === 0) return noSilence
  const sure = odds / (1 + odds)
  return { level: level + sure * (longest - level), failures: overdue }
}

const noSilence: SilenceEvidence = { level: undefined, failures: 0 }

/** This many times the expected wait is longer than all but a few answers take. */
const ampleTimeFactor = 6

function lateProbabilityOf(
  { latency, prefill }: OfferState,
  { leftMs, level, firstContentMs }: { readonly leftMs: number; readonly level: number; readonly firstContentMs: number },
): number {
  if (leftMs <= 0) return 1
  const reads = firstContentMs - Math.exp(level) * latency.tail
  return tailShare(latency, Math.log(Math.max(1, leftMs - (prefillMsPerToken(prefill) > 0 ? reads : 0))) - level)
}

/** The best known latency and speed among these offers. */
export function bestKnown(among: readonly TrackedOffer[], now: number): BestKnown {
  let level = Number.POSITIVE_INFINITY
  let speed = Number.NEGATIVE_INFINITY
  for (const { state } of among) {
    if (state.latency.observations >= knownAfterAnswers) level = Math.min(level, currentLevel(state.latency, now))
    if (state.speed.observations >= knownAfterAnswers) speed = Math.max(speed, state.speed.value)
  }
  return { level: Number.isFinite(level) ? level : priorLevel, speed: Number.isFinite(speed) ? speed : priorLogSpeed }
}

/** How long a provider keeps a prompt cached, in milliseconds, if the offer does not say. */
const defaultCacheMs = 300_000

/** Tokens of the conversation that the offer has probably cached. */
export function cachedTokensAt(readers: readonly CachedPrompt[], { offer }: TrackedOffer, now: number): number {
  for (const { offerId, tokens, at } of readers) if (offerId === offer.id) return now - at < (offer.cacheMs ?? defaultCacheMs) ? tokens : 0
  return 0
}
