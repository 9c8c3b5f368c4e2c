import { type Breaker, makeBreaker } from './breaker.ts'
import { type Capacity, makeCapacity } from './capacity.ts'
import { tuning } from './constants.ts'
import type { Fees } from './cost.ts'
import { type Counts, makeCounts } from './counts.ts'
import { type Latency, makeLatency } from './latency.ts'
import type { Attempt, RouterOffer } from './port.ts'
import { afterContent, beforeContent, makeRate, type Rate } from './rate.ts'
import { makeReading, type Reading } from './reading.ts'
import { type Average, makeAverage } from './speed.ts'

/** All that is believed of one offer. It is changed by what is seen of calls, and by nothing else. */
export interface Belief {
  /** Before first content: another can still answer. */
  readonly failing: Rate
  /** After it. */
  readonly breaking: Rate
  readonly latency: Latency
  readonly reading: Reading
  /** ln of tokens a second. */
  readonly speed: Average
  /** Milliseconds that a failure before first content takes. */
  readonly lost: Average
  /** Of failures before first content, the share that came of silence. */
  readonly hung: Average
  readonly capacity: Capacity
  readonly breaker: Breaker
  /** Share of what should be in its cache that is. */
  readonly warmth: Average
  /** Streams under way that have said nothing yet, the oldest first. */
  readonly silent: Set<Underway>
  /** What was seen of it here, and what others are told. */
  readonly counts: Counts
  /** When the latest of those calls went out that were answered. */
  provenAt: number
  /** Calls under way. */
  running: number
  /** Calls that ended in an answer or a fault. */
  heard: number
  /** When the last did. Before the first: when the belief was made. */
  heardAt: number
  /** When it may be asked next though it is not the best. */
  probeAt: number
  /** What may have been lost by not asking it since it was last asked, and the requests that this does not count yet. */
  missed: number
  passed: number
}

/** An offer and what is believed of it. */
export interface Contender {
  readonly offer: RouterOffer
  /** What it asks. */
  readonly fees: Fees
  readonly belief: Belief
}

/** A call, as those who learn from it see it. */
export interface Underway extends Attempt {
  readonly contender: Contender
  readonly stream: boolean
  readonly startedAt: number
  /** Tokens of its prompt that were not expected in a cache. */
  readonly coldTokens: number
  readonly warmTokens: number
  readonly inputTokens: number
  readonly cacheKey: string | undefined
  firstContentAt: number | undefined
  over: boolean
}

const { priorSpeed, priorLostMs, priorHung, priorHungMass, priorWarmth, priorWarmthMass } = tuning.averages

/** ln of the prior milliseconds and tokens a second: assumed for an offer without observations and without peers. */
export const usualLevel = Math.log(tuning.latency.priorMs)
/** Milliseconds that a failure takes, where none was seen. */
export const usualLostMs = priorLostMs
export const usualSpeed = Math.log(priorSpeed)

export const makeBelief = (at: number): Belief => ({
  failing: makeRate(at, beforeContent),
  breaking: makeRate(at, afterContent),
  latency: makeLatency(at, usualLevel),
  reading: makeReading(),
  speed: makeAverage(usualSpeed),
  lost: makeAverage(usualLostMs),
  hung: makeAverage(priorHung, priorHungMass),
  capacity: makeCapacity(at),
  breaker: makeBreaker(),
  // One miss must not end it: whoever is believed to keep nothing gets no conversation, and can never show that it does.
  warmth: makeAverage(priorWarmth, priorWarmthMass),
  silent: new Set(),
  counts: makeCounts(),
  provenAt: Number.NEGATIVE_INFINITY,
  running: 0,
  heard: 0,
  heardAt: at,
  probeAt: 0,
  missed: 0,
  passed: 0,
})
