import { tuning } from './constants.ts'

// How likely a call fails. Each offer is in one of several health states, estimated by a Bayesian filter: healthy, degraded, failing,
// down, or, for each of some limits, failing only for longer prompts. Each outcome is evidence for some states, and over time all states
// become possible again. It detects a fault after one or two failures, takes a single failure among hundreds of successes for chance,
// and recovers as soon as the fault is over. An offer that fails long prompts keeps its short ones.

const { highRateFactor, evidenceDecayMs, maxEvidenceKept, maxBaselineFactor, baselineCalls, minPromptLimit, promptLimitPrior } =
  tuning.failures

/** Prompt tokens above which all calls may fail, each twice the one before. */
const promptLimits = Array.from({ length: 8 }, (_, index) => minPromptLimit * 2 ** index)

export interface FailureModel {
  /** Failure rate while healthy, learned slowly. */
  baseline: number
  /** Probabilities of the states, which sum to 1: healthy, degraded, failing, down, and one for each prompt limit. */
  readonly states: Float64Array
  readonly priors: FailurePriors
  /** When the model was last updated. */
  updatedAt: number
}

export interface FailurePriors {
  /** Failure rate while healthy, before any observation. */
  readonly baseline: number
  /** Failure rate in each other state. */
  readonly degraded: number
  readonly failing: number
  readonly down: number
  /** Prior probabilities of the states. */
  readonly states: Float64Array
}

const makePriors = ({ prior, ...rates }: typeof tuning.failures.beforeContent, limitPriors: readonly number[]): FailurePriors => {
  const unhealthy = [prior, prior, prior, ...limitPriors]
  return { ...rates, states: Float64Array.of(1 - unhealthy.reduce((sum, each) => sum + each, 0), ...unhealthy) }
}

export const beforeContent = makePriors(
  tuning.failures.beforeContent,
  promptLimits.map(() => promptLimitPrior),
)
/** A stream breaks whatever the length of its prompt: there is no state for a limit. */
export const afterContent = makePriors(tuning.failures.afterContent, [])

const healthy = 0
/** The first state in which only prompts above a limit fail. */
const limited = 4

/** Share of calls with a prompt of this many tokens that fail in a state. */
function failureRateIn({ baseline, priors }: FailureModel, state: number, tokens: number): number {
  if (state >= limited) return tokens > (promptLimits[state - limited] as number) ? priors.down : baseline
  return state === healthy ? baseline : state === 1 ? priors.degraded : state === 2 ? priors.failing : priors.down
}

export const makeFailureModel = (updatedAt: number, priors: FailurePriors): FailureModel => ({
  baseline: priors.baseline,
  states: priors.states.slice(),
  priors,
  updatedAt,
})

interface CallOutcome {
  readonly bad: boolean
  readonly now: number
  /** Tokens of the prompt. Default: 0, a prompt below every limit. */
  readonly tokens?: number
}

/** Updates the model with the outcome of one call. */
export function recordOutcome(rate: FailureModel, { bad, now, tokens = 0 }: CallOutcome): void {
  const { states, priors } = rate
  const inTime = Math.exp((rate.updatedAt - now) / evidenceDecayMs)
  const atMost = Math.min(maxEvidenceKept, inTime)
  let forgotten = 0
  for (let state = 0; state < states.length; state += 1) {
    // However many calls succeeded, the next may be the first of a fault. A short prompt shows nothing about long ones.
    const kept = state >= limited && tokens <= (promptLimits[state - limited] as number) ? inTime : atMost
    forgotten += (states[state] as number) * (1 - kept)
    states[state] = (states[state] as number) * kept
  }
  let all = 0
  for (let state = 0; state < states.length; state += 1) {
    const share = failureRateIn(rate, state, tokens)
    const weight = ((states[state] as number) + (priors.states[state] as number) * forgotten) * (bad ? share : 1 - share)
    states[state] = weight
    all += weight
  }
  for (let state = 0; state < states.length; state += 1) states[state] = (states[state] as number) / all
  rate.updatedAt = now
  const usual = rate.baseline + ((states[healthy] as number) / baselineCalls) * ((bad ? 1 : 0) - rate.baseline)
  rate.baseline = Math.min(priors.baseline * maxBaselineFactor, Math.max(priors.baseline / maxBaselineFactor, usual))
}

/** Probability that the next call with a prompt of this many tokens fails. On the hot path, so it allocates nothing. */
export function failureProbability(rate: FailureModel, now: number, tokens = 0): number {
  const { states, priors } = rate
  const kept = Math.exp((rate.updatedAt - now) / evidenceDecayMs)
  let bad = 0
  for (let state = 0; state < states.length; state += 1) {
    const prior = priors.states[state] as number
    bad += (prior + ((states[state] as number) - prior) * kept) * failureRateIn(rate, state, tokens)
  }
  return bad
}

/** The same if `given` running calls are assumed to fail. */
export function failureProbabilityGiven(
  rate: FailureModel,
  { now, given, tokens = 0 }: { readonly now: number; readonly given: number; readonly tokens?: number },
): number {
  const { states, priors } = rate
  const kept = Math.exp((rate.updatedAt - now) / evidenceDecayMs)
  let all = 0
  let bad = 0
  for (let state = 0; state < states.length; state += 1) {
    const prior = priors.states[state] as number
    const share = failureRateIn(rate, state, tokens)
    const weight = (prior + ((states[state] as number) - prior) * kept) * share ** given
    all += weight
    bad += weight * share
  }
  return bad / all
}

/** Probability that the offer is healthy for a prompt of this many tokens. */
export function healthyProbability(rate: FailureModel, now: number, tokens = 0): number {
  const { states, priors } = rate
  const kept = Math.exp((rate.updatedAt - now) / evidenceDecayMs)
  let sum = 0
  for (let state = 0; state < states.length; state += 1) {
    if (state !== healthy && (state < limited || tokens > (promptLimits[state - limited] as number))) continue
    const prior = priors.states[state] as number
    sum += prior + ((states[state] as number) - prior) * kept
  }
  return sum
}

/** The failure rate is far above the prior baseline. */
export const isFailureRateHigh = (rate: FailureModel, now: number, tokens = 0): boolean =>
  failureProbability(rate, now, tokens) > highRateFactor * rate.priors.baseline
