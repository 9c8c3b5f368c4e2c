import { tuning } from './constants.ts'

// How long until the first content: a level that moves (its logarithm, by a Kalman filter), a long run that it falls back to,
// and how single answers scatter around it.

const { priorWeight, binDecay, maxTailFactor, tailMass, relaxMs, longRunMs, driftPerMs, maxVariance, maxDeviations } = tuning.latency
const { priorScatter, priorTail, maxTailMass, maxScatterMass, longRunWeight, settledChance } = tuning.latency
const { changeEveryMs, riseSlack, minRise, fallDeviations, fallsInRow } = tuning.latency

export interface Latency {
  /** ln of milliseconds to first content, of a prompt without a word. */
  level: number
  /** How unsure the level is: its variance. */
  doubt: number
  /** Where the level belongs when nothing is heard for long. */
  longRun: number
  /** Variance of single answers around the level. */
  scatter: number
  /** Answers seen. */
  seen: number
  /** When the level was last brought up to date. */
  at: number
  /** Evidence that the level rose: a cumulative sum of how far answers were above it, in deviations. */
  rise: number
  /** The evidence at which a rise is believed: less where the run of slow answers began after a long pause. */
  riseNeeded: number
  /** Answers in a row that were far below the level. */
  falls: number
  /** What single answers take more than the level, on average, slow ones included. */
  tail: number
  /** Single answers by how far they were off, in steps of `step`: forgets. */
  readonly bins: Float32Array
  /** Of the same, where 92, 95, 99.6 and 99.7 of a hundred lie, as logarithms. */
  p92: number
  p95: number
  p996: number
  p997: number
}

/** The bins run from `lowest` on; the last holds all beyond. */
const lowest = -1.5
const step = 0.125
const binCount = 40

export function makeLatency(at: number, level: number): Latency {
  const latency: Latency = {
    level,
    doubt: maxVariance,
    longRun: level,
    scatter: priorScatter,
    seen: 0,
    at,
    rise: 0,
    riseNeeded: 0,
    falls: 0,
    tail: priorTail,
    bins: grantedBins(),
    p92: 0,
    p95: 0,
    p996: 0,
    p997: 0,
  }
  measure(latency)
  return latency
}

/** The level as it is believed to be now. */
export const levelNow = (latency: Latency, now: number): number =>
  latency.longRun + (latency.level - latency.longRun) * Math.exp((latency.at - now) / relaxMs)

/** How likely it is that a level that rose has fallen back: four times in five where the last answer was far below it. */
export const settledNow = (latency: Latency, now: number): number =>
  latency.falls > 0 ? settledChance : 1 - Math.exp((latency.at - now) / relaxMs)

export const doubtNow = (latency: Latency, now: number): number => Math.min(maxVariance, latency.doubt + driftPerMs * (now - latency.at))

/** Learns from one answer that took so many milliseconds, the reading of its prompt left out. */
export function observe(latency: Latency, milliseconds: number, now: number): void {
  const seen = Math.log(Math.max(1, milliseconds))
  if (latency.seen === 0) {
    latency.level = seen
    latency.longRun = seen
    latency.doubt = latency.scatter
  } else {
    const level = levelNow(latency, now)
    const doubt = doubtNow(latency, now)
    scatterBy(latency, seen - level)
    const spread = Math.sqrt(doubt + latency.scatter)
    const off = seen - level
    const moved = Math.min(Math.max(off, -maxDeviations * spread), maxDeviations * spread)
    const isChanged = hasChanged(latency, { off: moved / spread, elapsedMs: now - latency.at })
    const opened = isChanged ? Math.min(maxVariance, off * off) : doubt
    const gain = opened / (opened + latency.scatter)
    latency.level = level + gain * (isChanged ? off : moved)
    latency.doubt = (1 - gain) * opened
    // A bad spell must not become what is expected of it; a good one may.
    const news = latency.level > latency.longRun ? Math.min(longRunWeight, (now - latency.at) / longRunMs) : longRunWeight
    latency.longRun += Math.max(news, 1 / (latency.seen + 1)) * (latency.level - latency.longRun)
  }
  latency.seen += 1
  latency.at = now
}

/**
 * Whether answers so far speak for another level; `off`: how far the newest is off, in deviations. One slow answer is no news, a run
 * of them is: their distances add up (a cumulative sum), each less a slack, and must outweigh how unlikely a change was since the
 * answer before them. Few answers are fast by chance, so a short run of those is enough.
 */
function hasChanged(latency: Latency, { off, elapsedMs }: { readonly off: number; readonly elapsedMs: number }): boolean {
  if (latency.rise === 0) latency.riseNeeded = Math.max(minRise, Math.log(changeEveryMs / Math.max(1, elapsedMs)) / 2)
  latency.rise = Math.max(0, latency.rise + off - riseSlack)
  latency.falls = off < -fallDeviations ? latency.falls + 1 : 0
  return latency.rise > latency.riseNeeded || latency.falls >= fallsInRow
}

