import type { Model } from '@signalbox/dialects/protocol'
import { head, lines } from './data/models-and-prices.ts'
import { type Catalog, mayBeSold, unpackCatalog } from './stored.ts'

/** Selects the models that some providers serve, by provider ids and the APIs that all of them, or each of them, have. */
export type CatalogQuery =
  | { readonly providers: readonly string[]; readonly apis: readonly string[] }
  | { readonly providers: readonly SellingProvider[] }

/** The part of a provider that determines which of its offers can be sold. A gateway `Provider` satisfies it. */
export interface SellingProvider {
  readonly id: string
  readonly dialects: readonly { readonly name: string }[]
}

/** Parsed on first use, shared and frozen. The offers of a model are parsed on first access. */
let builtIn: Catalog | undefined

/**
 * The built-in catalog: always the same frozen object.
 *
 * @example createGateway({ ...options, models: sold(catalog(), on), facts: catalog().providers })
 */
export function catalog(): Catalog {
  builtIn ??= unpackCatalog({ head, lines })
  return builtIn
}

/**
 * The models of a catalog with the offers of these providers in these dialects. A model without such an offer is left out, unless it has no
 * offers at all and its vendor is one of the providers, so that errors can say that the model has retired. Offers without an `asOf` date
 * get that of the catalog.
 *
 * @example sold(overridden(catalog(), overrides), { providers: [openai({ apiKey }), groq({ apiKey: groqKey })] })
 * @example sold(catalog(), { providers: ['openai', 'groq'], apis: ['responses', 'chat'] })
 */
export function sold({ models, asOf }: Pick<Catalog, 'models'> & Partial<Catalog>, query: CatalogQuery): readonly Model[] {
  const spoken = dialectsByProvider(query)
  return models.flatMap(model => {
    if (!mayBeSold(model, spoken.keys())) return []
    const offers = model.offers.filter(({ provider, api }) => spoken.get(provider)?.has(api))
    if (offers.length === 0 && !(model.offers.length === 0 && spoken.has(model.author ?? ''))) return []
    const dated = offers.every(offer => offer.asOf !== undefined || asOf === undefined)
    if (dated) return offers.length === model.offers.length ? [model] : [{ ...model, offers }]
    return [{ ...model, offers: offers.map(offer => ({ asOf, ...offer })) }]
  })
}

function dialectsByProvider(query: CatalogQuery): ReadonlyMap<string, ReadonlySet<string>> {
  if ('apis' in query) {
    const dialects = new Set(query.apis)
    return new Map(query.providers.map(id => [id, dialects]))
  }
  return new Map(query.providers.map(({ id, dialects }) => [id, new Set(dialects.map(({ name }) => name))]))
}

/**
 * The built-in models with the offers of these providers in these dialects: `sold(catalog(), query)`.
 *
 * @example catalogModels({ providers: ['openai', 'groq'], apis: ['responses', 'chat'] })
 */
export const catalogModels = (query: CatalogQuery): readonly Model[] => sold(catalog(), query)
