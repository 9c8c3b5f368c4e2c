import type { Belief, Contender } from './belief.ts'
import { isClosed } from './breaker.ts'
import { tuning } from './constants.ts'
import { type Decision, isFree, lossOf } from './decide.ts'
import { levelNow, settledNow } from './latency.ts'
import { afterContent, beforeContent, inOrderNow, isHigh } from './rate.ts'
import { type Looking, newcomerTries, seeHopefully, unobservedMs } from './see.ts'
import type { Sight, Strategy } from './sight.ts'

const { recheckMs, risenBy, unobservedPauseMs, budgetPerRequest, maxBudget, tryPrice } = tuning.exploration
const { minDoubtedMs } = tuning.timeouts

// Whoever is not asked cannot show that it is better than it is believed to be. So real requests go to it now and then: where
// its usual form would win, once that has probably cost as much as a try; rarely where nobody has heard of it for long, at once
// where nobody ever has.

export interface Budget {
  saved: number
}

export const makeBudget = (): Budget => ({ saved: maxBudget })

export const earn = (budget: Budget): void => {
  budget.saved = Math.min(maxBudget, budget.saved + budgetPerRequest)
}

interface Known {
  readonly budget: Budget
  readonly strategy: Strategy
  readonly sights: readonly Sight[]
  readonly leader: () => Decision
  /** A call that is silent will be given up soon. */
  readonly brief: boolean
}

/** Of those whose turn it may be, the one that could be best; the choice then holds it against the best that is known. */
export function hopeAmong(contenders: readonly Contender[], looking: Looking, known: Known): Hope | undefined {
  let first: Decision | undefined
  let best: (Hope & { readonly loss: number }) | undefined
  for (let at = 0; at < contenders.length; at += 1) {
    const contender = contenders[at]
    const sight = known.sights[at]
    if (!contender || !sight) continue
    contender.belief.passed += 1
    if (!isDue(contender.belief, looking.now, known)) continue
    // Whoever is asked anyway need not be hoped for, and must not stand before those who do.
    first ??= known.leader()
    if (at === first.at) continue
    // One stranger at a time.
    if ((contenders[first.at]?.belief.heard ?? 0) < newcomerTries) return undefined
    const hope = seeHopefully(contender, looking)
    if (!isFree(hope)) continue
    const loss = lossOf(known.strategy, hope, contender.offer)
    const cost = lossOf(known.strategy, asTry(sight, looking), contender.offer) - first.loss
    if (!pays(contender.belief, looking.now, { gain: first.loss - loss, cost })) continue
    if (!best || loss < best.loss) best = { at, sight: hope, loss }
  }
  return best
}

/** A try of a stream is given up early, however long earlier attempts were waited for. */
const asTry = (sight: Sight, { stream }: Looking): Sight =>
  stream && sight.lostMs > minDoubtedMs ? { ...sight, lostMs: minDoubtedMs } : sight

interface Hope {
  readonly at: number
  readonly sight: Sight
}

/**
 * Each request that went elsewhere may have lost something: by how much the usual form is better, as likely as it is back.
 * A try is due once that is as much as it is expected to cost.
 */
function pays(belief: Belief, now: number, { gain, cost }: { readonly gain: number; readonly cost: number }): boolean {
  if (belief.heard < newcomerTries) return true
  belief.probeAt = now + recheckMs
  if (isUnheard(belief, now)) return true
  const slow = isSlow(belief, now) ? 1 - settledNow(belief.latency, now) : 0
  const back = inOrderNow(belief.failing, beforeContent, now) * inOrderNow(belief.breaking, afterContent, now) * (1 - slow)
  if (gain > 0) belief.missed += back * gain * belief.passed
  belief.passed = 0
  // What is expected of failures knows already that they may be over; a level does not.
  return belief.missed >= (slow > 0 ? slow * cost : cost)
}

function isDue(belief: Belief, now: number, { budget, brief }: Known): boolean {
  if (belief.running > 0 || now < belief.probeAt) return false
  if (belief.heard < newcomerTries) return brief
  if (isUnheard(belief, now)) return brief && budget.saved >= tryPrice
  return !isClosed(belief.breaker) || isFallen(belief, now)
}

const isUnheard = ({ heardAt }: Belief, now: number): boolean => now - heardAt > unobservedMs

const isSlow = ({ latency }: Belief, now: number): boolean => levelNow(latency, now) > latency.longRun + risenBy

const isFallen = (belief: Belief, now: number): boolean =>
  isHigh(belief.failing, beforeContent, now) || isHigh(belief.breaking, afterContent, now) || isSlow(belief, now)

/** It is asked, and will show what it is. */
export function asked(belief: Belief): void {
  belief.missed = 0
  belief.passed = 0
}

/** It is asked only to hear of it: the next time is later. */
export function probed(belief: Belief, now: number, budget: Budget): void {
  if (belief.heard < newcomerTries || !isUnheard(belief, now)) return
  budget.saved -= tryPrice
  belief.probeAt = now + unobservedPauseMs
}
