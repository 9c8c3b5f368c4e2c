import type { CacheAffinity, CachedPrompt } from './cache-affinity.ts'
import { maxQueueMs, timeUntilFree } from './capacity.ts'
import { tuning } from './constants.ts'
import type { DecisionLog, LoggedChoice, RequestLog } from './decision-log/decision-log.ts'
import type { ChoiceReason } from './decision-log/records.ts'
import { bestKnown, cachedTokensAt, type EstimateInput, estimateOffer } from './estimate.ts'
import { type AttemptBudget, accrueBudget, findExploration } from './exploration.ts'
import { hedgeDelay } from './hedge-delay.ts'
import type { RouterOffer } from './offer.ts'
import type { OfferEstimate, Strategy } from './offer-estimate.ts'
import type { TrackedOffer } from './offer-state.ts'
import { type Preference, type PreferencePrices, preferences } from './preferences.ts'
import type { RunningAverage } from './running-average.ts'
import { scaledPrices, scoreByPrices } from './score.ts'
import { type EstimatedOffers, isAvailable, rankByScore, runnerUp, type ScoredOffer, selectBest, withRank } from './select-by-score.ts'
import { attemptTimeout } from './timeout.ts'
import type { AttemptFailure, RouterRequest } from './types.ts'

// Estimates all candidates of a request and chooses one, for each attempt. This is the hot path: it allocates only an estimate per
// candidate.

/** State shared by all requests of one router. */
export interface RouterState {
  readonly monotonic: () => number
  readonly preference: Preference | PreferencePrices | Strategy
  readonly affinity: CacheAffinity
  readonly explorationBudget: AttemptBudget
  readonly hedgingBudget: AttemptBudget
  readonly answerLengthOf: (model: string | undefined) => RunningAverage
  /** When the last streamed request was evaluated. */
  lastStreamAt: number
  /** Undefined if decisions are not recorded. */
  readonly decisionLog: DecisionLog | undefined
}

/** A choice plus what is needed to learn from its call. */
export interface TrackedChoice extends LoggedChoice {
  readonly tracked: TrackedOffer
  readonly request: RouterRequest
  /** How the call failed, if it did. */
  failedWith: AttemptFailure['kind'] | undefined
  /** Whether the request is queued for a slot that it already holds. */
  queued: boolean
  /** Whether the call would fail again in the same way. */
  permanent?: boolean
}

const defaultTimeoutMs = { stream: 120_000, whole: 300_000 }
const defaultMaxAttempts = 4
const defaultNewOfferTimeoutMs = 10_000
const { minLeftMs } = tuning.exploration
/** How recent the last stream must be for streams to count as common. */
const recentStreamMs = 60_000
/** How long a request may queue for an offer without a free slot: an absolute limit, and a share of the remaining time. */
const queueLimit = { milliseconds: tuning.queueing.maxQueueMs, share: tuning.queueing.timeLeftShare }
/** With this many attempts left, a request that was already sent does not queue if another offer is free. */
const lastAttempts = 2
const boundedQueueMs = ({ milliseconds, share }: typeof queueLimit, leftMs: number): number =>
  Math.min(milliseconds, Math.max(0, leftMs * share))

const { waitingWeight, lastResortTimeLeftShare } = tuning.queueing

/**
 * How long the request may queue for the soonest slot when every offer is full: as long as that costs less than a failed request, within its
 * deadline. A request that queues delays those behind it, so its wait counts several times. All its attempts together queue no longer.
 */
function longestQueueMs({ prices = preferences.balanced, queuedMs }: RequestContext, leftMs: number): number {
  const worthMs = prices.waiting > 0 ? (1_000 * prices.failure) / (waitingWeight * prices.waiting) : maxQueueMs
  return Math.max(0, Math.min(maxQueueMs, worthMs - queuedMs, leftMs * lastResortTimeLeftShare))
}

/** The estimates of some candidates at one moment. */
export interface Evaluation extends EstimatedOffers {
  readonly candidates: readonly TrackedOffer[]
  readonly input: EstimateInput
  readonly timedOut?: boolean
  /** An offer that already failed this request and may be retried if nothing else is left. */
  readonly retryable?: TrackedOffer | undefined
}

