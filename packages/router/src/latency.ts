import { tuning } from './constants.ts'

// Time to first content: a level that moves (its natural log, by a Kalman filter), a long run that it returns to, and a histogram of
// how single answers scatter around it.

const {
  priorAnswers,
  histogramDecay,
  maxSlowdownFactor,
  priorTailAnswers,
  returnToLongRunMs,
  longRunFollowMs,
  variancePerMs,
  maxVariance,
  maxDeviations,
} = tuning.latency
const { priorScatter, priorTail, maxTailAnswers, maxScatterAnswers, longRunWeight, recoveredAfterFall } = tuning.latency
const { expectedRiseIntervalMs, riseSlackDeviations, minRiseEvidence, fallDeviations, fallsToAccept } = tuning.latency

export interface Latency {
  /** Natural log of milliseconds to first content, for an empty prompt. */
  level: number
  /** Variance of the level estimate. */
  variance: number
  /** Level to which the estimate returns without observations. */
  longRun: number
  /** Variance of single answers around the level. */
  scatter: number
  /** Answers observed. */
  observations: number
  /** When the level was last updated. */
  at: number
  /** Evidence that the level rose: a cumulative sum (CUSUM) of distances above it, in deviations. */
  rise: number
  /** Evidence that is needed to accept a rise: less if the slow answers began after a long pause. */
  riseNeeded: number
  /** Consecutive answers far below the level. */
  falls: number
  /** Mean of single answers as a factor of the level. */
  tail: number
  /** Decaying histogram of distances from the level, in steps of `binWidth`. */
  readonly bins: Float32Array
  /** Its 92nd, 95th, 99.6th and 99.7th percentiles, as natural logs over the level. */
  p92: number
  p95: number
  p996: number
  p997: number
}

/** The bins begin at `binStart`; the last one is open. */
const binStart = -1.5
const binWidth = 0.125
const binCount = 40

export function makeLatency(at: number, level: number): Latency {
  const latency: Latency = {
    level,
    variance: maxVariance,
    longRun: level,
    scatter: priorScatter,
    observations: 0,
    at,
    rise: 0,
    riseNeeded: 0,
    falls: 0,
    tail: priorTail,
    bins: priorBins(),
    p92: 0,
    p95: 0,
    p996: 0,
    p997: 0,
  }
  updateQuantiles(latency)
  return latency
}

/** The level as of now. */
export const currentLevel = (latency: Latency, now: number): number =>
  latency.longRun + (latency.level - latency.longRun) * Math.exp((latency.at - now) / returnToLongRunMs)

/** Probability that a raised level has fallen back. */
export const recoveredProbability = (latency: Latency, now: number): number =>
  latency.falls > 0 ? recoveredAfterFall : 1 - Math.exp((latency.at - now) / returnToLongRunMs)

export const currentVariance = (latency: Latency, now: number): number =>
  Math.min(maxVariance, latency.variance + variancePerMs * (now - latency.at))

/** Updates the model with an answer that took this many milliseconds, prefill excluded. */
export function observeLatency(latency: Latency, milliseconds: number, now: number): void {
  const seen = Math.log(Math.max(1, milliseconds))
  if (latency.observations === 0) {
    latency.level = seen
    latency.longRun = seen
    latency.variance = latency.scatter
  } else {
    const level = currentLevel(latency, now)
    const doubt = currentVariance(latency, now)
    updateScatter(latency, seen - level)
    const spread = Math.sqrt(doubt + latency.scatter)
    const off = seen - level
    const moved = Math.min(Math.max(off, -maxDeviations * spread), maxDeviations * spread)
    const isChanged = hasChanged(latency, { off: moved / spread, elapsedMs: now - latency.at })
    const opened = isChanged ? Math.min(maxVariance, off * off) : doubt
    const gain = opened / (opened + latency.scatter)
    latency.level = level + gain * (isChanged ? off : moved)
    latency.variance = (1 - gain) * opened
    // A bad spell must not become the norm; a good one may.
    const news = latency.level > latency.longRun ? Math.min(longRunWeight, (now - latency.at) / longRunFollowMs) : longRunWeight
    latency.longRun += Math.max(news, 1 / (latency.observations + 1)) * (latency.level - latency.longRun)
  }
  latency.observations += 1
  latency.at = now
}

/**
 * Whether the answers so far indicate another level. `off`: distance of the newest, in deviations. One slow answer is no evidence, a run of
 * them is: their distances add up (CUSUM), each minus a slack, and must outweigh how unlikely a change was since the answer before them.
 * Few answers are fast by chance, so a short run of fast ones is enough.
 */
function hasChanged(latency: Latency, { off, elapsedMs }: { readonly off: number; readonly elapsedMs: number }): boolean {
  if (latency.rise === 0) latency.riseNeeded = Math.max(minRiseEvidence, Math.log(expectedRiseIntervalMs / Math.max(1, elapsedMs)) / 2)
  latency.rise = Math.max(0, latency.rise + off - riseSlackDeviations)
  latency.falls = off < -fallDeviations ? latency.falls + 1 : 0
  return latency.rise > latency.riseNeeded || latency.falls >= fallsToAccept
}

