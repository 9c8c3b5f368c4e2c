import type { Model, Offer, Price, ProviderFacts } from '@signalbox/dialects/protocol'
import { deepFreeze } from './deep-freeze.ts'

// The storage format of the built-in catalog, written by tools/pack.ts: sets that many models share are stored once and referenced by name,
// the alias `author/id` is an empty text, and the offers of a model are a separate line, parsed on first access. Set names are strings,
// even if they are numeric: replacing a number by a set in hundreds of objects would change their hidden class, which takes as long as
// parsing.

/** Models with their offers and prices, and facts about providers. A custom catalog is the same in JSON. */
export interface Catalog {
  /** The date of its facts, as in `2026-09-30`. */
  readonly asOf: string
  readonly models: readonly Model[]
  readonly providers: readonly ProviderFacts[]
}

/** The texts of the built-in catalog. */
export interface StoredCatalog {
  /** JSON with `asOf`, the shared sets and the providers. */
  readonly head: string
  /** Two lines of JSON per model: its fields, then its offers. */
  readonly lines: string
}

interface Head extends Pick<Catalog, 'asOf' | 'providers'> {
  readonly sets: Sets
}

interface Sets {
  readonly abilities: Readonly<Record<string, Offer['abilities']>>
  readonly quirks: Readonly<Record<string, Offer['quirks']>>
  readonly capabilities: Readonly<Record<string, Model['capabilities']>>
  readonly modalities: Readonly<Record<string, Model['inputModalities']>>
}

interface StoredModel extends Omit<Model, 'capabilities' | 'inputModalities' | 'outputModalities' | 'offers'> {
  readonly capabilities: string
  readonly inputModalities: string
  readonly outputModalities: string
}

interface StoredOffer extends Omit<Offer, 'abilities' | 'quirks'> {
  readonly abilities: string
  readonly quirks?: string
}

/** Parses a stored catalog, resolves the sets and freezes it. In place, because copying would take longer than parsing. */
export function unpackCatalog({ head, lines }: StoredCatalog): Catalog {
  const { sets, providers, asOf } = JSON.parse(head) as Head
  deepFreeze(sets)
  const texts = lines.split('\n')
  const models: Model[] = []
  for (let at = 0; at + 1 < texts.length; at += 2) models.push(unpackModel(texts[at] ?? '', { text: texts[at + 1] ?? '', sets, asOf }))
  // Collected by hand from each provider's documentation.
  const dated = providers.map(facts => ({ source: facts.docsURL, asOf, ...facts }))
  return Object.freeze({ asOf, providers: deepFreeze(dated), models: Object.freeze(models) })
}

/** The unparsed offers of a model. */
interface UnreadOffers {
  readonly text: string
  readonly sets: Sets
  readonly asOf: string
}

const unread = new WeakMap<Model, string>()

/**
 * False if none of these providers can have an offer of the model, as far as known without parsing its offers.
 *
 * @example mayBeSold(model, ['openai'])
 */
export function mayBeSold(model: Model, providers: Iterable<string>): boolean {
  const text = unread.get(model)
  if (text === undefined || text === '[]') return true
  for (const id of providers) if (text.includes(`"provider":${JSON.stringify(id)}`)) return true
  return false
}

function unpackModel(line: string, { text, sets, asOf }: UnreadOffers): Model {
  const stored = JSON.parse(line) as StoredModel
  const { id, author, aliases } = stored
  const model = Object.assign(stored, {
    aliases: aliases ? Object.freeze(aliases.map(alias => alias || `${author}/${id}`)) : undefined,
    capabilities: sets.capabilities[stored.capabilities],
    inputModalities: sets.modalities[stored.inputModalities],
    outputModalities: sets.modalities[stored.outputModalities],
  }) as object as Model
  let offers: readonly Offer[] | undefined
  Object.defineProperty(model, 'offers', {
    enumerable: true,
    get: () => {
      unread.delete(model)
      offers ??= unpackOffers({ text, sets, asOf })
      return offers
    },
  })
  unread.set(model, text)
  return Object.freeze(model)
}

function unpackOffers({ text, sets, asOf }: UnreadOffers): readonly Offer[] {
  const offers = JSON.parse(text) as readonly StoredOffer[]
  for (const offer of offers) unpackOffer(offer, sets, { source: usualSource, asOf })
  return Object.freeze(offers) as readonly object[] as readonly Offer[]
}

/** The default source of offers. */
export const usualSource = 'https://models.dev/api.json'

function unpackOffer(offer: StoredOffer, sets: Sets, origin: Required<Pick<Offer, 'source' | 'asOf'>>): void {
  const { abilities, quirks, price, regions, source = origin.source, asOf = origin.asOf } = offer
  if (price) freezePrice(price)
  if (regions) deepFreeze(regions)
  Object.assign(offer, { abilities: sets.abilities[abilities], source, asOf })
  if (quirks !== undefined) Object.assign(offer, { quirks: sets.quirks[quirks] })
  Object.freeze(offer)
}

/** Freezes fields by name, because iterating over the fields of hundreds of prices takes as long as parsing. */
function freezePrice(price: Price): void {
  if (price.tiers) deepFreeze(price.tiers)
  if (price.windows) deepFreeze(price.windows)
  if (price.changes) deepFreeze(price.changes)
  if (price.surcharges) deepFreeze(price.surcharges)
  if (price.tools) Object.freeze(price.tools)
  Object.freeze(price.priority)
  Object.freeze(price)
}