/** One in so many answers takes longer than `off` beyond the level: read off between the two marks, and on beyond them. */
export const rarity = ({ p92, p996 }: Latency, off: number): number =>
  Math.exp(Math.min(20, atP92 + ((off - p92) / Math.max(0.05, p996 - p92)) * (atP996 - atP92)))
const atP92 = Math.log(1 / 0.08)
const atP996 = Math.log(1 / 0.004)

function scatterBy(latency: Latency, off: number): void {
  const weight = 1 / Math.min(latency.seen + priorWeight, maxScatterMass)
  const within = Math.min(Math.abs(off), maxDeviations * Math.sqrt(latency.scatter + latency.doubt))
  latency.scatter = Math.max(0.005, latency.scatter + weight * (within * within - latency.scatter))
  latency.tail += (Math.min(Math.exp(off), maxTailFactor) - latency.tail) / Math.min(latency.seen + tailMass, maxTailMass)
  const { bins } = latency
  for (let at = 0; at < binCount; at += 1) bins[at] = (bins[at] ?? 0) * binDecay
  const bin = binOf(off)
  bins[bin] = (bins[bin] ?? 0) + 1
  if (latency.seen < 32 || latency.seen % 8 === 0) measure(latency)
}

/**
 * Learns from a call that was given up after so many milliseconds of silence: its answer would have taken longer. `hung`: how likely
 * it was, before, that it is never answered. By what is then the chance that it was only slow it counts among the longer waits, so
 * that a time-out does not shorten the next one.
 */
export function observeCut(latency: Latency, milliseconds: number, { now, hung }: { readonly now: number; readonly hung: number }): void {
  const { bins } = latency
  const off = Math.log(Math.max(1, milliseconds)) - levelNow(latency, now)
  const sum = bins.reduce((all, each) => all + each, 0)
  // Where nothing that long was ever seen, half an answer is taken for granted.
  const share = Math.max(shareBeyond(latency, off), 0.5 / sum)
  const slow = (share * (1 - hung)) / (share * (1 - hung) + hung)
  const first = binOf(off)
  let beyond = 0
  for (let at = first; at < binCount; at += 1) beyond += bins[at] ?? 0
  if (beyond > 0) for (let at = first; at < binCount; at += 1) bins[at] = (bins[at] ?? 0) * (1 + slow / beyond)
  else bins[first] = slow
  measure(latency)
}

const binOf = (off: number): number => Math.min(binCount - 1, Math.max(0, Math.floor((off - lowest) / step)))

/** What is taken for granted of an offer that was not seen yet: most answers near the level, two of a hundred four times as slow. */
function grantedBins(): Float32Array {
  const bins = new Float32Array(binCount)
  let sum = 0
  for (let at = 0; at < binCount; at += 1) {
    const off = lowest + (at + 0.5) * step
    const near = Math.exp(-(off * off) / (2 * 0.38 * 0.38))
    const slow = 0.02 * Math.exp(-((off - 1.4) ** 2) / (2 * 0.38 * 0.38))
    bins[at] = near + slow
    sum += near + slow
  }
  for (let at = 0; at < binCount; at += 1) bins[at] = ((bins[at] ?? 0) / sum) * priorWeight
  return bins
}

function measure(latency: Latency): void {
  const sum = latency.bins.reduce((all, each) => all + each, 0)
  latency.p92 = quantile(latency, 0.08 * sum)
  latency.p95 = quantile(latency, 0.05 * sum)
  latency.p996 = quantile(latency, 0.004 * sum)
  latency.p997 = quantile(latency, 0.003 * sum)
}

/** How far beyond the level this share of answers begins. */
export const beyond = (latency: Latency, share: number): number =>
  quantile(latency, share * latency.bins.reduce((all, each) => all + each, 0))

/** Above which no more than `mass` lies; inside a bin by its share. */
function quantile({ bins }: Latency, mass: number): number {
  let above = 0
  for (let at = binCount - 1; at >= 0; at -= 1) {
    const here = bins[at] ?? 0
    if (above + here >= mass) return lowest + (at + (above + here - mass) / here) * step
    above += here
  }
  return lowest
}

/** Share of answers that take more than `off` beyond the level. */
export function shareBeyond({ bins }: Latency, off: number): number {
  let beyond = 0
  let sum = 0
  for (let at = 0; at < binCount; at += 1) {
    const here = bins[at] ?? 0
    sum += here
    const inside = Math.min(1, Math.max(0, (off - lowest) / step - at))
    beyond += here * (1 - inside)
  }
  return beyond / sum
}

/** Mean milliseconds that an answer still takes which is silent after `off` beyond the level, as a factor of the level. */
export function meanBeyond({ bins }: Latency, off: number): number {
  let mass = 0
  let sum = 0
  for (let at = Math.max(0, Math.floor((off - lowest) / step)); at < binCount; at += 1) {
    const here = bins[at] ?? 0
    mass += here
    sum += here * Math.exp(lowest + (at + 0.5) * step)
  }
  return mass === 0 ? Math.exp(off) : sum / mass
}
