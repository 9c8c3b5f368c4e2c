import type { Model, Offer, Price } from '@signalbox/core/protocol'
import type { Catalog } from './catalog.ts'
import { deepFreeze } from './deep-freeze.ts'

// The stored form of the built-in catalog, which tools/pack.ts writes: sets that many models share are stored once and referenced
// by name. Names are texts, even if they are numbers: replacing a number by a set in hundreds of objects would change their hidden
// class, which takes as long as the parsing.

interface Stored extends Omit<Catalog, 'models'> {
  readonly sets: Sets
  readonly models: readonly StoredModel[]
}

interface Sets {
  readonly abilities: Readonly<Record<string, Offer['abilities']>>
  readonly quirks: Readonly<Record<string, Offer['quirks']>>
  readonly capabilities: Readonly<Record<string, Model['capabilities']>>
  readonly modalities: Readonly<Record<string, Model['input_modalities']>>
}

interface StoredModel extends Omit<Model, 'capabilities' | 'input_modalities' | 'output_modalities' | 'offers'> {
  readonly capabilities: string
  readonly input_modalities: string
  readonly output_modalities: string
  readonly offers: readonly StoredOffer[]
}

interface StoredOffer extends Omit<Offer, 'abilities' | 'quirks'> {
  readonly abilities: string
  readonly quirks?: string
}

/** Parses a stored catalog, resolves the sets and freezes it. In place, because copies would take longer than the parsing. */
export function unpackCatalog(text: string): Catalog {
  const { sets, models, providers, ...rest } = JSON.parse(text) as Stored
  const origin = { source: usualSource, as_of: rest.as_of }
  deepFreeze(sets)
  for (const model of models) {
    for (const offer of model.offers) unpackOffer(offer, sets, origin)
    Object.freeze(model.offers)
    Object.freeze(model.aliases)
    Object.freeze(
      Object.assign(model, {
        capabilities: sets.capabilities[model.capabilities],
        input_modalities: sets.modalities[model.input_modalities],
        output_modalities: sets.modalities[model.output_modalities],
      }),
    )
  }
  // Gathered by hand from the documents of each.
  const dated = providers.map(facts => ({ ...(facts.docs_url !== undefined && { source: facts.docs_url }), as_of: rest.as_of, ...facts }))
  return Object.freeze({ ...rest, providers: deepFreeze(dated), models: Object.freeze(models) as readonly object[] as readonly Model[] })
}

/** The source of offers that name none. */
export const usualSource = 'https://models.dev/api.json'

function unpackOffer(offer: StoredOffer, sets: Sets, origin: Required<Pick<Offer, 'source' | 'as_of'>>): void {
  const { abilities, quirks, price, regions, source = origin.source, as_of = origin.as_of } = offer
  if (price) freezePrice(price)
  if (regions) deepFreeze(regions)
  Object.assign(offer, { abilities: sets.abilities[abilities], source, as_of })
  if (quirks !== undefined) Object.assign(offer, { quirks: sets.quirks[quirks] })
  Object.freeze(offer)
}

/** Freezes by field name, because walking the fields of hundreds of prices takes as long as the parsing. */
function freezePrice(price: Price): void {
  if (price.tiers) deepFreeze(price.tiers)
  if (price.windows) deepFreeze(price.windows)
  if (price.changes) deepFreeze(price.changes)
  if (price.surcharges) deepFreeze(price.surcharges)
  if (price.tools) Object.freeze(price.tools)
  Object.freeze(price.priority)
  Object.freeze(price)
}
