import type { CacheAffinity } from './cache-affinity.ts'
import { pauseFor, recordAccepted, recordRateLimited } from './capacity.ts'
import { cancelTrial, recordFailure, recordSuccess } from './circuit-breaker.ts'
import { tuning } from './constants.ts'
import { failureProbability, healthyProbability, recordOutcome } from './failure-model.ts'
import { currentLevel, observeLatency, observeTimeout } from './latency.ts'
import type { OfferState, RunningAttempt } from './offer-state.ts'
import { observePrefill, prefillMsPerToken } from './prefill-latency.ts'
import { updateAverage } from './running-average.ts'
import { countSpeed, countWait } from './sync/outcome-counts.ts'
import type { AnswerUsage, AttemptFailure } from './types.ts'

// What each event of a call teaches about its offer. Client errors teach nothing.

/** A rejected credential or an empty account only recovers when its owner acts. */
const credentialMs = 60_000
const { minTokensForSpeed, speedWeight, wholeAnswerSpeedWeight, failureWeight, cacheHitWeight } = tuning.averages

export function learnFirstContent(call: RunningAttempt, now: number): void {
  const { state } = call.tracked
  const milliseconds = now - call.startedAt
  const base = Math.max(milliseconds - prefillMsPerToken(state.prefill) * call.uncachedTokens, 0.2 * milliseconds)
  // A slow response is evidence about the offer's state, not about prefill.
  const usual = Math.exp(currentLevel(state.latency, now)) * 2
  observePrefill(state.prefill, call.uncachedTokens, Math.min(milliseconds, usual + prefillMsPerToken(state.prefill) * call.uncachedTokens))
  observeLatency(state.latency, base, now)
  countWait(state.outcomes, base)
  learnAnswered(call, now)
}

function learnAnswered(call: RunningAttempt, now: number): void {
  const { tracked, startedAt, inputTokens: tokens } = call
  const { state } = tracked
  state.lastAnsweredStart = Math.max(state.lastAnsweredStart, startedAt)
  recordOutcome(state.failures, { bad: false, now, tokens })
  recordSuccess(state.circuit)
  recordAccepted(state.capacity, now, call)
  state.outcomes.answered += 1
  state.observations += 1
  state.observedAt = now
}

export function learnCompletion(call: RunningAttempt, used: AnswerUsage, now: number): void {
  const { state } = call.tracked
  const { outputTokens = 0 } = used
  recordOutcome(state.breaks, { bad: false, now })
  state.outcomes.finished += 1
  if (call.stream) {
    const generationMs = now - (call.firstContentAt ?? now)
    if (outputTokens >= minTokensForSpeed && generationMs > 0) {
      const speed = Math.log((outputTokens * 1_000) / generationMs)
      updateAverage(state.speed, speed, speedWeight)
      countSpeed(state.outcomes, speed)
    }
  } else {
    learnAnswered(call, now)
    learnWholeAnswer(state, call, { outputTokens, now })
  }
  const { cachedTokens } = call
  if (used.cachedTokens !== undefined && cachedTokens > 0) {
    updateAverage(state.cacheHitShare, Math.min(1, used.cachedTokens / cachedTokens), cacheHitWeight)
  }
}

/** A non-streamed response only shows its total time; how much of it was the wait is estimated from streams. */
function learnWholeAnswer(
  state: OfferState,
  call: RunningAttempt,
  { outputTokens, now }: { readonly outputTokens: number; readonly now: number },
): void {
  if (outputTokens < minTokensForSpeed) return
  const wait = Math.exp(currentLevel(state.latency, now)) * state.latency.tail + prefillMsPerToken(state.prefill) * call.uncachedTokens
  const milliseconds = now - call.startedAt
  const generationMs = Math.max(1, milliseconds - wait, 0.25 * milliseconds)
  updateAverage(state.speed, Math.log((outputTokens * 1_000) / generationMs), wholeAnswerSpeedWeight)
}

/** Records that the offer has processed the conversation's prompt, and may have it cached. */
export function recordPromptRead({ cacheKey, tracked, inputTokens }: RunningAttempt, affinity: CacheAffinity, now: number): void {
  if (cacheKey !== undefined) affinity.recordRead(cacheKey, { offerId: tracked.offer.id, tokens: inputTokens, at: now })
}

