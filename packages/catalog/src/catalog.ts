import type { Model, ProviderFacts } from '@signalbox/core/protocol'
import { data } from './data/facts.ts'
import { unpacked } from './stored.ts'

/** What can be asked for, who sells it at what price, and what is known of the sellers. As JSON it is a file of your own. */
export interface Catalog {
  /** The day of its facts: `2026-09-30`. */
  readonly as_of: string
  readonly models: readonly Model[]
  readonly providers: readonly ProviderFacts[]
  readonly dated?: readonly DatedFact[]
}

/** A fact that was announced to end: whoever looks after the catalog has to look again. */
export interface DatedFact {
  /** Id of a model. */
  readonly model: string
  /** The last day on which it surely holds: `2026-08-31`. */
  readonly until: string
  readonly note: string
}

export interface CatalogQuery {
  /** Ids of the providers that are on. */
  readonly providers: readonly string[]
  /** The languages that can be spoken to them. */
  readonly dialects: readonly string[]
}

/** Facts, the same for everyone in the process; read when first asked for. */
let builtIn: Catalog | undefined

/**
 * The built-in catalog, whole: frozen, and the same each time.
 *
 * @example createGateway({ models: sold(catalog(), on), facts: catalog().providers, … })
 */
export function catalog(): Catalog {
  builtIn ??= unpacked(data)
  return builtIn
}

/**
 * The models of a catalog as far as these providers sell them in these languages. A model that none of them sells is left out.
 *
 * @example sold(overridden(catalog(), overrides), { providers: ['openai', 'groq'], dialects: ['responses', 'chat'] })
 */
export function sold({ models }: Pick<Catalog, 'models'>, query: CatalogQuery): readonly Model[] {
  const providers = new Set(query.providers)
  const dialects = new Set(query.dialects)
  return models.flatMap(model => {
    const offers = model.offers.filter(({ provider, dialect }) => providers.has(provider) && dialects.has(dialect))
    if (offers.length === 0) return []
    return offers.length === model.offers.length ? [model] : [{ ...model, offers }]
  })
}

/**
 * The built-in models as far as these providers sell them in these languages: `sold(catalog(), query)`.
 *
 * @example catalogModels({ providers: ['openai', 'groq'], dialects: ['responses', 'chat'] })
 */
export const catalogModels = (query: CatalogQuery): readonly Model[] => sold(catalog(), query)
