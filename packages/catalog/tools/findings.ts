import { dayMs, type Model, type Offer, type Price, type Rates } from '@signalbox/dialects/protocol'
import { type Catalog, CatalogError, staleDays } from '../src/index.ts'
import { readCatalog } from '../src/schema/index.ts'

export interface Checked {
  /** A one-line summary of its content. */
  readonly summary: string
  /** Why it cannot be used. */
  readonly errors: readonly string[]
  /** What should be reviewed. */
  readonly warnings: readonly string[]
}

export interface Terms {
  /** `2026-09-30` */
  readonly today: string
  /** Dialects that the gateway supports. */
  readonly dialects: readonly string[]
}

/** Days before a retirement at which routing starts to prefer other offers. */
const nearDays = 30

export function checked(json: unknown, terms: Terms): Checked {
  try {
    const catalog = readCatalog(json)
    return { summary: summaryOf(catalog), errors: [], warnings: checks.flatMap(check => check(catalog, terms)) }
  } catch (error) {
    if (error instanceof CatalogError) return { summary: 'not a catalog', errors: error.problems, warnings: [] }
    throw error
  }
}

const summaryOf = (catalog: Catalog): string =>
  `${catalog.models.length} models, ${soldIn(catalog).length} offers, ${catalog.providers.length} providers, as of ${catalog.asOf}`

interface Sold {
  readonly model: Model
  readonly offer: Offer
  readonly place: string
}

const soldIn = ({ models }: Catalog): readonly Sold[] =>
  models.flatMap(model => model.offers.map(offer => ({ model, offer, place: `${model.id} at ${offer.provider}` })))

type Check = (catalog: Catalog, terms: Terms) => readonly string[]

const checks: readonly Check[] = [
  ({ asOf }, { today }) => {
    const days = staleDays({ asOf }, Date.parse(today))
    return days === undefined ? [] : [`it is of ${asOf}, ${days} days ago; update it, since prices change sooner`]
  },

  (catalog, { today }) =>
    soldIn(catalog).flatMap(({ model, offer, place }) => {
      const end = offer.retiresAt ?? model.retiresAt
      if (end === undefined || daysFrom(today, end) > nearDays) return []
      return [end < today ? `${place} has ended, on ${end}` : `${place} ends on ${end}`]
    }),

  ({ models }) => {
    const ids = new Set(models.map(({ id }) => id))
    return models.flatMap(({ id, successor }) =>
      successor === undefined || ids.has(successor) ? [] : [`the successor of ${id} is "${successor}", which is no model of this catalog`],
    )
  },

  ({ models }) =>
    models.flatMap(({ id, author, offers }) => {
      const sellsCached = offers.some(({ provider, price }) => provider === author && price?.cached !== undefined)
      if (!sellsCached) return []
      return offers.flatMap(({ provider, price }) =>
        price && price.input > 0 && price.cached === undefined
          ? [`cached input of ${id} at ${provider} is charged as input, since no price of it is known; its maker sells it for less`]
          : [],
      )
    }),

  catalog => soldIn(catalog).flatMap(({ place, offer }) => (offer.price ? [] : [`no price is known for ${place}: it is not planned`])),

  catalog =>
    soldIn(catalog).flatMap(({ place, offer }) =>
      pricesOf(offer).some(costsMoreCached) ? [`what is read from a cache costs more than input for ${place}`] : [],
    ),

  catalog =>
    soldIn(catalog).flatMap(({ place, offer }) =>
      pricesOf(offer).some(({ cached, tiers = [] }) => cached !== undefined && tiers.some(tier => tier.cached === undefined))
        ? [`cached input of long prompts is charged as input for ${place}, though that of short ones costs less`]
        : [],
    ),

  catalog => {
    const known = new Set(catalog.providers.map(({ id }) => id))
    const strangers = soldIn(catalog).filter(({ offer }) => !known.has(offer.provider))
    return countBy(strangers, ({ offer }) => offer.provider).map(([id, count]) => `nothing is known of "${id}", which has ${count} offers`)
  },

  (catalog, { dialects }) => {
    const mute = soldIn(catalog).filter(({ offer }) => !dialects.includes(offer.api))
    return countBy(mute, ({ offer }) => offer.api).map(
      ([dialect, count]) => `nobody here speaks "${dialect}", which ${count} offers are asked in; it is one of ${dialects.join(', ')}`,
    )
  },

  ({ models }) =>
    models.flatMap(({ id, offers, retiresAt }) => (offers.length === 0 && retiresAt === undefined ? [`nobody sells ${id}`] : [])),
]

const daysFrom = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / dayMs)

const pricesOf = ({ price, regions = [] }: Offer): readonly Price[] =>
  [price, ...regions.map(region => region.price)].flatMap(each => each ?? [])

const costsMoreCached = ({ tiers = [], priority, ...usual }: Price): boolean =>
  [usual, ...tiers, ...(priority ? [priority] : [])].some(({ input, cached = 0 }: Rates) => cached > input)

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts]
}