interface FailureToLearn extends AttemptFailure {
  readonly now: number
  readonly chance: number
}

/** Only faults count against an offer's health. A rate limit pauses it, a rejected credential pauses it for longer, and a rejected request says nothing. */
const learnByKind: Readonly<Record<AttemptFailure['kind'], (call: RunningAttempt, lesson: FailureToLearn) => void>> = {
  error: learnFault,
  timeout: learnFault,
  rate_limited(call, { now, retryAfterMs, chance }) {
    const { state } = call.tracked
    cancelTrial(state.circuit)
    recordRateLimited(state.capacity, now, { retryAfterMs, chance, call })
  },
  credential({ tracked: { state } }, { now, retryAfterMs = credentialMs }) {
    cancelTrial(state.circuit)
    pauseFor(state.capacity, now, retryAfterMs)
  },
  refused: ({ tracked: { state } }) => cancelTrial(state.circuit),
}

export const learnFailure = (call: RunningAttempt, lesson: FailureToLearn): void => learnByKind[lesson.kind](call, lesson)

function learnFault(call: RunningAttempt, { kind, now, chance, retryAfterMs }: FailureToLearn): void {
  const { state } = call.tracked
  state.observations += 1
  state.observedAt = now
  if (call.firstContentAt !== undefined || (kind === 'error' && hasProbablyBroken(call, now))) {
    cancelTrial(state.circuit)
    recordOutcome(state.breaks, { bad: true, now })
    state.outcomes.broken += 1
    return
  }
  recordOutcome(state.failures, { bad: true, now, tokens: call.inputTokens })
  if (kind === 'timeout') learnTimedOutWait(call, now)
  state.outcomes.failed += 1
  updateAverage(state.hangShare, kind === 'timeout' ? 1 : 0, failureWeight)
  // The silence before a non-streamed response says nothing about streams.
  if (call.stream || kind === 'error') updateAverage(state.failedAttemptMs, now - call.startedAt, failureWeight)
  recordFailure(state.circuit, now, { failing: failureProbability(state.failures, now), chance })
  if (retryAfterMs !== undefined) pauseFor(state.capacity, now, retryAfterMs)
}

/** Learns from a stream that was given up while silent: its wait is known only to be longer than the time waited. */
function learnTimedOutWait(call: RunningAttempt, now: number): void {
  const { state } = call.tracked
  if (!call.stream || call.firstContentAt !== undefined || state.latency.observations < minObservations) return
  const milliseconds = now - call.startedAt
  const base = Math.max(milliseconds - prefillMsPerToken(state.prefill) * call.uncachedTokens, 0.2 * milliseconds)
  // Silence of an unhealthy offer is probably not just a slow response.
  const hung = 1 - healthyProbability(state.failures, now, call.inputTokens) * (1 - state.failures.baseline * state.hangShare.value)
  observeTimeout(state.latency, base, { now, hung })
}

/** Whether a non-streamed response failed or broke cannot be observed, so the likelier one is assumed. */
const hasProbablyBroken = ({ stream, tracked: { state }, inputTokens }: RunningAttempt, now: number): boolean =>
  !stream && failureProbability(state.breaks, now) > failureProbability(state.failures, now, inputTokens)

/** Responses that must have been observed before a silence can be called too long. */
const minObservations = 10

/** The call was cancelled because its response is no longer needed. It counts as a timeout only if it was silent for longer than nearly all responses take. */
export function learnAbandonment(call: RunningAttempt, chance: number, now: number): void {
  const { state } = call.tracked
  const { latency } = state
  const base = now - call.startedAt - prefillMsPerToken(state.prefill) * call.uncachedTokens
  const overdue =
    latency.observations >= minObservations &&
    call.stream &&
    call.firstContentAt === undefined &&
    base > 1_000 &&
    Math.log(base) - currentLevel(latency, now) > latency.p997
  if (!overdue) learnTimedOutWait(call, now)
  if (overdue) learnFault(call, { kind: 'timeout', now, chance })
  else cancelTrial(state.circuit)
}
