import { takeSlot } from './capacity.ts'
import {
  chooseOffer,
  createRequestContext,
  type Evaluation,
  evaluate,
  type RequestContext,
  type RouterState,
  rankOffers,
  type TrackedChoice,
  timeLeft,
} from './choose-offer.ts'
import { recordDecision, tracerOf } from './decision-log/decision-log.ts'
import type { TrackedOffer } from './offer-state.ts'
import { isAvailable } from './select-by-score.ts'
import type { RouterPlan, RouterRequest } from './types.ts'

/** Milliseconds before a failed offer is tried again. */
const retryDelayMs = 250

/** Plans one request: evaluates all candidates once, and the remaining ones again for each further attempt. */
export function createPlan(router: RouterState, request: RouterRequest, among: readonly TrackedOffer[]): RouterPlan {
  if (among.length === 0) throw new TypeError('A plan needs at least one offer to choose from.')
  if (request.cacheKey !== undefined && !request.dryRun) router.affinity.countTurn(request.cacheKey, request.inputTokens)
  const context = createRequestContext(router, request, among)
  const first = evaluate(context, among, { now: context.startedAt })
  let choices: readonly TrackedChoice[] | undefined
  const plan: RouterPlan = {
    // A method, not a getter: a getter on a per-request object keeps the object alive until a full collection.
    choices() {
      if (!choices) {
        choices = rankOffers(context, first)
        if (context.tried.length === 0) logged(context, first, choices[0] as TrackedChoice)
      }
      return choices as readonly [TrackedChoice, ...TrackedChoice[]]
    },
    next() {
      if (context.attemptsLeft <= 0) return undefined
      const choice = context.tried.length > 0 ? nextAttempt(context) : (choices?.[0] ?? logged(context, first, chooseOffer(context, first)))
      if (choice) commitChoice(context, choice)
      return choice
    },
  }
  if (context.log) plan.trace = tracerOf(context.log)
  return plan
}

function commitChoice(context: RequestContext, choice: TrackedChoice): void {
  const { router, request, tried } = context
  context.attemptsLeft -= 1
  // An attempt that has not ended is being hedged, and this is the second call.
  for (const { failedWith, hedgeAfterMs } of tried)
    if (failedWith === undefined && hedgeAfterMs !== undefined) router.hedgingBudget.saved -= 1
  const before = tried.findIndex(({ tracked }) => tracked === choice.tracked)
  tried[before < 0 ? tried.length : before] = choice
  if (choice.waitMs <= 0 || request.dryRun) return
  if (!isAvailable(choice.estimate)) context.queuedMs += choice.waitMs
  choice.queued = true
  takeSlot(choice.tracked.state.capacity, router.monotonic())
}

/** The next attempt after at least one has been made. */
function nextAttempt(context: RequestContext): TrackedChoice | undefined {
  const { tried } = context
  const now = context.router.monotonic()
  if (timeLeft(context, now) <= 0) return undefined
  const last = new Map(tried.map(each => [each.tracked, each]))
  const lastOf = (tracked: TrackedOffer): TrackedChoice | undefined => last.get(tracked)
  // An offer that was only rate limited may have capacity by now, which is better than one that is down.
  const fresh = context.candidates.filter(tracked => {
    const last = lastOf(tracked)
    return !last || isRateLimited(last)
  })
  const open = fresh.length > 0 ? fresh : context.candidates.filter(tracked => mayRetry(lastOf(tracked)))
  if (open.length === 0) return undefined
  const timedOut = tried.some(({ failedWith }) => failedWith === 'timeout')
  const failed = new Set(tried.flatMap(({ failedWith, offer }) => (isOfProvider(failedWith) ? [offer.provider ?? offer.id] : [])))
  const isOpen = new Set(open)
  const retryable = context.candidates.find(tracked => !isOpen.has(tracked) && mayRetry(lastOf(tracked)))
  const seen = { ...evaluate(context, open, { now, failed }), timedOut, retryable }
  const choice = chooseOffer(context, seen)
  return logged(context, seen, {
    ...choice,
    reason: fresh.length > 0 ? 'fallback' : 'last_resort',
    waitMs: Math.max(choice.waitMs, fresh.length > 0 ? 0 : retryDelayMs),
  })
}

function logged({ log }: RequestContext, seen: Evaluation, choice: TrackedChoice): TrackedChoice {
  if (log) {
    choice.record = recordDecision(log, seen, choice)
    choice.decisions = { records: log.records, kept: log.kept }
  }
  return choice
}

/** Whether other offers of the provider, such as the same model with another key, are likely to fail too. */
const isOfProvider = (ended: TrackedChoice['failedWith']): boolean => ended === 'error' || ended === 'timeout' || ended === 'refused'

const isRateLimited = (choice: TrackedChoice | undefined): boolean => choice?.failedWith === 'rate_limited' && !choice.permanent

/** An offer that rejected the credential or the request would do so again. */
const mayRetry = (choice: TrackedChoice | undefined): boolean =>
  !choice?.permanent && choice?.failedWith !== 'credential' && choice?.failedWith !== 'refused'
