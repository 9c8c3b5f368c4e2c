import type { Model, Offer, OfferRegion, Quirks } from '@signalbox/dialects/protocol'
import type { Catalog } from '../stored.ts'
import { definedFields, mergePrice, priceOn } from './prices.ts'
import { type OfferList, offerKey, type SourceOffer } from './source.ts'

export interface MergeContext {
  readonly today: string
  /** Offers that no source can remove, by `offerKey`. */
  readonly kept: ReadonlySet<string>
  readonly warnings: string[]
}

/**
 * Merges the offers of a list into a catalog: updates existing offers, adds new ones to their models, and removes offers that a complete
 * list no longer contains.
 */
export function mergeOffers(catalog: Catalog, list: OfferList, { today, kept, warnings }: MergeContext): Catalog {
  const listed = new Map(list.offers.map(found => [offerKey(found.offer), found]))
  const regional = new Set(catalog.models.flatMap(({ offers }) => offers.flatMap(regionKeys)))
  const known = new Set<string>()
  const models = catalog.models.map(model => {
    const offers = model.offers.flatMap(offer => {
      const key = offerKey(offer)
      known.add(key)
      const found = listed.get(key)
      if (found) return [updated(offer, found, { source: list.source, today, author: model.author ?? '' })]
      const ended = list.complete.has(offer.provider) && !kept.has(key) && !list.unreadable.has(key)
      return ended ? [] : [offer.asOf === undefined && offer.source === undefined ? { ...offer, asOf: catalog.asOf } : offer]
    })
    return { ...model, offers }
  })
  const found = [...listed.values()].flatMap(({ offer }) => regionalOf(offer) ?? [])
  const inRegions = found.length === 0 ? models : models.map(model => withRegions(model, found))
  const isNew = ({ offer }: SourceOffer): boolean =>
    offer.status !== 'deprecated' && !known.has(offerKey(offer)) && !regional.has(offerKey(offer)) && regionalOf(offer) === undefined
  const fresh = [...listed.values()].filter(isNew)
  return { ...catalog, models: withNewOffers(inRegions, fresh, { source: list.source, warnings }) }
}

const regionKeys = ({ provider, regions = [] }: Offer): readonly string[] => regions.map(({ model }) => offerKey({ provider, model }))

/** A regional name on Bedrock: a region of an offer instead of an offer. */
interface RegionalOffer {
  /** The model name without its region. */
  readonly base: string
  readonly region: OfferRegion
}

function regionalOf({ provider, model: id, price }: Offer): RegionalOffer | undefined {
  const [, region = '', base = ''] = /^(us|us-gov|eu|apac|ap|au|jp|in|ca|sa|uk|mx|af|me|il)\.(.+)$/.exec(id) ?? []
  if (provider !== 'amazon-bedrock' || region === '') return undefined
  return { base, region: { region, model: id, ...(price && { price }) } }
}

/** Adds the regions that a list contains to the known ones. A region's price is stored only if it differs from that of the offer. */
function withRegions(model: Model, found: readonly RegionalOffer[]): Model {
  const offers = model.offers.map(offer => {
    const { provider, model: id, price: usual, regions = [] } = offer
    const own = provider === 'amazon-bedrock' ? found.filter(({ base }) => id === base || id === `global.${base}`) : []
    if (own.length === 0) return offer
    const named = new Map(regions.map(region => [region.model, region]))
    for (const { region } of own) {
      const { price, ...place } = region
      const isUsual = price === undefined || (usual !== undefined && price.input === usual.input && price.output === usual.output)
      named.set(place.model, isUsual ? place : { ...place, price: mergePrice(named.get(place.model)?.price, price) })
    }
    return { ...offer, regions: [...named.values()] }
  })
  return { ...model, offers }
}

interface UpdateContext {
  readonly source: string
  readonly today: string
  readonly author: string
}

/** Takes what a list states; keeps dialect, regions and abilities that it does not cover. */
function updated(old: Offer, { offer: found }: SourceOffer, { source, today, author }: UpdateContext): Offer {
  const { asOf: _, status: __, ...rest } = old
  const price = found.price ? mergePrice(old.price && priceOn(old.price, today), found.price) : old.price
  const quirks = mergeQuirks(old, found, author)
  return {
    ...rest,
    ...definedFields(found, ['contextWindow', 'maxOutputTokens', 'maxInputTokens', 'status']),
    abilities: mergeAbilities(old, found),
    ...(price && { price }),
    ...(quirks && { quirks }),
    source,
  }
}

/** Abilities that lists state as present or absent; they say nothing about the others. */
const stated: ReadonlySet<string> = new Set(['tools', 'vision', 'reasoning', 'streaming'])

function mergeAbilities({ abilities: old = [] }: Offer, { abilities: found = [] }: Offer): NonNullable<Offer['abilities']> {
  const kept = old.filter(ability => found.includes(ability) || !stated.has(ability))
  return [...kept, ...found.filter(ability => !kept.includes(ability))]
}

function mergeQuirks({ quirks: old, api }: Offer, { quirks: found }: Offer, author: string): Quirks | undefined {
  // An empty list means that the model does not reason, or that the list does not say how.
  if (author === 'anthropic' || api === 'gemini' || !found?.efforts || found.efforts.length === 0) return old
  return { ...old, ...definedFields(found, ['efforts', ...(api === 'chat' ? (['thinking'] as const) : [])]) }
}

interface NewOfferContext {
  readonly source: string
  readonly warnings: string[]
}

/** Adds new offers, each to the model that has one of its names, or else to a new model. */
function withNewOffers(models: readonly Model[], fresh: readonly SourceOffer[], { source, warnings }: NewOfferContext): readonly Model[] {
  const next = [...models]
  const owners = new Map<string, number>()
  for (const [at, { id, aliases = [] }] of models.entries()) for (const name of [id, ...aliases]) owners.set(plainName(name), at)
  let homeless = 0
  for (const { offer, names, newModel } of fresh) {
    const at = names.map(name => owners.get(plainName(name))).find(each => each !== undefined)
    const model = at === undefined ? newModel && { ...newModel, offers: [] } : next[at]
    if (!model) {
      homeless++
      continue
    }
    const place = at ?? next.length
    next[place] = { ...model, offers: [...model.offers, { ...offer, source }] }
    if (at !== undefined || !newModel) continue
    const free = (newModel.aliases ?? []).filter(alias => alias !== newModel.id && !owners.has(plainName(alias)))
    next[place] = { ...newModel, aliases: free, offers: [{ ...offer, source }] }
    for (const name of [newModel.id, ...free]) owners.set(plainName(name), place)
  }
  if (homeless > 0) warnings.push(`${homeless} offers of ${source} are left out, since it names no model for them that the catalog has.`)
  return next
}

/** Names that differ only in case, `.` and `_` are equal. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[._]/g, '-')
