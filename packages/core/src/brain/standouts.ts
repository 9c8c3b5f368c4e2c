import type { Sight } from './sight.ts'

/** That an attempt gives no whole answer in time, by all that may go wrong: 0 to 1. */
export const riskOf = ({ failure, breaking, lateness }: Sight): number => 1 - (1 - failure) * (1 - breaking) * (1 - lateness)

/** Who stands out by one number alone: places among the sights. Of equals the one that stands earlier. */
export interface Standouts {
  readonly cheapest: number
  readonly fastest: number
  readonly mostReliable: number
}

export const standoutsOf = (sights: readonly Sight[]): Standouts => ({
  cheapest: least(sights, ({ cost }) => cost),
  fastest: least(sights, ({ firstContentMs }) => firstContentMs),
  mostReliable: least(sights, riskOf),
})

function least(sights: readonly Sight[], by: (sight: Sight) => number): number {
  let best = 0
  let lowest = Number.POSITIVE_INFINITY
  for (const [at, sight] of sights.entries()) {
    const number = by(sight)
    if (number >= lowest) continue
    best = at
    lowest = number
  }
  return best
}
