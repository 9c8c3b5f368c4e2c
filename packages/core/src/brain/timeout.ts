import type { Belief } from './belief.ts'
import { tuning } from './constants.ts'
import { beyond, levelNow } from './latency.ts'
import { beforeContent, expected } from './rate.ts'
import { perToken } from './reading.ts'
import { knownAfter as knownOnce, type Looking } from './see.ts'
import type { Sight } from './sight.ts'

const {
  knownAfter,
  minStreamMs,
  minDoubtedMs,
  minWholeMs,
  patience,
  lengthPatience,
  unknownWholeFactor,
  wholeShare,
  hangOdds,
  minSilentShare,
  maxSilentShare,
} = tuning.timeouts

// When to give an offer up: after longer than nearly all its answers took, as long as somebody else is left to ask.

/** The share of answers that may be given up as slow, since so many calls are never answered. */
function silentShare({ failing, hung }: Belief, now: number): number {
  const never = Math.max(0, expected(failing, beforeContent, now) - failing.usual) * hung.value
  return Math.min(maxSilentShare, never / (1 - never) / hangOdds)
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
  const later = next ?? (doubted > minSilentShare ? spare : undefined)
  // Nobody else: all the time that there is.
  if (!later) return most
  const slowest = doubted > minSilentShare ? Math.exp(beyond(latency, doubted)) : patience * Math.exp(latency.p997)
  const longest = Math.exp(levelNow(latency, now)) * slowest + perToken(reading) * inputTokens
  if (stream) {
    const spare = leftMs - Math.exp(levelNow(later.latency, now) + later.latency.p95) - perToken(later.reading) * inputTokens
    const least = Math.max(Math.min(leastMs, spare), probing || doubted > minSilentShare ? minDoubtedMs : minStreamMs)
    const usual = latency.seen >= (probing ? knownOnce : knownAfter) ? Math.max(least, longest) : coldMs
    return Math.min(most, Math.max(least, Math.min(usual, spare)))
  }
  // A whole answer that takes long may only be long: whoever is asked then would need as long.
  if (cut) return most
  const isKnown = latency.seen >= knownAfter || speed.seen >= knownAfter
  const usual = isKnown
    ? Math.max(minWholeMs, leastMs, longest + (doubted > minSilentShare ? -Math.log(doubted) : lengthPatience) * sight.growingMs)
    : unknownWholeFactor * coldMs
  return Math.min(most, Math.max(minWholeMs, Math.min(usual, wholeShare * leftMs)))
}
