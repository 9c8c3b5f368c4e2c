import type { Belief } from './belief.ts'
import { beyond, levelNow } from './latency.ts'
import { beforeContent, expected } from './rate.ts'
import { perToken } from './reading.ts'
import { known, type Looking } from './see.ts'
import type { Sight } from './sight.ts'

// When to give an offer up: after longer than nearly all its answers took, as long as somebody else is left to ask.

/** Answers after which the longest of them are known. */
const seenEnough = 10
const shortestMs = 2_500
const shortestDoubtedMs = 1_000
const shortestWholeMs = 10_000
/** How much longer than the longest of its usual answers may take. */
const patience = 2
/** A whole answer may be so many times longer than usual. */
const lengthPatience = 10
/** An offer that is hardly known gets so much longer for a whole answer than for its first content. */
const wholePatience = 4
/** Of a whole answer, the share of the time left that one attempt may take. */
const wholeShare = 0.55

/** Whoever leaves calls unanswered is given up once it is so many times likelier that this is one of them than that it is slow. */
const surely = 4
/** Beyond this share of answers too few were seen to tell, and fewer than all but this are always waited for. */
const rarely = 0.003
const often = 0.08

/** The share of answers that may be given up as slow, since so many calls are never answered. */
function silentShare({ failing, hung }: Belief, now: number): number {
  const never = expected(failing, beforeContent, now) * hung.value
  return Math.min(often, never / (1 - never) / surely)
}

interface Seen {
  readonly belief: Belief
  readonly sight: Sight
}

interface Bounds {
  readonly looking: Looking
  /** The caller's, or the gateway's. */
  readonly ceilingMs: number
  /** Of an offer that is hardly known. */
  readonly coldMs: number
  /** An attempt of the request has been given up already. */
  readonly cut: boolean
  /** No learned time-out is shorter. */
  readonly leastMs: number
  /** Somebody who has failed the request already: better than whoever leaves calls unanswered. */
  readonly spare: Belief | undefined
}

/** `next`: who would be asked then; nothing where nobody is left who has not failed. */
export function timeoutOf(
  { belief, sight, probing }: Seen & { readonly probing: boolean },
  next: Belief | undefined,
  { looking, ceilingMs, coldMs, cut, leastMs, spare }: Bounds,
): number {
  const { leftMs, stream, now, inputTokens } = looking
  const most = Math.max(1, Math.min(ceilingMs, leftMs))
  const { latency, reading, speed } = belief
  const doubted = silentShare(belief, now)
  const later = next ?? (doubted > rarely ? spare : undefined)
  // Nobody else: all the time that there is.
  if (!later) return most
  const slowest = doubted > rarely ? Math.exp(beyond(latency, doubted)) : patience * Math.exp(latency.p997)
  const longest = Math.exp(levelNow(latency, now)) * slowest + perToken(reading) * inputTokens
  if (stream) {
    const spare = leftMs - Math.exp(levelNow(later.latency, now) + later.latency.p95) - perToken(later.reading) * inputTokens
    const least = Math.max(Math.min(leastMs, spare), probing || doubted > rarely ? shortestDoubtedMs : shortestMs)
    const usual = latency.seen >= (probing ? known : seenEnough) ? Math.max(least, longest) : coldMs
    return Math.min(most, Math.max(least, Math.min(usual, spare)))
  }
  // A whole answer that takes long may only be long: whoever is asked then would need as long.
  if (cut) return most
  const isKnown = latency.seen >= seenEnough || speed.seen >= seenEnough
  const usual = isKnown
    ? Math.max(shortestWholeMs, leastMs, longest + (doubted > rarely ? -Math.log(doubted) : lengthPatience) * sight.growingMs)
    : wholePatience * coldMs
  return Math.min(most, Math.max(shortestWholeMs, Math.min(usual, wholeShare * leftMs)))
}
