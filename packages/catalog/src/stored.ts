import type { Model, Offer, Price } from '@signalbox/core/protocol'
import type { Catalog } from './catalog.ts'
import { frozen } from './frozen.ts'

// How the built-in catalog lies on disk, as tools/compact.ts writes it: as it is told, but that sets which many share stand
// once, and are named there. A name is a text, even where it is a number: once a field of hundreds of objects has held numbers,
// putting a set there has each of them laid out anew, which takes as long as the parsing.

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

export interface StoredModel extends Omit<Model, 'capabilities' | 'input_modalities' | 'output_modalities' | 'offers'> {
  readonly capabilities: string
  readonly input_modalities: string
  readonly output_modalities: string
  readonly offers: readonly StoredOffer[]
}

export interface StoredOffer extends Omit<Offer, 'abilities' | 'quirks'> {
  readonly abilities: string
  readonly quirks?: string
}

/** Puts the sets where they are named and freezes the whole. In place, since nobody else has it yet: copies would take longer than the parsing. */
export function unpacked(text: string): Catalog {
  const { sets, models, ...rest } = JSON.parse(text) as Stored
  frozen(sets)
  for (const model of models) {
    for (const offer of model.offers) unpackOffer(offer, sets)
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
  return Object.freeze({ ...frozen(rest), models: Object.freeze(models) as readonly object[] as readonly Model[] })
}

function unpackOffer(offer: StoredOffer, sets: Sets): void {
  const { abilities, quirks, price, regions } = offer
  if (price) freezePrice(price)
  if (regions) frozen(regions)
  Object.assign(offer, { abilities: sets.abilities[abilities] })
  if (quirks !== undefined) Object.assign(offer, { quirks: sets.quirks[quirks] })
  Object.freeze(offer)
}

/** By name, since walking the fields of hundreds of prices takes as long as the parsing. */
function freezePrice(price: Price): void {
  if (price.tiers) frozen(price.tiers)
  Object.freeze(price.priority)
  Object.freeze(price)
}