/** One request with everything that its evaluations share. */
export interface RequestContext {
  readonly router: RouterState
  readonly request: RouterRequest
  readonly candidates: readonly TrackedOffer[]
  readonly startedAt: number
  readonly stream: boolean
  /** Undefined if a custom strategy ranks the offers. */
  readonly prices: PreferencePrices | undefined
  readonly strategy: Strategy
  readonly outputTokens: number
  readonly cacheHolders: readonly CachedPrompt[]
  readonly turns: number
  /** Undefined if this request is not recorded. */
  readonly log: RequestLog | undefined
  /** The offers tried so far, each with its latest attempt. */
  readonly tried: TrackedChoice[]
  /** Attempts that the request may still make. */
  attemptsLeft: number
  /** Milliseconds that it has queued because every offer was full. */
  queuedMs: number
}

/** Starts the evaluation of one request: resolves its preference to a strategy and reads its conversation. */
export function createRequestContext(router: RouterState, request: RouterRequest, candidates: readonly TrackedOffer[]): RequestContext {
  const { monotonic, affinity, explorationBudget, hedgingBudget, decisionLog } = router
  const { cacheKey, maxOutputTokens = Number.POSITIVE_INFINITY, stream = true, dryRun = false } = request
  const startedAt = monotonic()
  const preference = request.preference ?? router.preference
  const prices = typeof preference === 'function' ? undefined : scaledPrices(preference, candidates)
  const strategy = withRank(
    typeof preference === 'function' ? preference : scoreByPrices(prices ?? (preference as PreferencePrices)),
    request.rank,
  )
  if (!dryRun) {
    accrueBudget(explorationBudget)
    accrueBudget(hedgingBudget)
  }
  return {
    router,
    request,
    candidates,
    startedAt,
    stream,
    prices,
    strategy,
    outputTokens: request.outputTokens ?? Math.min(router.answerLengthOf(candidates[0]?.offer.model).value, maxOutputTokens),
    cacheHolders: cacheKey === undefined ? noCacheHolders : affinity.holders(cacheKey),
    turns: cacheKey === undefined ? 1 : affinity.expectedTurns(),
    log: dryRun ? undefined : decisionLog?.openRequest({ preference, prices, strategy, rank: request.rank, among: candidates }),
    tried: [],
    attemptsLeft: request.maxAttempts ?? defaultMaxAttempts,
    queuedMs: 0,
  }
}

const noCacheHolders: readonly CachedPrompt[] = []

/** Remaining milliseconds of the request. */
export const timeLeft = ({ request, startedAt }: RequestContext, now: number): number =>
  (request.deadlineMs ?? Number.POSITIVE_INFINITY) - (now - startedAt)

interface EvaluationOptions {
  readonly now: number
  /** Providers that have just failed this request. */
  readonly failed?: ReadonlySet<string>
}

