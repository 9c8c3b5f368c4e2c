import { createDice, type Dice, within } from './random-draws.ts'
import { type Fault, type FaultPlan, sixOffers, type World } from './world.ts'

const usual = { offers: sixOffers, rate: 8, minutes: 60, sessions: 0.4, drift: 0.15 } as const

export const calm: World = { ...usual, name: 'calm', faults: () => [] }

/** The favourites respond several times more slowly for ten minutes at a time, sometimes one of them, sometimes two. */
const brownOut: World = {
  ...usual,
  name: 'brown-out',
  faults: plan => inSpans(plan, dice => ({ slower: dice.between(3.5, 6.5) })),
}

/** The favourites are down: calls fail at once, after a while, or never return. */
const outage: World = {
  ...usual,
  name: 'outage',
  faults: plan => inSpans(plan, dice => pick(dice, outages)),
}

const outages = [{ errors: 1, errorMs: 60 }, { errors: 1, errorMs: 6_000 }, { hangs: 1 }] as const

/** The favourites look healthy to checks, but fail some of their calls. */
const gray: World = {
  ...usual,
  name: 'gray failure',
  faults: plan => inSpans(plan, dice => pick(dice, grayFailures)),
}

const grayFailures = [{ errors: 0.3 }, { hangs: 0.3 }, { breaks: 0.25 }, { longest: 2_500 }] as const

/** The favourites allow only a fraction of their usual rate. */
const limits: World = {
  ...usual,
  name: 'limits',
  offers: sixOffers.map(offer => ({ ...offer, requestsPerMinute: offer.requestsPerMinute / 2 })),
  faults: plan => inSpans(plan, dice => ({ limit: dice.between(0.08, 0.35) })),
}

/** Long conversations, and caches that cost a tenth at some offers. */
export const cache: World = {
  ...usual,
  name: 'cache',
  sessions: 0.85,
  offers: sixOffers.map((offer, index) => {
    const cached = [0.1, 0.5, 0.25, 0.1, 0.5, 0.1][index] ?? 1
    return { ...offer, price: { ...offer.price, cached: Math.round(offer.price.input * cached) } }
  }),
  faults: () => [],
}

export const worlds: readonly World[] = [calm, brownOut, outage, gray, limits, cache]

const pick = <T>(dice: Dice, from: readonly T[]): T | undefined => from[dice.below(from.length)]

type Trouble = Omit<Fault, 'offer' | 'fromMs' | 'toMs'>

/** Alternating good and bad minutes; bad ones usually hit the favourite, sometimes the second or both. */
export function inSpans({ seed, minutes, favourites }: FaultPlan, trouble: (dice: Dice) => Trouble | undefined): readonly Fault[] {
  const dice = createDice(within(seed, 404))
  const faults: Fault[] = []
  const best = favourites()
  for (let at = dice.between(3, 6); at < minutes; ) {
    const until = at + dice.between(8, 11)
    const hit = pick(dice, victims) ?? []
    for (const place of hit) {
      const offer = best[place]
      if (offer !== undefined) faults.push({ ...trouble(dice), offer, fromMs: at * 60_000, toMs: until * 60_000 })
    }
    at = until + dice.between(3, 7)
  }
  return faults
}

const victims = [[0], [0], [1], [0, 1], [0, 2]] as const
