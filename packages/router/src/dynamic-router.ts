import { LRUCache } from 'lru-cache'
import { makeCacheAffinity } from './cache-affinity.ts'
import { applyHeadroom, takeSlot, timeUntilFree } from './capacity.ts'
import type { RouterState, TrackedChoice } from './choose-offer.ts'
import { startTrial } from './circuit-breaker.ts'
import { tuning } from './constants.ts'
import { priceVector } from './cost.ts'
import { createDecisionLog, recordOutcome, recordRepeat, traceOf } from './decision-log/decision-log.ts'
import type { DecisionLogOptions } from './decision-log/records.ts'
import { makeAttemptBudget, recordExploration, resetForgoneGain } from './exploration.ts'
import { learnAbandonment, learnCompletion, learnFailure, learnFirstContent, recordPromptRead } from './learn-from-calls.ts'
import { monotonicClock } from './monotonic-clock.ts'
import type { RouterOffer } from './offer.ts'
import type { Strategy } from './offer-estimate.ts'
import { makeOfferState, type RunningAttempt, type TrackedOffer } from './offer-state.ts'
import { createPlan } from './plan.ts'
import type { Preference, PreferencePrices } from './preferences.ts'
import { createRandom, resolveSeed, type Seed } from './random.ts'
import { makeRunningAverage, type RunningAverage, updateAverage } from './running-average.ts'
import type { StateSync } from './sync/state-sync.ts'
import type { AnswerUsage, AttemptFailure, Recorded, Router, RouterPlan, RouterRequest } from './types.ts'

// How a request is routed, from call to call:
//
//   plan()            plan.ts             one request: createRequestContext, then evaluate all candidates
//   evaluate()        choose-offer.ts     estimateOffer for each candidate; findExploration may name one to try
//   estimateOffer()   estimate.ts         learned state → expected cost, latency and failures (an OfferEstimate)
//   selectBest()      select-by-score.ts  score.ts turns each estimate into USD; the lowest score wins
//   makeChoice()      choose-offer.ts     adds attemptTimeout (timeout.ts), hedgeDelay (hedge-delay.ts) and waitMs
//   next()            plan.ts             returns the choice; after a failure it evaluates what is left again
//   startAttempt() …  dynamic-router.ts   the caller reports what happens to the call
//   learn…()          learn-from-calls.ts updates the offer's state: latency, failure model, capacity, circuit breaker, averages

/** A router without a fixed set of offers: each plan names its own. */
export interface DynamicRouter extends Omit<Router, 'plan' | 'updateHeadroom'>, Recorded {
  /** The offer with its learned state, which is kept by id. Callers that use it often should keep the result. */
  trackOffer(offer: RouterOffer): TrackedOffer
  plan(request: RouterRequest, candidates: readonly TrackedOffer[]): RouterPlan
  updateHeadroom(tracked: TrackedOffer, seen: { readonly share: number; readonly resetsInMs: number }): void
}

/** How a dynamic router decides, and what it shares and records. */
export interface DynamicRouterOptions {
  readonly monotonic: () => number
  /** Default: `balanced`. */
  readonly preference?: Preference | PreferencePrices | Strategy
  /** Read on first use. */
  readonly seed: Seed
  readonly decisionLog?: DecisionLogOptions | undefined
  /** State shared with the routers of other processes. Default: nothing is shared. */
  readonly sync?: StateSync | undefined
}

/** Limits of learned state; the least recently used offers are forgotten first. */
const stateLimits = { maxSize: 10_000, sizeCalculation: () => 1 }
const { priorAnswerTokens, answerLengthWeight } = tuning.averages

/** Creates a router for which each plan names its own offers, as the gateway needs it. See `createRouter` for a fixed set. */
export function createDynamicRouter({
  preference = 'balanced',
  seed,
  decisionLog: logged,
  sync,
  ...clock
}: DynamicRouterOptions): DynamicRouter {
  const monotonic = monotonicClock(clock.monotonic)
  const trackedOffers = new LRUCache<string, TrackedOffer>(stateLimits)
  const decisionLog = logged && createDecisionLog(logged, seed)
  const router: LearningRouter = {
    monotonic,
    preference,
    affinity: sync?.affinity ?? makeCacheAffinity(),
    explorationBudget: makeAttemptBudget(),
    hedgingBudget: makeAttemptBudget(),
    answerLengthOf: createAnswerLengths(),
    decisionLog,
    lastStreamAt: Number.NEGATIVE_INFINITY,
    random: createRandom(seed),
    sync,
  }

  return {
    trackOffer(offer) {
      const known = trackedOffers.get(offer.id)
      // The state survives a changed offer: a new price is not a new provider.
      if (known?.offer === offer) return known
      const tracked: TrackedOffer = { offer, prices: priceVector(offer), state: known?.state ?? makeOfferState(monotonic()) }
      trackedOffers.set(offer.id, tracked)
      if (!known) sync?.trackOffer(offer.id, tracked.state, monotonic())
      return tracked
    },
    plan: (request, candidates) => createPlan(router, request, candidates),
    startAttempt: choice => startAttempt(router, choice as TrackedChoice),
    recordFirstContent: attempt => recordFirstContent(router, attempt as RunningAttempt),
    finishAttempt: (attempt, used = {}) => finishAttempt(router, attempt as RunningAttempt, used),
    failAttempt: (attempt, failure) => failAttempt(router, attempt as RunningAttempt, failure),
    abandonAttempt: attempt => abandonAttempt(router, attempt as RunningAttempt),
    updateHeadroom({ state }, seen) {
      applyHeadroom(state.capacity, monotonic(), seen)
    },
    trace: () => decisionLog?.trace() ?? traceOf([], resolveSeed(seed)),
  }
}