/** Estimates the candidates. */
export function evaluate(context: RequestContext, candidates: readonly TrackedOffer[], { now, failed }: EvaluationOptions): Evaluation {
  const { router, request, stream, strategy, cacheHolders } = context
  const left = timeLeft(context, now)
  // The last attempts are not spent on queueing: the queue may be longer than estimated, and another offer has room.
  const mayQueue = context.tried.length === 0 || context.attemptsLeft > lastAttempts
  const input: EstimateInput = {
    now,
    stream,
    inputTokens: request.inputTokens,
    outputTokens: context.outputTokens,
    turns: context.turns,
    turnGrowth: router.affinity.expectedGrowth(),
    cachedTokens: 0,
    timeLeftMs: left,
    maxQueueMs: mayQueue ? boundedQueueMs(queueLimit, left) : 0,
    best: bestKnown(context.candidates, now),
  }
  // Preallocated: growing an array reallocates it several times.
  const estimates = new Array<OfferEstimate>(candidates.length)
  const offers = new Array<RouterOffer>(candidates.length)
  for (let at = 0; at < candidates.length; at += 1) {
    const tracked = candidates[at] as TrackedOffer
    input.cachedTokens = cachedTokensAt(cacheHolders, tracked, now)
    estimates[at] = estimateOffer(tracked, input)
    offers[at] = tracked.offer
  }
  // Where the caller ranks offers, a score cannot put those that this request has called already after the others.
  const called = request.rank && failed && new Set(context.tried.map(({ tracked }) => tracked))
  const deprioritized =
    failed && offers.map(({ id, provider = id }, index) => failed.has(provider) || called?.has(candidates[index] as TrackedOffer) === true)
  // No exploration in a conversation with a warm cache, on a second attempt, or for a non-streamed response while streams are common: a
  // silent stream is given up much sooner.
  if (stream && !request.dryRun) router.lastStreamAt = now
  const mayExplore =
    !request.dryRun &&
    !failed &&
    request.rank === undefined &&
    candidates.length > 1 &&
    cacheHolders.length === 0 &&
    input.timeLeftMs > minLeftMs
  const exploration = mayExplore
    ? findExploration(candidates, input, {
        budget: router.explorationBudget,
        strategy,
        estimates,
        shortTimeout: now - router.lastStreamAt < recentStreamMs === stream,
        leader: () => selectBest({ offers, estimates }, strategy),
      })
    : undefined
  return { candidates, input, estimates, offers, deprioritized, exploration }
}

/** The offer to try now. */
export const chooseOffer = (context: RequestContext, seen: Evaluation): TrackedChoice =>
  makeChoice(context, seen, selectBest(seen, context.strategy))

/** All candidates as choices, best first. */
export const rankOffers = (context: RequestContext, seen: Evaluation): readonly TrackedChoice[] =>
  rankByScore(seen, context.strategy).map((decision, place) => {
    const choice = makeChoice(context, seen, decision)
    return place === 0 || choice.reason !== 'best' ? choice : { ...choice, reason: 'fallback' }
  })

function makeChoice(context: RequestContext, seen: Evaluation, { at, score, exploring }: ScoredOffer): TrackedChoice {
  const { router, request, stream, strategy, prices, attemptsLeft } = context
  const { input, candidates, estimates, exploration } = seen
  const tracked = candidates[at] as TrackedOffer
  const estimate = exploring && exploration ? exploration.estimate : (estimates[at] as OfferEstimate)
  const second = attemptsLeft > 1 ? runnerUp(seen, at, strategy) : undefined
  const next =
    second === undefined ? undefined : { state: (candidates[second] as TrackedOffer).state, estimate: estimates[second] as OfferEstimate }
  const timeoutMs = attemptTimeout({ state: tracked.state, estimate, exploring }, next?.state, {
    input,
    maxMs: request.timeoutMs ?? (stream ? defaultTimeoutMs.stream : defaultTimeoutMs.whole),
    newOfferMs: request.newOfferTimeoutMs ?? defaultNewOfferTimeoutMs,
    timedOut: seen.timedOut === true,
    retryable: attemptsLeft > 1 ? seen.retryable?.state : undefined,
    minMs: request.minTimeoutMs ?? 0,
  })
  const mayHedge = request.hedge === true && stream && prices && next && isAvailable(next.estimate) && router.hedgingBudget.saved >= 1
  const hedgeAfterMs = mayHedge ? hedgeDelay({ state: tracked.state, estimate }, next, { prices, now: input.now, timeoutMs }) : undefined
  const free = isAvailable(estimate)
  const heldMs = timeUntilFree(tracked.state.capacity, input.now)
  const longestMs = longestQueueMs(context, input.timeLeftMs)
  const waitMs = free ? Math.min(heldMs, input.maxQueueMs) : heldMs <= longestMs ? heldMs : 0
  const reason: ChoiceReason = exploring ? 'exploration' : free ? 'best' : 'last_resort'
  return {
    offer: tracked.offer,
    score,
    estimate,
    reason,
    waitMs,
    maxFurtherWaitMs: longestMs - waitMs,
    timeoutMs,
    hedgeAfterMs,
    tracked,
    request,
    failedWith: undefined,
    queued: false,
  }
}
