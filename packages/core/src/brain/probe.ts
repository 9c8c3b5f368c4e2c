import type { Belief, Contender } from './belief.ts'
import { isClosed } from './breaker.ts'
import { isFree, lossOf } from './decide.ts'
import { levelNow } from './latency.ts'
import { afterContent, beforeContent, isHigh } from './rate.ts'
import { type Looking, longSilenceMs, seeHopefully, tries } from './see.ts'
import type { Sight, Strategy } from './sight.ts'

// Whoever is not asked cannot show that it is better than it is believed to be. So real requests go to it now and then: soon
// and often where its usual form would win, rarely where nobody has heard of it for long, at once where nobody ever has.

const firstMs = 5_000
const growth = 1.6
const longestMs = 25_000
const againMs = 2_000
/** How far above its long run a level is that of someone who fell, as a logarithm. */
const fallenBy = 0.2
/** What a request adds to what may be spent on probes, and the most that is saved up. */
const perRequest = 0.04
const mostSaved = 2
/** A probe of someone who fell, and of one who is only unheard of. */
const price = { fallen: 1, unheard: 2 }

export interface Budget {
  saved: number
}

export const makeBudget = (): Budget => ({ saved: mostSaved })

export const earn = (budget: Budget): void => {
  budget.saved = Math.min(mostSaved, budget.saved + perRequest)
}

/** Of those whose turn it may be, the one that could be best; the choice then holds it against the best that is known. */
export function hopeAmong(
  contenders: readonly Contender[],
  looking: Looking,
  { budget, strategy, leader }: { readonly budget: Budget; readonly strategy: Strategy; readonly leader: () => number },
): Hope | undefined {
  let first: number | undefined
  let best: (Hope & { readonly loss: number }) | undefined
  for (let at = 0; at < contenders.length; at += 1) {
    const contender = contenders[at]
    if (!contender || !isDue(contender.belief, looking.now, budget)) continue
    // Whoever is asked anyway need not be hoped for, and must not stand before those who do.
    first ??= leader()
    if (at === first) continue
    // One stranger at a time.
    if ((contenders[first]?.belief.heard ?? 0) < tries) return undefined
    const sight = seeHopefully(contender, looking)
    if (!isFree(sight)) continue
    const loss = lossOf(strategy, sight, contender.offer)
    // Looked at again in a while: what could not win now will not win with the next request either.
    if (contender.belief.heard >= tries) contender.belief.probeAt = looking.now + againMs
    if (!best || loss < best.loss) best = { at, sight, loss }
  }
  return best
}

interface Hope {
  readonly at: number
  readonly sight: Sight
}

function isDue(belief: Belief, now: number, { saved }: Budget): boolean {
  if (belief.running > 0 || now < belief.probeAt) return false
  if (belief.heard < tries) return true
  if (isUnheard(belief, now)) return saved >= price.unheard
  // Who has just answered as well as was hoped costs no more than anyone: only hopes that fail have to be paid for.
  return (belief.probeMs === 0 || saved >= price.fallen) && (!isClosed(belief.breaker) || isFallen(belief, now))
}

const isUnheard = ({ heardAt }: Belief, now: number): boolean => now - heardAt > longSilenceMs

const isFallen = ({ failing, breaking, latency }: Belief, now: number): boolean =>
  isHigh(failing, beforeContent, now) || isHigh(breaking, afterContent, now) || levelNow(latency, now) > latency.longRun + fallenBy

/** It is being tried: the next time is later. */
export function probed(belief: Belief, now: number, budget: Budget): void {
  if (belief.heard < tries) return
  const unheard = isUnheard(belief, now)
  if (belief.probeMs > 0 || unheard) budget.saved -= unheard ? price.unheard : price.fallen
  belief.probeMs = Math.min(longestMs, Math.max(firstMs, belief.probeMs * growth))
  belief.probeAt = now + belief.probeMs
}

/** It answered as well as was hoped: it may be tried again at once, so that a few such answers restore it. */
export function lived(belief: Belief, now: number): void {
  belief.probeMs = 0
  belief.probeAt = now
}

/** It did not break off this time. It may be tried again at once, but such tries are dear: each has to be saved up for. */
export function endured(belief: Belief, now: number): void {
  belief.probeMs = firstMs
  belief.probeAt = now
}

/** It failed: the next try is not the very next request. */
export function fell(belief: Belief, now: number): void {
  belief.probeMs = Math.max(belief.probeMs, firstMs)
  belief.probeAt = Math.max(belief.probeAt, now + belief.probeMs)
}

/** It broke off in the middle of an answer, which nothing can mend: the next try comes late. */
export function fellAgain(belief: Belief, now: number): void {
  belief.probeMs = longestMs
  belief.probeAt = now + longestMs
}
