import type { Model, Offer, Price, Rates } from '@signalbox/core/protocol'
import { type Catalog, CatalogError } from '../src/index.ts'
import { readCatalog } from '../src/schema/index.ts'

export interface Checked {
  /** What it holds, in a line. */
  readonly summary: string
  /** Why it cannot be used. */
  readonly errors: readonly string[]
  /** What somebody should look at. */
  readonly warnings: readonly string[]
}

export interface Terms {
  /** `2026-09-30` */
  readonly today: string
  /** Languages that can be spoken to providers. */
  readonly dialects: readonly string[]
}

/** Facts of prices do not keep longer. */
const freshDays = 60

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
  `${catalog.models.length} models, ${soldIn(catalog).length} offers, ${catalog.providers.length} providers, as of ${catalog.as_of}`

interface Sold {
  readonly model: Model
  readonly offer: Offer
  readonly place: string
}

const soldIn = ({ models }: Catalog): readonly Sold[] =>
  models.flatMap(model => model.offers.map(offer => ({ model, offer, place: `${model.id} at ${offer.provider}` })))

type Check = (catalog: Catalog, terms: Terms) => readonly string[]

const checks: readonly Check[] = [
  ({ as_of }, { today }) =>
    daysFrom(as_of, today) > freshDays ? [`its facts are of ${as_of}, ${daysFrom(as_of, today)} days ago; prices change sooner`] : [],

  ({ models, dated = [] }, { today }) =>
    dated.flatMap(({ model, until, note }) => {
      if (!models.some(({ id }) => id === model)) return [`"${model}", whose facts were to hold until ${until}, is not there`]
      return until < today ? [`what is said of ${model} was to hold until ${until}: ${note}`] : []
    }),

  ({ models }, { today }) =>
    models.flatMap(({ id, retires_at }) =>
      retires_at !== undefined && retires_at < today ? [`${id} was to retire on ${retires_at}`] : [],
    ),

  catalog => soldIn(catalog).flatMap(({ place, offer }) => (offer.price ? [] : [`no price is known for ${place}: it is not planned`])),

  catalog =>
    soldIn(catalog).flatMap(({ place, offer }) =>
      pricesOf(offer).some(costsMoreCached) ? [`what is read from a cache costs more than input for ${place}`] : [],
    ),

  catalog => {
    const known = new Set(catalog.providers.map(({ id }) => id))
    const strangers = soldIn(catalog).filter(({ offer }) => !known.has(offer.provider))
    return countBy(strangers, ({ offer }) => offer.provider).map(([id, count]) => `nothing is known of "${id}", which has ${count} offers`)
  },

  (catalog, { dialects }) => {
    const mute = soldIn(catalog).filter(({ offer }) => !dialects.includes(offer.dialect))
    return countBy(mute, ({ offer }) => offer.dialect).map(
      ([dialect, count]) => `nobody here speaks "${dialect}", which ${count} offers are asked in; it is one of ${dialects.join(', ')}`,
    )
  },

  ({ models }) => models.flatMap(({ id, offers }) => (offers.length === 0 ? [`nobody sells ${id}`] : [])),
]

const daysFrom = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)

const pricesOf = ({ price, regions = [] }: Offer): readonly Price[] =>
  [price, ...regions.map(region => region.price)].flatMap(each => each ?? [])

const costsMoreCached = ({ tiers = [], priority, ...usual }: Price): boolean =>
  [usual, ...tiers, ...(priority ? [priority] : [])].some(({ input, cached = 0 }: Rates) => cached > input)

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts]
}