/** What attempts need in addition to what plans need. */
interface LearningRouter extends RouterState {
  readonly random: () => number
  readonly sync: StateSync | undefined
}

function startAttempt(router: LearningRouter, choice: TrackedChoice): RunningAttempt {
  const { tracked, request, estimate, queued, reason } = choice
  const { inputTokens, cacheKey, stream = true } = request
  const { cachedTokens } = estimate
  const { state } = tracked
  const now = router.monotonic()
  const call: RunningAttempt = {
    choice,
    tracked,
    stream,
    startedAt: now,
    cachedTokens,
    uncachedTokens: inputTokens - Math.min(inputTokens, cachedTokens) * state.cacheHitShare.value,
    inputTokens,
    cacheKey,
    beyondLimit: queued ? now < state.capacity.pausedUntil : timeUntilFree(state.capacity, now) > 0,
    firstContentAt: undefined,
    ended: false,
  }
  recordRepeat(choice, now)
  state.runningAttempts += 1
  if (call.beyondLimit) state.capacity.probes += 1
  if (stream) state.silentAttempts.add(call)
  if (!queued) takeSlot(state.capacity, now)
  startTrial(state.circuit)
  resetForgoneGain(state)
  if (reason === 'exploration') recordExploration(state, now, router.explorationBudget)
  return call
}

function recordFirstContent({ monotonic, affinity }: LearningRouter, call: RunningAttempt): void {
  if (call.ended || call.firstContentAt !== undefined || !call.stream) return
  call.firstContentAt = monotonic()
  call.tracked.state.silentAttempts.delete(call)
  if (call.beyondLimit) call.tracked.state.capacity.probes -= 1
  learnFirstContent(call, call.firstContentAt)
  recordPromptRead(call, affinity, call.firstContentAt)
}

function finishAttempt({ monotonic, affinity, answerLengthOf }: LearningRouter, call: RunningAttempt, used: AnswerUsage): void {
  if (!endAttempt(call)) return
  const now = monotonic()
  if (call.stream && call.firstContentAt === undefined) {
    call.firstContentAt = now
    learnFirstContent(call, now)
  }
  learnCompletion(call, used, now)
  recordPromptRead(call, affinity, now)
  recordOutcome(call, 'ok', { now, used })
  if (used.outputTokens !== undefined) updateAverage(answerLengthOf(call.tracked.offer.model), used.outputTokens, answerLengthWeight)
}

function failAttempt({ monotonic, random, sync }: LearningRouter, call: RunningAttempt, failure: AttemptFailure): void {
  if (!endAttempt(call)) return
  const choice = call.choice as TrackedChoice
  choice.failedWith = failure.kind
  if (failure.permanent) choice.permanent = true
  const now = monotonic()
  recordOutcome(call, failure.kind, { now })
  if (failure.callerTimeout) learnAbandonment(call, random(), now)
  else learnFailure(call, { ...failure, now, chance: random() })
  if (call.tracked.state.capacity.pausedUntil > now) sync?.markLimited(call.tracked.offer.id)
}

function abandonAttempt({ monotonic, random }: LearningRouter, call: RunningAttempt): void {
  if (!endAttempt(call)) return
  const now = monotonic()
  recordOutcome(call, 'left', { now })
  learnAbandonment(call, random(), now)
}

/** The running average of answer lengths in tokens, by model. */
function createAnswerLengths(): (model?: string) => RunningAverage {
  const lengths = new LRUCache<string, RunningAverage>(stateLimits)
  return (model = '') => {
    const known = lengths.get(model)
    if (known) return known
    const made = makeRunningAverage(priorAnswerTokens)
    lengths.set(model, made)
    return made
  }
}

/** Ends an attempt. Returns false if it had already ended. */
function endAttempt(call: RunningAttempt): boolean {
  if (call.ended) return false
  call.ended = true
  const { state } = call.tracked
  state.runningAttempts -= 1
  state.silentAttempts.delete(call)
  if (call.beyondLimit && call.firstContentAt === undefined) state.capacity.probes -= 1
  return true
}
