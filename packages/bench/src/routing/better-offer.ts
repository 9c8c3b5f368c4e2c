import { meanOf } from './compare.ts'
import { drill, favourite, minuteMs, troubles } from './drills.ts'
import type { Figures } from './figures.ts'
import { oracle } from './oracle.ts'
import type { Policy } from './policy.ts'
import { simulate } from './simulate.ts'
import type { Fault } from './world.ts'

// How much traffic the best offer has, by the rate of requests, once it is the best.

const outage = { ...troubles.outage, offer: favourite, fromMs: 5 * minuteMs, toMs: 10 * minuteMs }

/** How an offer becomes the best, by name. Undefined: it is from the first request on, and no offer is known yet. */
export const beginnings: Readonly<Record<string, Fault | undefined>> = {
  'all offers are new': undefined,
  'its outage is over': outage,
  'its brown-out ×5 is over': { ...outage, ...troubles['brown-out ×5'], errors: 0 },
  'it was always slow ×4': { slower: 4, offer: favourite, fromMs: 0, toMs: 5 * minuteMs },
}

export interface Traffic {
  /** Share of the requests outside conversations whose first attempt goes to the best offer: the mean over the seeds, and the least. */
  readonly share: number
  readonly least: number
  /** How much more all requests of these seconds lose than with the oracle, relative to its loss. The first call simulates the oracle. */
  regret(): number
}

export interface TrafficOptions {
  readonly rate: number
  readonly seeds: number
  readonly firstSeed: number
}

/**
 * The traffic of the best offer in its first seconds, for each of these numbers of seconds. Conversations are excluded from the share: they
 * stay where their prompt is cached.
 */
export function trafficOfBest(
  policy: Policy,
  { beginning, seconds }: { readonly beginning: Fault | undefined; readonly seconds: readonly number[] },
  { rate, seeds, firstSeed }: TrafficOptions,
): readonly Traffic[] {
  const runs = Array.from({ length: seeds }, (_, index) => {
    // Trials follow a schedule. If each fault ended at the same time, one rate would always meet a trial sooner than another.
    const fault = beginning && { ...beginning, toMs: beginning.toMs + (index % 10) * 6_000 }
    const fromMs = fault?.toMs ?? 0
    const run = { seed: firstSeed + index, rate, minutes: (fromMs + 1_000 * Math.max(...seconds)) / minuteMs }
    const world = drill(fault ? [fault] : [])
    let least: Figures | undefined
    return { fromMs, figures: simulate(world, policy, run), ofOracle: () => (least ??= simulate(world, oracle, run)) }
  })
  return seconds.map(each => {
    const forMs = each * 1_000
    const shares = runs.map(({ figures, fromMs }) => shareOfBest(figures, fromMs, forMs))
    const regret = (): number => {
      const lost = runs.reduce((sum, { figures, fromMs }) => sum + lossIn(figures, fromMs, forMs), 0)
      const least = runs.reduce((sum, { ofOracle, fromMs }) => sum + lossIn(ofOracle(), fromMs, forMs), 0)
      return lost / least - 1
    }
    return { share: meanOf(shares), least: Math.min(...shares), regret }
  })
}

function shareOfBest({ arrivedMs, keyed, firstAsked }: Figures, fromMs: number, forMs: number): number {
  let [counted, there] = [0, 0]
  for (let at = 0; at < arrivedMs.length; at += 1) {
    const sinceMs = (arrivedMs[at] ?? 0) - fromMs
    if (sinceMs < 0 || sinceMs >= forMs || keyed[at] === 1) continue
    counted += 1
    if (firstAsked[at] === favourite) there += 1
  }
  // Without requests, none went elsewhere.
  return counted === 0 ? 1 : there / counted
}

function lossIn({ arrivedMs, losses }: Figures, fromMs: number, forMs: number): number {
  let sum = 0
  for (let at = 0; at < arrivedMs.length; at += 1) {
    const sinceMs = (arrivedMs[at] ?? 0) - fromMs
    if (sinceMs >= 0 && sinceMs < forMs) sum += losses[at] ?? 0
  }
  return sum
}
