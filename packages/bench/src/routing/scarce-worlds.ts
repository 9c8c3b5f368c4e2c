import { createDice, within } from './random-draws.ts'
import { type Fault, type FaultPlan, sixOffers, type TrueOffer, type World } from './world.ts'

// Worlds in which slots are scarce: the offers that are left grant about as many requests per minute as come, or fewer.

const [alder, birch, cedar, elm, larch] = sixOffers as readonly [TrueOffer, TrueOffer, TrueOffer, TrueOffer, TrueOffer]

/** Cheap and fast, so that it has nearly all traffic. */
const favourite: TrueOffer = {
  ...birch,
  id: 'oak',
  price: { input: 400_000, output: 1_300_000, cached: 100_000 },
  firstContentMs: 400,
  tokensPerSecond: 120,
  requestsPerMinute: 60_000,
  tells: 'nothing',
}

const limitedTo = (offer: TrueOffer, requestsPerMinute: number): TrueOffer => ({ ...offer, requestsPerMinute })

/** Together they grant 256 requests a minute. */
const three = [limitedTo(cedar, 122), limitedTo(alder, 31), limitedTo(elm, 103)] as const

const usual = { minutes: 40, rate: 200 / 60, sessions: 0.4, drift: 0.15 } as const
const dead = { errors: 1, errorMs: 60 }
/** Ten minutes in the middle, in which about as many requests come as on average. */
const middle = { fromMs: 15 * 60_000, toMs: 25 * 60_000 }

export const scarceWorlds: readonly World[] = [
  {
    ...usual,
    name: 'the favourite is down, the others are nearly full',
    offers: [favourite, ...three],
    faults: () => [{ ...dead, ...middle, offer: 0 }],
  },
  {
    ...usual,
    name: 'the favourite is down, the others are more than full',
    offers: [favourite, limitedTo(cedar, 90)],
    faults: () => [{ ...dead, ...middle, offer: 0 }],
  },
  {
    ...usual,
    name: 'one of four limited offers is down',
    offers: [limitedTo(favourite, 150), ...three],
    faults: () => [{ ...dead, ...middle, offer: 0 }],
  },
  {
    ...usual,
    name: 'all offers are limited',
    offers: [limitedTo(favourite, 60), ...three],
    faults: () => [],
  },
  {
    ...usual,
    name: 'two favourites are down',
    offers: [favourite, limitedTo({ ...birch, tells: 'nothing' }, 400), ...three],
    faults: () => [
      { ...dead, ...middle, offer: 0 },
      { ...dead, ...middle, offer: 1 },
    ],
  },
  {
    ...usual,
    name: 'limits change',
    offers: [limitedTo(favourite, 150), ...three, limitedTo(larch, 90)],
    faults: changes,
  },
]

/** Every few minutes each offer grants another share of its limit. */
function changes({ seed, minutes }: FaultPlan): readonly Fault[] {
  return [0, 1, 2, 3, 4].flatMap(offer => {
    const dice = createDice(within(within(seed, 707), offer))
    const faults: Fault[] = []
    for (let at = 0; at < minutes; ) {
      const until = at + dice.between(2, 5)
      faults.push({ offer, fromMs: at * 60_000, toMs: until * 60_000, limit: dice.between(0.3, 1.2) })
      at = until
    }
    return faults
  })
}
