import type { Model, ProviderFacts } from '@signalbox/core/protocol'
import { head, lines } from './data/facts.ts'
import { mayBeSold, unpackCatalog } from './stored.ts'

/** Models with their offers and prices, and facts about providers. A custom catalog is this as JSON. */
export interface Catalog {
  /** The day for which its facts hold, as in `2026-09-30`. */
  readonly as_of: string
  readonly models: readonly Model[]
  readonly providers: readonly ProviderFacts[]
}

/** Selects the models that some providers serve, by their ids and the dialects that can be spoken to all of them, or by each of them. */
export type CatalogQuery =
  | { readonly providers: readonly string[]; readonly dialects: readonly string[] }
  | { readonly providers: readonly SellingProvider[] }

/** What decides which offers of a provider can be sold: a `Provider` of the gateway is one. */
export interface SellingProvider {
  readonly id: string
  readonly dialects: readonly { readonly name: string }[]
}

/** Parsed on first use and shared: it is frozen. The offers of a model are parsed when they are first read. */
let builtIn: Catalog | undefined

/**
 * The built-in catalog. It is frozen, and the same object each time.
 *
 * @example createGateway({ models: sold(catalog(), on), facts: catalog().providers, … })
 */
export function catalog(): Catalog {
  builtIn ??= unpackCatalog({ head, lines })
  return builtIn
}

/**
 * The models of a catalog with the offers of these providers in these dialects. A model without such an offer is
 * left out, unless it has no offers at all and its author is one of the providers: so errors can say that a model has retired. Offers that
 * name no day on which they were read get that of the catalog.
 *
 * @example sold(overridden(catalog(), overrides), { providers: [openai({ apiKey }), groq({ apiKey: groqKey })] })
 * @example sold(catalog(), { providers: ['openai', 'groq'], dialects: ['responses', 'chat'] })
 */
export function sold({ models, as_of }: Pick<Catalog, 'models'> & Partial<Catalog>, query: CatalogQuery): readonly Model[] {
  const spoken = dialectsByProvider(query)
  return models.flatMap(model => {
    if (!mayBeSold(model, spoken.keys())) return []
    const offers = model.offers.filter(({ provider, dialect }) => spoken.get(provider)?.has(dialect))
    if (offers.length === 0 && !(model.offers.length === 0 && spoken.has(model.author ?? ''))) return []
    const dated = offers.every(offer => offer.as_of !== undefined || as_of === undefined)
    if (dated) return offers.length === model.offers.length ? [model] : [{ ...model, offers }]
    return [{ ...model, offers: offers.map(offer => ({ ...(as_of !== undefined && { as_of }), ...offer })) }]
  })
}

function dialectsByProvider(query: CatalogQuery): ReadonlyMap<string, ReadonlySet<string>> {
  if ('dialects' in query) {
    const dialects = new Set(query.dialects)
    return new Map(query.providers.map(id => [id, dialects]))
  }
  return new Map(query.providers.map(({ id, dialects }) => [id, new Set(dialects.map(({ name }) => name))]))
}

/**
 * The built-in models with the offers of these providers in these dialects: `sold(catalog(), query)`.
 *
 * @example catalogModels({ providers: ['openai', 'groq'], dialects: ['responses', 'chat'] })
 */
export const catalogModels = (query: CatalogQuery): readonly Model[] => sold(catalog(), query)
