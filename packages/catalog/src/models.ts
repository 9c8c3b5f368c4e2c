import type { Ability, Model, Offer, Price, Quirks } from '@signalbox/core/protocol'
import { data } from './data/models.ts'

export interface CatalogQuery {
  /** Ids of the providers that are on. */
  readonly providers: readonly string[]
  /** The languages that can be spoken to them. */
  readonly dialects: readonly string[]
}

/** As tools/compact.ts writes it. */
interface Row {
  readonly id: string
  readonly aliases?: readonly string[]
  readonly family: string
  readonly name: string
  readonly author: string
  readonly created: number
  readonly offers: readonly OfferRow[]
}

interface OfferRow {
  readonly p: string
  readonly id: string
  readonly d: string
  readonly ctx?: number
  readonly out?: number
  readonly a: number
  readonly price?: readonly [input: number, output: number, cached: number | null, cacheWrite: number | null]
  readonly q?: number
}

interface Rows {
  readonly abilities: readonly (readonly Ability[])[]
  readonly quirks: readonly Quirks[]
  readonly models: readonly Row[]
}

/** Facts, the same for everyone in the process; read when first asked for. */
let rows: Rows | undefined

/**
 * The built-in models as far as these providers sell them in these languages. A model that none of them sells is left out.
 *
 * @example catalogModels({ providers: ['openai', 'groq'], dialects: ['responses', 'chat'] })
 */
export function catalogModels({ providers, dialects }: CatalogQuery): readonly Model[] {
  rows ??= JSON.parse(data) as Rows
  const { models, ...sets } = rows
  const isOn = ({ p, d }: OfferRow): boolean => providers.includes(p) && dialects.includes(d)
  return models.flatMap(row => {
    const offers = row.offers.filter(isOn).map(offer => offerOf(offer, sets))
    return offers.length > 0 ? [modelOf(row, offers)] : []
  })
}

const modelOf = ({ id, aliases, family, name, author, created }: Row, offers: readonly Offer[]): Model => ({
  id,
  ...(aliases && { aliases }),
  family,
  display_name: name,
  author,
  created,
  offers,
})

function offerOf({ p, id, d, ctx, out, a, q, price }: OfferRow, sets: Omit<Rows, 'models'>): Offer {
  const abilities = sets.abilities[a]
  const quirks = q === undefined ? undefined : sets.quirks[q]
  return {
    provider: p,
    provider_model_id: id,
    dialect: d,
    ...(ctx !== undefined && { context_window: ctx }),
    ...(out !== undefined && { max_output_tokens: out }),
    ...(abilities && { abilities }),
    // Unknown is not free: an offer without a price stays without one.
    ...(price && { price: priceOf(price) }),
    ...(quirks && { quirks }),
  }
}

const priceOf = ([input, output, cached, cacheWrite]: NonNullable<OfferRow['price']>): Price => ({
  input,
  output,
  ...(cached !== null && { cached }),
  ...(cacheWrite !== null && { cache_write: cacheWrite }),
})
