import { type FailureModel, isFailureRateHigh, recordOutcome } from '../failure-model.ts'
import { currentLevel, currentVariance, type Latency } from '../latency.ts'
import type { OfferState } from '../offer-state.ts'
import type { RunningAverage } from '../running-average.ts'
import type { OutcomeCounts } from './outcome-counts.ts'

// Merges what other processes observed into the local state, as evidence. It arrives as sums over a period; the older, the less it counts.
// Latency tails, circuit breakers and rate limits are only learned locally.

/** What another process observed between two moments (monotonic milliseconds), assumed to be spread evenly over them. */
export interface RemoteEvidence {
  readonly from: number
  readonly to: number
  readonly counts: Readonly<OutcomeCounts>
}

/** Fractions of calls, accumulated until they amount to whole ones. */
export interface FractionalCounts {
  readonly before: CallCounts
  readonly after: CallCounts
}

interface CallCounts {
  good: number
  bad: number
}

export const makeFractionalCounts = (): FractionalCounts => ({ before: { good: 0, bad: 0 }, after: { good: 0, bad: 0 } })

export interface MergeContext {
  readonly fractions: FractionalCounts
  readonly now: number
  /** Number of other processes, and this process's random number from 0 to 1. */
  readonly others: number
  readonly chance: number
}

/** Milliseconds over which remote evidence decays. */
const evidenceDecayMs = 240_000
/** Milliseconds over which it decays relative to later local observations. */
const supersededMs = 5_000
/** Largest number of calls that one update counts for, successes and failures in proportion, so that many processes do not drown out local observations. */
const maxMergedCalls = 60
/** Largest number of responses that a remote mean counts for. Processes differ in location, which does not average out. */
const maxMergedAnswers = 20
/** Variance that a level gains per millisecond of age. */
const driftPerMs = 1e-6
const maxMergedVariance = 0.5
/** Responses that the local scatter counts for, and how much wider remote responses may make it. */
const scatterMass = 150
const maxScatterRatio = 6
/** Upper bound of the natural log of a wait: days, in milliseconds. */
const maxLog = 20
/** A mean that deviates more than this indicates another level. */
const changeDeviations = 2
/** Milliseconds between explorations of a failing offer, over all processes. */
const sharedExplorationMs = 15_000
/** Largest weight of one more response in the speed and in the long run. */
const weights = { speed: 0.08, longRun: 0.01 } as const

export function mergeEvidence(state: OfferState, evidence: RemoteEvidence, { fractions, now, others, chance }: MergeContext): void {
  const { counts } = evidence
  // Later local observations are more relevant than earlier remote ones.
  const overtakenBy = state.observations > 0 ? Math.max(0, state.observedAt - evidence.to) : 0
  const trust = remainingWeight(evidence, now) * Math.exp(-overtakenBy / supersededMs)
  const { answered, failed, finished, broken } = counts
  recordOutcomes(state.failures, { good: answered * trust, bad: failed * trust, owed: fractions.before, now })
  recordOutcomes(state.breaks, { good: finished * trust, bad: broken * trust, owed: fractions.after, now })
  if (counts.waits > 0) observeMeanLatency(state.latency, evidence, now)
  if (counts.speeds > 0) updateMean(state.speed, { mean: meanOf(counts.lnSpeeds, counts.speeds), seen: counts.speeds * trust })
  const calls = answered + failed + broken
  if (calls === 0) return
  state.observations += calls
  state.observedAt = Math.max(state.observedAt, Math.min(now, evidence.to))
  // Other processes explore it too; a random share decides which of them does so next.
  if (failed + broken > 0 && (isFailureRateHigh(state.failures, now) || isFailureRateHigh(state.breaks, now)))
    state.exploreAt = now + sharedExplorationMs * (1 + others * chance)
}

/** Remaining weight of decaying evidence, averaged over its period: 0 to 1. */
function remainingWeight({ from, to }: RemoteEvidence, now: number): number {
  const left = (moment: number): number => Math.exp(Math.min(0, moment - now) / evidenceDecayMs)
  return to - from < 1_000 ? left(to) : (evidenceDecayMs / (to - from)) * (left(to) - left(from))
}

function recordOutcomes(
  rate: FailureModel,
  { good, bad, owed, now }: CallCounts & { readonly owed: CallCounts; readonly now: number },
): void {
  const share = Math.min(1, maxMergedCalls / Math.max(1, good + bad))
  owed.good += good * share
  owed.bad += bad * share
  const bads = Math.floor(owed.bad)
  const calls = Math.floor(owed.good) + bads
  owed.bad -= bads
  owed.good -= calls - bads
  // The order is unknown: failures are spread evenly among the successes.
  let due = calls / 2
  for (let call = 0; call < calls; call += 1) {
    due += bads
    const bad = due >= calls
    if (bad) due -= calls
    recordOutcome(rate, { bad, now })
  }
}

/** Moves the level like `observeLatency`, but for many responses at once: their mean is more certain if they agree, and less certain if they are old. */
function observeMeanLatency(latency: Latency, { from, to, counts }: RemoteEvidence, now: number): void {
  const mean = meanOf(counts.lnWaits, counts.waits)
  const answers = Math.min(counts.waits, maxMergedAnswers)
  const theirs = varianceOf(counts, mean)
  const noise = Math.max(latency.scatter, theirs) / answers + driftPerMs * Math.max(0, now - (from + to) / 2)
  if (latency.observations === 0) {
    latency.level = mean
    latency.longRun = mean
    latency.variance = Math.min(maxMergedVariance, noise)
  } else {
    const level = currentLevel(latency, now)
    const doubt = currentVariance(latency, now)
    const off = mean - level
    const most = changeDeviations * Math.sqrt(doubt + noise)
    const isElsewhere = answers > 1 && Math.abs(off) > most
    const opened = isElsewhere ? Math.min(maxMergedVariance, off * off) : doubt
    const gain = opened / (opened + noise)
    latency.level = level + gain * (isElsewhere ? off : Math.min(Math.max(off, -most), most))
    latency.variance = (1 - gain) * opened
    const stays = Math.max(1 - (1 - weights.longRun) ** answers, answers / (latency.observations + answers))
    latency.longRun += stays * (latency.level - latency.longRun)
  }
  if (answers > 1) {
    const within = Math.min(theirs, maxScatterRatio * latency.scatter)
    latency.scatter = Math.max(
      0.005,
      latency.scatter + (answers / (latency.observations + answers + scatterMass)) * (within - latency.scatter),
    )
  }
  latency.observations += answers
  latency.at = now
}

/** A mean of logs, bounded whatever was received. */
const meanOf = (sum: number, count: number): number => Math.min(maxLog, sum / count)

/** Variance of single answers around their mean. */
const varianceOf = ({ waits, lnWaitsSquared }: Readonly<OutcomeCounts>, mean: number): number =>
  waits < 2 ? 0 : (Math.min(maxLog * maxLog, Math.max(0, lnWaitsSquared / waits - mean * mean)) * waits) / (waits - 1)

function updateMean(average: RunningAverage, { mean, seen }: { readonly mean: number; readonly seen: number }): void {
  if (seen <= 0) return
  average.observations += seen
  average.value += Math.max(1 - (1 - weights.speed) ** seen, seen / average.observations) * (mean - average.value)
}
