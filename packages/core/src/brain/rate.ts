// How often something goes wrong: counts that forget, at two speeds. The fast ones see a fault within seconds, the slow ones
// keep a bad minute from looking like a bad provider.

export interface Rate {
  fastGood: number
  fastBad: number
  slowGood: number
  slowBad: number
  /** Good ones since the last bad one. */
  run: number
  /** When the counts were last brought up to date. */
  at: number
}

/** How a rate forgets, and what it is where nothing is known. */
export interface Forgetting {
  readonly fastMs: number
  readonly slowMs: number
  readonly usual: number
}

export const beforeContent: Forgetting = { fastMs: 20_000, slowMs: 240_000, usual: 0.008 }
export const afterContent: Forgetting = { fastMs: 60_000, slowMs: 1_200_000, usual: 0.001 }

/** Observations that `usual` weighs as much as; and the slow counts, where the fast ones have few. */
const usualMass = 15
const slowMass = 3
/** A run of good ones that the rate calls unlikelier than this has ended it: whoever recovers is not held to its past. */
const surprising = 0.1

export const makeRate = (at: number): Rate => ({ fastGood: 0, fastBad: 0, slowGood: 0, slowBad: 0, run: 0, at })

export function note(rate: Rate, { bad, now, by }: { readonly bad: boolean; readonly now: number; readonly by: Forgetting }): void {
  const before = expected(rate, now, by)
  const fast = Math.exp((rate.at - now) / by.fastMs)
  const slow = Math.exp((rate.at - now) / by.slowMs)
  rate.fastGood *= fast
  rate.fastBad *= fast
  rate.slowGood *= slow
  rate.slowBad *= slow
  rate.at = now
  if (bad) {
    rate.fastBad += 1
    rate.slowBad += 1
    rate.run = 0
    return
  }
  rate.fastGood += 1
  rate.slowGood += 1
  rate.run += 1
  if (before > 5 * by.usual && (1 - before) ** rate.run < surprising) {
    rate.fastBad = 0
    rate.slowBad *= 0.25
    rate.run = 0
  }
}

export const expected = (rate: Rate, now: number, by: Forgetting): number => expectedWith(rate, { now, by, given: 0 })

/** `given`: bad ones that have not been noted, since nobody has given them up yet. */
export function expectedWith(
  rate: Rate,
  { now, by, given }: { readonly now: number; readonly by: Forgetting; readonly given: number },
): number {
  const slow = longRun(rate, now, by)
  const kept = Math.exp((rate.at - now) / by.fastMs)
  const bad = rate.fastBad * kept + given
  return (bad + slowMass * slow) / (rate.fastGood * kept + bad + slowMass)
}

const longRun = (rate: Rate, now: number, by: Forgetting): number => {
  const kept = Math.exp((rate.at - now) / by.slowMs)
  const bad = rate.slowBad * kept
  return (bad + usualMass * by.usual) / (rate.slowGood * kept + bad + usualMass)
}
