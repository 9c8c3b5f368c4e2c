import { meanOf, type Trial } from './compare.ts'
import type { Figures } from './figures.ts'
import { oracle } from './oracle.ts'
import type { Policy } from './policy.ts'
import { simulate } from './simulate.ts'
import { worlds } from './worlds.ts'

/** The size of the measurement. */
export interface Extent {
  readonly seeds: number
  readonly minutes: number
}

/** The loss of a router in each world. */
export interface Outcome {
  /** Mean loss of each run. */
  readonly losses: readonly number[]
  /** By world: how much more it loses than the oracle, relative to the oracle's loss. */
  readonly regrets: readonly number[]
  /** Attempts beyond one per request, as a share of the requests. */
  readonly extra: number
}

export const rate = 8

/** The first seed. None of these is used by `pnpm bench routing`, with which the router was tuned. */
export const firstSeed = 501

export const served = ['calm', 'gray failure', 'outage', 'limits', 'cache'].flatMap(name => worlds.filter(world => world.name === name))

/** Runs each policy on the same runs of the same worlds. */
export function measureIn({ seeds, minutes }: Extent): (policy: Policy) => Outcome {
  const trials = served.flatMap(world =>
    Array.from({ length: seeds }, (_, index): Trial => ({ world, run: { rate, minutes, seed: index + firstSeed } })),
  )
  const least = trials.map(({ world, run }) => simulate(world, oracle, run).meanLoss)
  return policy => {
    const figures = trials.map(({ world, run }) => simulate(world, policy, run))
    const losses = figures.map(({ meanLoss }) => meanLoss)
    const sum = (of: (figures: Figures) => number): number => figures.reduce((total, each) => total + of(each), 0)
    return {
      losses,
      regrets: served.map(world =>
        meanOf(losses.flatMap((loss, index) => (trials[index]?.world === world ? [loss / (least[index] ?? Number.NaN) - 1] : []))),
      ),
      extra: sum(({ attempts }) => attempts) / sum(({ requests }) => requests) - 1,
    }
  }
}
