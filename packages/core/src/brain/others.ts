import type { Belief } from './belief.ts'
import type { Counts } from './counts.ts'
import { doubtNow, type Latency, levelNow } from './latency.ts'
import { type Ailments, afterContent, beforeContent, isHigh, note, type Rate } from './rate.ts'
import type { Average } from './speed.ts'

// What others saw of an offer, as evidence for what is believed here. It comes as sums over a stretch of time: the older, the
// less it says of now. What single answers look like (how they scatter far out, what is open or held) stays one's own to learn.

/** What another process saw between two moments, in monotonic milliseconds, spread evenly over them. */
export interface Evidence {
  readonly from: number
  readonly to: number
  readonly counts: Readonly<Counts>
}

/** Calls that count for less than one each: kept until they make up whole ones. */
export interface Owed {
  readonly before: Tally
  readonly after: Tally
}

interface Tally {
  good: number
  bad: number
}

export const makeOwed = (): Owed => ({ before: { good: 0, bad: 0 }, after: { good: 0, bad: 0 } })

export interface Listener {
  readonly owed: Owed
  readonly now: number
  /** How many others there are, and a number from 0 to 1 that no two of them share. */
  readonly others: number
  readonly chance: number
}

/** How long what others saw speaks for what is. */
const fadesMs = 240_000
/** And how long against what was heard of the offer later. */
const overtakenMs = 5_000
/** Calls of one telling that count at most, good and bad in their proportion: many others must not drown what was seen here. */
const mostCalls = 60
/** Answers that a mean stands for at most: processes differ in where they stand, and that does not average out. */
const mostAnswers = 20
/** Of a level, variance per millisecond that has passed since. */
const wanders = 1e-6
const mostDoubt = 0.5
/** Answers that the scatter known here weighs as, and how many times wider others' answers may say that it is. */
const scatterMass = 150
const mostWider = 6
/** ln of days: no wait is longer. */
const mostLn = 20
/** A mean that is off by more deviations than this tells of another level, not of chance. */
const surprising = 2
/** After others saw an offer fail that is believed to fail, one of them all tries it again about every so often. */
const triedMs = 15_000
/** What one more answer adds to the speed, and to the long run, once many were seen. */
const weights = { speed: 0.08, longRun: 0.01 } as const

export function learnFromOthers(belief: Belief, evidence: Evidence, { owed, now, others, chance }: Listener): void {
  const { counts } = evidence
  // What was heard since tells more of now than what others saw before it.
  const overtakenBy = belief.heard > 0 ? Math.max(0, belief.heardAt - evidence.to) : 0
  const trust = lastingShare(evidence, now) * Math.exp(-overtakenBy / overtakenMs)
  const { answered, failed, finished, broken } = counts
  noteAll(belief.failing, beforeContent, { good: answered * trust, bad: failed * trust, owed: owed.before, now })
  noteAll(belief.breaking, afterContent, { good: finished * trust, bad: broken * trust, owed: owed.after, now })
  if (counts.waits > 0) observeMean(belief.latency, evidence, now)
  if (counts.speeds > 0) blendMean(belief.speed, { mean: meanOf(counts.lnSpeeds, counts.speeds), seen: counts.speeds * trust })
  const calls = answered + failed + broken
  if (calls === 0) return
  belief.heard += calls
  belief.heardAt = Math.max(belief.heardAt, Math.min(now, evidence.to))
  // Those who see it fail look out for its return too. Who of them tries it next is left to chance.
  if (failed + broken > 0 && (isHigh(belief.failing, beforeContent, now) || isHigh(belief.breaking, afterContent, now)))
    belief.probeAt = now + triedMs * (1 + others * chance)
}

/** What is left of evidence that fades, on average over the time in which it was seen: 0 to 1. */
function lastingShare({ from, to }: Evidence, now: number): number {
  const left = (moment: number): number => Math.exp(Math.min(0, moment - now) / fadesMs)
  return to - from < 1_000 ? left(to) : (fadesMs / (to - from)) * (left(to) - left(from))
}

function noteAll(rate: Rate, by: Ailments, { good, bad, owed, now }: Tally & { readonly owed: Tally; readonly now: number }): void {
  const share = Math.min(1, mostCalls / Math.max(1, good + bad))
  owed.good += good * share
  owed.bad += bad * share
  const bads = Math.floor(owed.bad)
  const calls = Math.floor(owed.good) + bads
  owed.bad -= bads
  owed.good -= calls - bads
  // Nobody said in what order they came: the bad ones stand evenly among the good.
  let due = calls / 2
  for (let call = 0; call < calls; call += 1) {
    due += bads
    const bad = due >= calls
    if (bad) due -= calls
    note(rate, by, { bad, now })
  }
}

/** As one answer moves a level, but many at once: their mean is surer than any of them where they agree, and old ones are less sure. */
function observeMean(latency: Latency, { from, to, counts }: Evidence, now: number): void {
  const mean = meanOf(counts.lnWaits, counts.waits)
  const answers = Math.min(counts.waits, mostAnswers)
  const theirs = varianceOf(counts, mean)
  const noise = Math.max(latency.scatter, theirs) / answers + wanders * Math.max(0, now - (from + to) / 2)
  if (latency.seen === 0) {
    latency.level = mean
    latency.longRun = mean
    latency.doubt = Math.min(mostDoubt, noise)
  } else {
    const level = levelNow(latency, now)
    const doubt = doubtNow(latency, now)
    const off = mean - level
    const most = surprising * Math.sqrt(doubt + noise)
    const isElsewhere = answers > 1 && Math.abs(off) > most
    const opened = isElsewhere ? Math.min(mostDoubt, off * off) : doubt
    const gain = opened / (opened + noise)
    latency.level = level + gain * (isElsewhere ? off : Math.min(Math.max(off, -most), most))
    latency.doubt = (1 - gain) * opened
    const stays = Math.max(1 - (1 - weights.longRun) ** answers, answers / (latency.seen + answers))
    latency.longRun += stays * (latency.level - latency.longRun)
  }
  if (answers > 1) {
    const within = Math.min(theirs, mostWider * latency.scatter)
    latency.scatter = Math.max(0.005, latency.scatter + (answers / (latency.seen + answers + scatterMass)) * (within - latency.scatter))
  }
  latency.seen += answers
  latency.at = now
}

/** Of a logarithm; whatever was told, it stays one that can be reckoned with. */
const meanOf = (sum: number, count: number): number => Math.min(mostLn, sum / count)

/** Of single answers, around their own mean. */
const varianceOf = ({ waits, lnWaitsSquared }: Readonly<Counts>, mean: number): number =>
  waits < 2 ? 0 : (Math.min(mostLn * mostLn, Math.max(0, lnWaitsSquared / waits - mean * mean)) * waits) / (waits - 1)

function blendMean(average: Average, { mean, seen }: { readonly mean: number; readonly seen: number }): void {
  if (seen <= 0) return
  average.seen += seen
  average.value += Math.max(1 - (1 - weights.speed) ** seen, seen / average.seen) * (mean - average.value)
}
