import { meanOf, type Trial } from './compare.ts'
import type { Figures } from './figures.ts'
import { oracle } from './oracle.ts'
import type { Policy } from './policy.ts'
import { simulate } from './simulate.ts'
import { worlds } from './worlds.ts'

/** How much is run. */
export interface Extent {
  readonly seeds: number
  readonly minutes: number
}

/** What a router loses in each world. */
export interface Outcome {
  /** Mean loss of each run. */
  readonly losses: readonly number[]
  /** By world: what it loses more than the oracle, as a share of what that loses. */
  readonly regrets: readonly number[]
  /** Attempts beyond one for each request, as a share of the requests. */
  readonly extra: number
}

export const rate = 8

/** The first seed: `pnpm bench routing`, by which the router was tuned, uses none of these. */
export const firstSeed = 501

export const served = ['calm', 'gray failure', 'outage', 'limits', 'cache'].flatMap(name => worlds.filter(world => world.name === name))

/** Lets each policy serve the same runs of the same worlds. */
export function measureIn({ seeds, minutes }: Extent): (policy: Policy) => Outcome {
  const trials = served.flatMap(world =>
    Array.from({ length: seeds }, (_, at): Trial => ({ world, run: { rate, minutes, seed: at + firstSeed } })),
  )
  const least = trials.map(({ world, run }) => simulate(world, oracle, run).meanLoss)
  return policy => {
    const figures = trials.map(({ world, run }) => simulate(world, policy, run))
    const losses = figures.map(({ meanLoss }) => meanLoss)
    const sum = (of: (figures: Figures) => number): number => figures.reduce((total, each) => total + of(each), 0)
    return {
      losses,
      regrets: served.map(world =>
        meanOf(losses.flatMap((loss, at) => (trials[at]?.world === world ? [loss / (least[at] ?? Number.NaN) - 1] : []))),
      ),
      extra: sum(({ attempts }) => attempts) / sum(({ requests }) => requests) - 1,
    }
  }
}
