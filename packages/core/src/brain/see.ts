import type { Warm } from './affinity.ts'
import { type Belief, type Contender, usualLevel, usualLostMs, usualSpeed } from './belief.ts'
import { restOf } from './breaker.ts'
import { headroomNow, scarcityNow, waitFor } from './capacity.ts'
import { tuning } from './constants.ts'
import { expectedCost, typicalCost, type Use } from './cost.ts'
import { doubtNow, levelNow, rarity, shareBeyond } from './latency.ts'
import { afterContent, beforeContent, expected, expectedIf } from './rate.ts'
import { perToken } from './reading.ts'
import type { Sight } from './sight.ts'

const { maxUnobservedSpeedup, newcomerSpeedup, coldQueueShare, wholeHangFactor, optimism, maxSilentCalls, changeOdds, silenceLasts } =
  tuning.estimate

/** What a request brings to each look. */
export interface Looking extends Use {
  readonly now: number
  readonly stream: boolean
  /** Milliseconds that the request has left; infinite: all the time. */
  readonly leftMs: number
  /** Milliseconds for which it may stand in line for an offer that is full. */
  readonly patienceMs: number
  /** The best that is known of the others: what somebody new is taken for. */
  readonly best: Best
}

export interface Best {
  /** ln of milliseconds to first content. */
  readonly level: number
  /** ln of tokens a second. */
  readonly speed: number
}

export const { knownAfter, newcomerTries, unobservedMs } = tuning.estimate

/** Nobody stands in line for longer, whatever the offer says. */
const longestLineMs = 30_000

/** What an offer looks like for a request: beliefs, brought up to now. */
export function see({ fees, belief }: Contender, looking: Looking): Sight {
  const { now, stream, best, inputTokens, outputTokens, warm } = looking
  const { latency } = belief
  const isKnown = latency.seen >= knownAfter
  const silence = silenceOf(belief, now)
  const level =
    silence.level ?? (isKnown ? levelNow(latency, now) - optimism * Math.sqrt(doubtNow(latency, now)) : Math.min(best.level, usualLevel))
  const cold = inputTokens - Math.min(warm, inputTokens) * belief.warmth.value
  const firstContentMs = Math.exp(level) * latency.tail + perToken(belief.reading) * cold
  const speed = belief.speed.seen >= knownAfter ? belief.speed.value : Math.max(best.speed, belief.speed.value)
  const growingMs = (outputTokens / Math.exp(speed)) * 1_000
  const heldMs = waitFor(belief.capacity, now)
  const leftMs = looking.leftMs - Math.min(heldMs, longestLineMs) - (stream ? 0 : growingMs)
  const inLine = heldMs <= (warm > 0 ? looking.patienceMs : looking.patienceMs * coldQueueShare) ? heldMs : 0
  const { given } = silence
  const failure = given === 0 ? expected(belief.failing, beforeContent, now) : expectedIf(belief.failing, beforeContent, { now, given })
  const breaking = expected(belief.breaking, afterContent, now)
  return {
    cost: Math.fround(expectedCost(fees, looking, belief.warmth)),
    // The wait for a place counts like any other.
    firstContentMs: Math.fround(Math.min(heldMs, longestLineMs) + firstContentMs),
    growingMs: Math.fround(growingMs),
    // Of a whole answer nothing was seen when it breaks off: another can be asked.
    failure: Math.fround(stream ? failure : 1 - (1 - failure) * (1 - breaking)),
    lostMs: Math.fround(stream ? belief.lost.value : belief.lost.value + belief.hung.value * wholeHangFactor * growingMs),
    breaking: Math.fround(stream ? breaking : 0),
    lateness: leftMs > leisurely * firstContentMs ? 0 : Math.fround(lateness(belief, { leftMs, level, firstContentMs })),
    heldMs: Math.fround(heldMs - inLine),
    restingMs: Math.fround(restOf(belief.breaker, now)),
    headroom: Math.fround(headroomNow(belief.capacity, now)),
    warmTokens: Math.fround(warm),
    unheardMs: Math.fround(Math.min(now - belief.heardAt, 1e9)),
    scarcity: Math.fround(scarcityNow(belief.capacity, now) * typicalCost(fees[0] as number, fees[1] as number)),
  }
}

