import type { Figures } from './figures.ts'
import { oracle } from './oracle.ts'
import type { Policy } from './policy.ts'
import { type Run, simulate } from './simulate.ts'
import type { World } from './world.ts'

/** Figures of one policy over several runs, all requests together. Shares from 0 to 1. */
export interface Pooled {
  readonly name: string
  /** By run: how much more it lost than the oracle, relative to the oracle's loss. */
  readonly regrets: readonly number[]
  readonly regret: number
  readonly success: number
  /** Milliseconds from arrival to first content of successful requests: median, 95th and 99th percentile. */
  readonly firstContentMs: readonly [number, number, number]
  /** USD per thousand successful requests. */
  readonly usd: number
  readonly extra: number
  readonly limited: number
  readonly warm: number
}

export interface Trial {
  readonly world: World
  readonly run: Run
}

export const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Runs the oracle and every policy on the same requests. The oracle comes first. */
export function compare(trials: readonly Trial[], policies: readonly Policy[]): readonly Pooled[] {
  const base = trials.map(({ world, run }) => simulate(world, oracle, run))
  const others = policies.map(policy => {
    const figures = trials.map(({ world, run }) => simulate(world, policy, run))
    return pool(policy.name, figures, base)
  })
  return [pool(oracle.name, base, base), ...others]
}

function pool(name: string, runs: readonly Figures[], base: readonly Figures[]): Pooled {
  const sum = (of: (figures: Figures) => number): number => runs.reduce((total, figures) => total + of(figures), 0)
  const regrets = runs.map(({ meanLoss }, index) => meanLoss / (base[index]?.meanLoss ?? Number.NaN) - 1)
  const [requests, served] = [sum(figures => figures.requests), sum(figures => figures.firstContentMs.length)]
  const waits = new Float64Array(served)
  let filled = 0
  for (const { firstContentMs } of runs) {
    waits.set(firstContentMs, filled)
    filled += firstContentMs.length
  }
  waits.sort()
  const beyond = (share: number): number => waits[Math.min(served - 1, Math.floor(served * share))] ?? Number.NaN
  return {
    name,
    regrets,
    regret: meanOf(regrets),
    success: served / requests,
    firstContentMs: [beyond(0.5), beyond(0.95), beyond(0.99)],
    usd: (1_000 * sum(figures => figures.usd)) / served,
    extra: sum(figures => figures.attempts) / requests - 1,
    limited: sum(figures => figures.limited) / sum(figures => figures.attempts),
    warm: sum(figures => figures.cachedTokens) / sum(figures => figures.promptTokens),
  }
}