/**
 * One in this many answers takes longer than `off` beyond the level: interpolated between two percentiles, and extrapolated beyond
 * them.
 */
export const tailOdds = ({ p92, p996 }: Latency, off: number): number =>
  Math.exp(Math.min(20, atP92 + ((off - p92) / Math.max(0.05, p996 - p92)) * (atP996 - atP92)))
const atP92 = Math.log(1 / 0.08)
const atP996 = Math.log(1 / 0.004)

function updateScatter(latency: Latency, off: number): void {
  const weight = 1 / Math.min(latency.observations + priorAnswers, maxScatterAnswers)
  const within = Math.min(Math.abs(off), maxDeviations * Math.sqrt(latency.scatter + latency.variance))
  latency.scatter = Math.max(0.005, latency.scatter + weight * (within * within - latency.scatter))
  latency.tail +=
    (Math.min(Math.exp(off), maxSlowdownFactor) - latency.tail) / Math.min(latency.observations + priorTailAnswers, maxTailAnswers)
  const { bins } = latency
  for (let at = 0; at < binCount; at += 1) bins[at] = (bins[at] ?? 0) * histogramDecay
  const bin = binOf(off)
  bins[bin] = (bins[bin] ?? 0) + 1
  if (latency.observations < 32 || latency.observations % 8 === 0) updateQuantiles(latency)
}

/**
 * Updates the histogram with a call that was abandoned after this many milliseconds: its answer would have taken longer. `hung`: prior
 * probability that the call is never answered. The call counts among the longer waits with the probability that it was only slow, so that
 * a timeout does not shorten the next one.
 */
export function observeTimeout(
  latency: Latency,
  milliseconds: number,
  { now, hung }: { readonly now: number; readonly hung: number },
): void {
  const { bins } = latency
  const off = Math.log(Math.max(1, milliseconds)) - currentLevel(latency, now)
  const sum = bins.reduce((all, each) => all + each, 0)
  // If nothing that long was ever observed, assume half an answer.
  const share = Math.max(tailShare(latency, off), 0.5 / sum)
  const slow = (share * (1 - hung)) / (share * (1 - hung) + hung)
  const first = binOf(off)
  let massBeyond = 0
  for (let at = first; at < binCount; at += 1) massBeyond += bins[at] ?? 0
  if (massBeyond > 0) for (let at = first; at < binCount; at += 1) bins[at] = (bins[at] ?? 0) * (1 + slow / massBeyond)
  else bins[first] = slow
  updateQuantiles(latency)
}

const binOf = (off: number): number => Math.min(binCount - 1, Math.max(0, Math.floor((off - binStart) / binWidth)))

/** The histogram assumed before any answer: most near the level, two in a hundred about four times as slow. */
function priorBins(): Float32Array {
  const bins = new Float32Array(binCount)
  let sum = 0
  for (let at = 0; at < binCount; at += 1) {
    const off = binStart + (at + 0.5) * binWidth
    const near = Math.exp(-(off * off) / (2 * 0.38 * 0.38))
    const slow = 0.02 * Math.exp(-((off - 1.4) ** 2) / (2 * 0.38 * 0.38))
    bins[at] = near + slow
    sum += near + slow
  }
  for (let at = 0; at < binCount; at += 1) bins[at] = ((bins[at] ?? 0) / sum) * priorAnswers
  return bins
}

function updateQuantiles(latency: Latency): void {
  const sum = latency.bins.reduce((all, each) => all + each, 0)
  latency.p92 = quantile(latency, 0.08 * sum)
  latency.p95 = quantile(latency, 0.05 * sum)
  latency.p996 = quantile(latency, 0.004 * sum)
  latency.p997 = quantile(latency, 0.003 * sum)
}

/** Distance beyond the level at which the slowest `share` of answers begins. */
export const tailStart = (latency: Latency, share: number): number =>
  quantile(latency, share * latency.bins.reduce((all, each) => all + each, 0))

/** The distance above which at most `mass` lies, interpolated within its bin. */
function quantile({ bins }: Latency, mass: number): number {
  let above = 0
  for (let at = binCount - 1; at >= 0; at -= 1) {
    const here = bins[at] ?? 0
    if (above + here >= mass) return binStart + (at + (above + here - mass) / here) * binWidth
    above += here
  }
  return binStart
}

/** Share of answers that take more than `off` beyond the level. */
export function tailShare({ bins }: Latency, off: number): number {
  let beyond = 0
  let sum = 0
  for (let at = 0; at < binCount; at += 1) {
    const here = bins[at] ?? 0
    sum += here
    const inside = Math.min(1, Math.max(0, (off - binStart) / binWidth - at))
    beyond += here * (1 - inside)
  }
  return beyond / sum
}

/** Mean wait of the answers that take more than `off` beyond the level, as a factor of the level. */
export function tailMean({ bins }: Latency, off: number): number {
  let mass = 0
  let sum = 0
  for (let at = Math.max(0, Math.floor((off - binStart) / binWidth)); at < binCount; at += 1) {
    const here = bins[at] ?? 0
    mass += here
    sum += here * Math.exp(binStart + (at + 0.5) * binWidth)
  }
  return mass === 0 ? Math.exp(off) : sum / mass
}
