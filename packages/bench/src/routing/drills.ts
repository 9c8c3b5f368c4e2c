import { medianOf } from '../numbers.ts'
import type { Figures } from './figures.ts'
import type { Policy } from './policy.ts'
import { simulate } from './simulate.ts'
import { type Fault, type RequestSize, sixOffers, type TrueOffer, type World } from './world.ts'

// One offer that every policy should prefer, and one thing that happens to it, so that the reaction of a policy can be measured.

type Trouble = Omit<Fault, 'offer' | 'fromMs' | 'toMs'>

/** What can happen to the favourite, by name. */
export const troubles: Readonly<Record<string, Trouble>> = {
  outage: { errors: 1, errorMs: 60 },
  hang: { hangs: 1 },
  'brown-out ×5': { slower: 5 },
  '30 % errors': { errors: 0.3 },
  '30 % hangs': { hangs: 0.3 },
  '25 % breaks': { breaks: 0.25 },
}

export const minuteMs = 60_000
const fault = { fromMs: 10 * minuteMs, toMs: 20 * minuteMs }

const [, birch, cedar, elm] = sixOffers as readonly [TrueOffer, TrueOffer, TrueOffer, TrueOffer]
/** The index of the offer that every policy should prefer. */
export const favourite = 0
/** The first is the cheapest and the fastest, so every policy should prefer it. */
const offers: readonly TrueOffer[] = [
  { ...birch, id: 'oak', firstContentMs: 400, msPerToken: 0.05, tokensPerSecond: 120, breaks: 0.0004 },
  { ...cedar, firstContentMs: 600, price: { input: 800_000, output: 2_600_000, cached: 400_000 } },
  { ...birch, firstContentMs: 1_000, price: { input: 650_000, output: 2_200_000, cached: 325_000 } },
  elm,
].map(offer => ({ ...offer, requestsPerMinute: 3_000 }))

/** A world of these offers, in which only these faults happen. */
export const drill = (faults: readonly Fault[], size?: RequestSize): World => ({
  name: 'drill',
  offers,
  rate: 8,
  minutes: 30,
  sessions: size ? 0 : 0.4,
  ...(size && { size }),
  drift: 0,
  faults: () => faults,
})

export interface Met {
  /** First attempts that went to the favourite while it was broken, and their share of all first attempts then. */
  readonly attempts: number
  readonly share: number
  /** 95th percentile of milliseconds to first content of requests that arrived then, including failures. */
  readonly slowMs: number
  /** Share of requests that arrived then and failed. */
  readonly failed: number
}

/** The favourite breaks for ten minutes: how many requests still go to it, and what happens to requests that arrive then. Mean over the seeds. */
export function meet(policy: Policy, trouble: Trouble, { rate, seeds }: { readonly rate: number; readonly seeds: number }): Met {
  const world = drill([{ ...trouble, offer: favourite, ...fault }])
  let [attempts, arrived, failed] = [0, 0, 0]
  const waits: number[] = []
  for (let seed = 1; seed <= seeds; seed += 1) {
    const figures = simulate(world, policy, { seed, rate, minutes: 22 })
    figures.arrivedMs.forEach((atMs, index) => {
      if (atMs < fault.fromMs || atMs >= fault.toMs) return
      arrived += 1
      if (figures.firstAsked[index] === favourite) attempts += 1
      if (figures.succeeded[index] === 0) failed += 1
      waits.push(figures.waitedMs[index] ?? 0)
    })
  }
  const slowMs = Float64Array.from(waits).sort()[Math.floor(waits.length * 0.95)] ?? Number.NaN
  return { attempts: attempts / seeds, share: attempts / arrived, slowMs, failed: failed / arrived }
}

export interface Back {
  /** Seconds until the favourite gets its traffic back: median and maximum over the seeds. Infinite: not within the run. */
  readonly usual: number
  readonly longest: number
}

interface DrillOptions {
  readonly rate: number
  readonly seeds: number
  /** All requests have this size, and none belongs to a conversation. */
  readonly size?: RequestSize
}

/** The favourite has recovered after ten minutes: when does it get its traffic back? */
export function recover(policy: Policy, trouble: Trouble, options: DrillOptions): Back {
  return back(policy, { ...trouble, offer: favourite, ...fault }, options)
}

/** An offer that was always slow becomes the best after half an hour: when is that noticed? */
export function improve(policy: Policy, { rate, seeds }: { readonly rate: number; readonly seeds: number }): Back {
  return back(policy, { slower: 4, offer: favourite, fromMs: 0, toMs: 30 * minuteMs }, { rate, seeds })
}

function back(policy: Policy, trouble: Fault, { rate, seeds, size }: DrillOptions): Back {
  const minutes = trouble.toMs / minuteMs + 30
  const found = Array.from({ length: seeds }, (_, index) => {
    return secondsUntilBack(simulate(drill([trouble], size), policy, { seed: index + 1, rate, minutes }), trouble.toMs)
  })
  return { usual: medianOf(found), longest: Math.max(...found) }
}

const enough = { of: 20, at: 16 }

/**
 * When 16 of 20 requests go to the favourite again. Conversations are excluded, because they should stay where their prompt is cached. A
 * policy that spreads its traffic never gets there.
 */
function secondsUntilBack(figures: Figures, fromMs: number): number {
  const later: number[] = []
  figures.arrivedMs.forEach((atMs, index) => {
    if (atMs >= fromMs && figures.keyed[index] === 0) later.push(index)
  })
  let there = 0
  for (let at = 0; at < later.length; at += 1) {
    if (figures.firstAsked[later[at] ?? 0] === favourite) there += 1
    const first = at - enough.of
    if (first >= 0 && figures.firstAsked[later[first] ?? 0] === favourite) there -= 1
    if (there >= enough.at && first >= -1) return ((figures.arrivedMs[later[first + 1] ?? 0] ?? 0) - fromMs) / 1_000
  }
  return Number.POSITIVE_INFINITY
}
