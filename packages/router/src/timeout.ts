import { tuning } from './constants.ts'
import { type EstimateInput, knownAfterAnswers } from './estimate.ts'
import { failureProbability } from './failure-model.ts'
import { currentLevel, tailStart } from './latency.ts'
import type { OfferEstimate } from './offer-estimate.ts'
import type { OfferState } from './offer-state.ts'
import { prefillMsPerToken } from './prefill-latency.ts'

const {
  tailKnownAfter,
  minStreamMs,
  minUnreliableMs,
  minWholeAnswerMs,
  tailFactor,
  wholeAnswerFactor,
  unknownWholeAnswerFactor,
  wholeAnswerShare,
  hangToSlowOdds,
  minHangShare,
  maxGiveUpShare,
} = tuning.timeouts

// When to abandon an attempt: after longer than nearly all answers of its offer take, while another offer is left to try.

/** The largest share of slow responses that may be abandoned because the offer leaves many calls unanswered. */
function giveUpShare({ failures, hangShare }: OfferState, now: number, tokens: number): number {
  const never = Math.max(0, failureProbability(failures, now, tokens) - failures.baseline) * hangShare.value
  return Math.min(maxGiveUpShare, never / (1 - never) / hangToSlowOdds)
}

interface TimedOffer {
  readonly state: OfferState
  readonly estimate: OfferEstimate
}

interface TimeoutBounds {
  readonly input: EstimateInput
  /** The limit set by the client or the gateway. */
  readonly maxMs: number
  /** For an offer that is hardly known. */
  readonly newOfferMs: number
  /** An attempt of this request has already timed out. */
  readonly timedOut: boolean
  /** No learned timeout is shorter. */
  readonly minMs: number
  /** An offer that has failed this request before: still better than one that leaves calls unanswered. */
  readonly retryable: OfferState | undefined
}

/** Milliseconds after which the attempt is given up. `next`: the next candidate that has not failed this request, if any. */
export function attemptTimeout(
  { state, estimate, exploring }: TimedOffer & { readonly exploring: boolean },
  next: OfferState | undefined,
  { input, maxMs, newOfferMs, timedOut, minMs, retryable }: TimeoutBounds,
): number {
  const { timeLeftMs, stream, now, inputTokens } = input
  const most = Math.max(1, Math.min(maxMs, timeLeftMs))
  const { latency, prefill, speed } = state
  const doubted = giveUpShare(state, now, inputTokens)
  const later = next ?? (doubted > minHangShare ? retryable : undefined)
  // No other offer: all the time that is left.
  if (!later) return most
  const slowest = doubted > minHangShare ? Math.exp(tailStart(latency, doubted)) : tailFactor * Math.exp(latency.p997)
  const longest = Math.exp(currentLevel(latency, now)) * slowest + prefillMsPerToken(prefill) * inputTokens
  if (stream) {
    const spare =
      timeLeftMs - Math.exp(currentLevel(later.latency, now) + later.latency.p95) - prefillMsPerToken(later.prefill) * inputTokens
    const least = Math.max(Math.min(minMs, spare), exploring || doubted > minHangShare ? minUnreliableMs : minStreamMs)
    const usual = latency.observations >= (exploring ? knownAfterAnswers : tailKnownAfter) ? Math.max(least, longest) : newOfferMs
    return Math.min(most, Math.max(least, Math.min(usual, spare)))
  }
  // A non-streamed response may simply be long, and the next offer would need as long.
  if (timedOut) return most
  const isKnown = latency.observations >= tailKnownAfter || speed.observations >= tailKnownAfter
  const usual = isKnown
    ? Math.max(minWholeAnswerMs, minMs, longest + (doubted > minHangShare ? -Math.log(doubted) : wholeAnswerFactor) * estimate.generationMs)
    : unknownWholeAnswerFactor * newOfferMs
  return Math.min(most, Math.max(minWholeAnswerMs, Math.min(usual, wholeAnswerShare * timeLeftMs)))
}
