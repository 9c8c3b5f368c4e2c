import { isCircuitClosed } from './circuit-breaker.ts'
import { tuning } from './constants.ts'
import { type EstimateInput, newcomerTries, optimisticEstimate, unobservedMs } from './estimate.ts'
import { healthyProbability, isFailureRateHigh } from './failure-model.ts'
import { currentLevel, recoveredProbability } from './latency.ts'
import type { OfferEstimate, Strategy } from './offer-estimate.ts'
import type { OfferState, TrackedOffer } from './offer-state.ts'
import { isAvailable, type ScoredOffer, scoreOf } from './select-by-score.ts'

const { recheckMs, slowAbove, unobservedPauseMs, budgetPerRequest, maxBudget, trialCost } = tuning.exploration
const { minUnreliableMs } = tuning.timeouts

// Exploration. An offer that receives no traffic cannot show that it has recovered. The router accumulates the expected gain that it
// forgoes by not using the offer, and sends one real request there once that exceeds the expected cost of a trial. Offers unobserved
// for minutes are tried rarely, new offers at once.

export interface AttemptBudget {
  saved: number
}

export const makeAttemptBudget = (): AttemptBudget => ({ saved: maxBudget })

export const accrueBudget = (budget: AttemptBudget): void => {
  budget.saved = Math.min(maxBudget, budget.saved + budgetPerRequest)
}

interface ExplorationContext {
  readonly budget: AttemptBudget
  readonly strategy: Strategy
  readonly estimates: readonly OfferEstimate[]
  readonly leader: () => ScoredOffer
  /** A silent call would be given up soon. */
  readonly shortTimeout: boolean
}

/** The offer that is due for a trial and could score best. The choice then compares it with the best known offer. */
export function findExploration(
  candidates: readonly TrackedOffer[],
  input: EstimateInput,
  known: ExplorationContext,
): ExplorationCandidate | undefined {
  let first: ScoredOffer | undefined
  let best: (ExplorationCandidate & { readonly loss: number }) | undefined
  for (let at = 0; at < candidates.length; at += 1) {
    const tracked = candidates[at]
    const estimate = known.estimates[at]
    if (!tracked || !estimate) continue
    tracked.state.passedOver += 1
    if (!isDue(tracked.state, input, known)) continue
    // The best offer needs no exploration, and must not displace those that do.
    first ??= known.leader()
    if (at === first.at) continue
    // One new offer at a time.
    if ((candidates[first.at]?.state.observations ?? 0) < newcomerTries) return undefined
    const hope = optimisticEstimate(tracked, input)
    if (!isAvailable(hope)) continue
    const score = scoreOf(known.strategy, hope, tracked.offer)
    const cost = scoreOf(known.strategy, asTrial(estimate, input), tracked.offer) - first.score
    if (!isWorthTrying(tracked.state, input, { gain: first.score - score, cost })) continue
    if (!best || score < best.loss) best = { at, estimate: hope, loss: score }
  }
  return best
}

/** A trial of a stream is given up early, however long earlier attempts waited. */
const asTrial = (estimate: OfferEstimate, { stream }: EstimateInput): OfferEstimate =>
  stream && estimate.failedAttemptMs > minUnreliableMs ? { ...estimate, failedAttemptMs: minUnreliableMs } : estimate

interface ExplorationCandidate {
  readonly at: number
  readonly estimate: OfferEstimate
}

/**
 * Adds the gain that the requests since the last check have forgone: what the recovered offer would score better, times the
 * probability that it has recovered. A trial is worthwhile once this exceeds its expected cost.
 */
function isWorthTrying(
  state: OfferState,
  { now, inputTokens }: EstimateInput,
  { gain, cost }: { readonly gain: number; readonly cost: number },
): boolean {
  if (state.observations < newcomerTries) return true
  state.exploreAt = now + recheckMs
  if (isUnobserved(state, now)) return true
  const slow = isSlow(state, now) ? 1 - recoveredProbability(state.latency, now) : 0
  const healthy = healthyProbability(state.failures, now, inputTokens) * healthyProbability(state.breaks, now)
  const back = healthy * (1 - slow)
  if (gain > 0) state.forgoneGain += back * gain * state.passedOver
  state.passedOver = 0
  // The failure model already accounts for recovery over time; the latency level does not.
  return state.forgoneGain >= (slow > 0 ? slow * cost : cost)
}

function isDue(state: OfferState, { now, inputTokens }: EstimateInput, { budget, shortTimeout }: ExplorationContext): boolean {
  if (state.runningAttempts > 0 || now < state.exploreAt) return false
  if (state.observations < newcomerTries) return shortTimeout
  if (isUnobserved(state, now)) return shortTimeout && budget.saved >= trialCost
  return !isCircuitClosed(state.circuit) || isDegraded(state, now, inputTokens)
}

const isUnobserved = ({ observedAt }: OfferState, now: number): boolean => now - observedAt > unobservedMs

const isSlow = ({ latency }: OfferState, now: number): boolean => currentLevel(latency, now) > latency.longRun + slowAbove

const isDegraded = (state: OfferState, now: number, tokens: number): boolean =>
  isFailureRateHigh(state.failures, now, tokens) || isFailureRateHigh(state.breaks, now) || isSlow(state, now)

/** The offer is called: the accumulated gain starts again at zero. */
export function resetForgoneGain(state: OfferState): void {
  state.forgoneGain = 0
  state.passedOver = 0
}

/** An unobserved offer is called only to observe it: the next trial comes later. */
export function recordExploration(state: OfferState, now: number, budget: AttemptBudget): void {
  if (state.observations < newcomerTries || !isUnobserved(state, now)) return
  budget.saved -= trialCost
  state.exploreAt = now + unobservedPauseMs
}