/** The same offer in its usual form, and as fast as the best: what it could be, if its troubles are over. */
export function seeHopefully({ fees, belief }: Contender, looking: Looking): Sight {
  const { now, best, inputTokens, outputTokens } = looking
  const { latency } = belief
  looking.warm = 0
  // Unheard for minutes, it may have become as good as anyone; heard but a few times, it may only have been unlucky.
  const long = now - belief.heardAt > unobservedMs || belief.heard === 0
  const today = levelNow(latency, now)
  const level = long
    ? Math.min(latency.longRun, best.level) - maxUnobservedSpeedup
    : Math.min(latency.longRun, today) - (latency.seen < newcomerTries ? newcomerSpeedup : 0)
  const speed = long ? Math.max(best.speed, belief.speed.value) : belief.speed.value
  return {
    cost: Math.fround(expectedCost(fees, looking, belief.warmth)),
    firstContentMs: Math.fround(Math.exp(level) * latency.tail + perToken(belief.reading) * inputTokens),
    growingMs: Math.fround((outputTokens / Math.exp(speed)) * 1_000),
    failure: Math.fround(Math.min(belief.failing.usual, beforeContent.usual)),
    lostMs: Math.fround(Math.min(belief.lost.value, usualLostMs)),
    breaking: looking.stream ? Math.fround(Math.min(belief.breaking.usual, afterContent.usual)) : 0,
    lateness: 0,
    heldMs: Math.fround(waitFor(belief.capacity, now)),
    restingMs: Math.fround(restOf(belief.breaker, now)),
    headroom: Math.fround(headroomNow(belief.capacity, now)),
    warmTokens: 0,
    unheardMs: Math.fround(Math.min(now - belief.heardAt, 1e9)),
    scarcity: Math.fround(scarcityNow(belief.capacity, now) * typicalCost(fees[0] as number, fees[1] as number)),
  }
}

interface Silence {
  /** The level that the silent calls speak for; nothing where they say nothing. */
  readonly level: number | undefined
  /** Failures that they stand for. */
  readonly given: number
}

/**
 * Unanswered calls tell something too. One that is silent for longer than most answers take is no news; several are, or one
 * that is silent for longer than any. Held against how often that happens anyway, they pull the level up to where they stand,
 * and those beyond nearly all answers count as failures.
 */
function silenceOf({ silent, latency, reading, provenAt }: Belief, now: number): Silence {
  if (silent.size === 0) return nothingSilent
  const level = levelNow(latency, now)
  let odds = changeOdds
  let longest = level
  let overdue = 0
  let at = 0
  for (const call of silent) {
    const age = now - call.startedAt - perToken(reading) * call.coldTokens
    const off = Math.log(Math.max(1, age)) - level
    if (off < latency.p92) break
    if (off > latency.p996) overdue += 1
    at += 1
    if (at >= maxSilentCalls) break
    // Once a later call was answered, an earlier one that is silent says nothing of the level: it is only slow, or lost.
    if (call.startedAt < provenAt) continue
    odds *= rarity(latency, off)
    longest = Math.max(longest, level + off + silenceLasts)
  }
  if (at === 0) return nothingSilent
  const sure = odds / (1 + odds)
  return { level: level + sure * (longest - level), given: overdue }
}

const nothingSilent: Silence = { level: undefined, given: 0 }

/** So many times the usual wait is beyond all but a few answers. */
const leisurely = 6

function lateness(
  { latency, reading }: Belief,
  { leftMs, level, firstContentMs }: { readonly leftMs: number; readonly level: number; readonly firstContentMs: number },
): number {
  if (leftMs <= 0) return 1
  const reads = firstContentMs - Math.exp(level) * latency.tail
  return shareBeyond(latency, Math.log(Math.max(1, leftMs - (perToken(reading) > 0 ? reads : 0))) - level)
}

/** The best that is known of any. */
export function bestOf(among: readonly Contender[], now: number): Best {
  let level = Number.POSITIVE_INFINITY
  let speed = Number.NEGATIVE_INFINITY
  for (const { belief } of among) {
    if (belief.latency.seen >= knownAfter) level = Math.min(level, levelNow(belief.latency, now))
    if (belief.speed.seen >= knownAfter) speed = Math.max(speed, belief.speed.value)
  }
  return { level: Number.isFinite(level) ? level : usualLevel, speed: Number.isFinite(speed) ? speed : usualSpeed }
}

/** How long a prompt that was read stays in a cache, where the offer does not say. */
const usualCacheMs = 300_000

/** Tokens of the conversation that the offer has probably in its cache. */
export function warmAt(readers: readonly Warm[], { offer }: Contender, now: number): number {
  for (const { id, tokens, at } of readers) if (id === offer.id) return now - at < (offer.cacheMs ?? usualCacheMs) ? tokens : 0
  return 0
}
