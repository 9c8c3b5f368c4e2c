import type { Model, Offer, ProviderFacts } from '@signalbox/core/protocol'
import type { Catalog } from './catalog.ts'
import { spelled, throwIfAny } from './fault.ts'
import { frozen } from './frozen.ts'
import { doublesIn, nearestTo } from './names.ts'

/** Fields that say otherwise, each whole; `null` says that nobody knows. */
export type Changes<Item, Fixed extends keyof Item> = {
  readonly [Field in Exclude<keyof Item, Fixed>]?: NonNullable<Item[Field]> | (object extends Pick<Item, Field> ? null : never)
}

export type ModelChanges = Changes<Model, 'id' | 'offers'>
export type OfferChanges = Changes<Offer, 'provider' | 'provider_model_id'>
export type ProviderChanges = Changes<ProviderFacts, 'id'>

/** What an operator knows better. Things are changed by name, `null` takes one out, and `add` brings in new ones. */
export interface Overrides {
  /** By id. */
  readonly models?: Readonly<Record<string, ModelChanges | null>>
  /** By id of the provider, then by `provider_model_id`. */
  readonly offers?: Readonly<Record<string, Readonly<Record<string, OfferChanges | null>>>>
  /** By id. */
  readonly providers?: Readonly<Record<string, ProviderChanges | null>>
  readonly add?: {
    readonly models?: readonly Model[]
    /** By id of the model that they sell. */
    readonly offers?: Readonly<Record<string, readonly Offer[]>>
    readonly providers?: readonly ProviderFacts[]
  }
}

/**
 * A catalog as an operator knows it: fields named in `overrides` are replaced, all else stays. Throws a CatalogError that names
 * each unknown name, with the nearest known one, and each name that two models would have.
 *
 * @example
 * overridden(catalog(), {
 *   models: { 'gpt-4o': null, 'claude-sonnet-5': { retires_at: '2027-06-30' } },
 *   offers: { anthropic: { 'claude-sonnet-5': { price: { input: 3_000_000, output: 15_000_000 } } } },
 *   providers: { openai: { data_policy: 'zdr', retention_days: 0 } },
 * })
 */
export function overridden(catalog: Catalog, overrides: Overrides): Catalog {
  throwIfAny(unknownIn(catalog, overrides))
  // A copy, since it becomes part of what is frozen.
  const { models, offers, providers, add = {} } = structuredClone(overrides)
  const modelChanges = namedIn(models)
  const providerChanges = namedIn(providers)
  const offerChanges = new Map(Object.entries(offers ?? {}).map(([id, named]) => [id, namedIn(named)]))
  const kept = changed(catalog.models, ({ id }) => modelChanges.get(id)).map(model => {
    const own = changed(model.offers, offer => offerChanges.get(offer.provider)?.get(offer.provider_model_id))
    return own === model.offers ? model : { ...model, offers: own }
  })
  const next = {
    ...catalog,
    models: withOffers([...kept, ...(add.models ?? [])], add.offers ?? {}),
    providers: [...changed(catalog.providers, ({ id }) => providerChanges.get(id)), ...(add.providers ?? [])],
    ...(catalog.dated && { dated: catalog.dated.filter(({ model }) => kept.some(({ id }) => id === model)) }),
  }
  throwIfAny(doublesIn(next, (at, { id }) => (at < kept.length ? ['models', id] : ['add', 'models', at - kept.length])))
  return frozen(next)
}

const namedIn = <Change>(changes: Readonly<Record<string, Change>> = {}): ReadonlyMap<string, Change> => new Map(Object.entries(changes))

/** What nobody names stays the same object, the list too. */
function changed<Item extends object>(items: readonly Item[], changeOf: (item: Item) => object | null | undefined): readonly Item[] {
  const next = items.flatMap(item => {
    const change = changeOf(item)
    if (change === null) return []
    return [change === undefined ? item : withChange(item, change)]
  })
  return next.length === items.length && next.every((item, at) => item === items[at]) ? items : next
}

function withChange<Item extends object>(item: Item, change: object): Item {
  const fields = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.fromEntries(Object.entries({ ...item, ...Object.fromEntries(fields) }).filter(([, value]) => value !== null)) as Item
}

function withOffers(models: readonly Model[], added: NonNullable<NonNullable<Overrides['add']>['offers']>): readonly Model[] {
  const byModel = namedIn(added)
  return models.map(model => {
    const own = byModel.get(model.id)
    return own ? { ...model, offers: [...model.offers, ...own] } : model
  })
}

function unknownIn({ models, providers }: Catalog, overrides: Overrides): readonly string[] {
  const { add = {} } = overrides
  const ids = namesOf(models)
  const sellers = new Map<string, Map<string, string>>()
  for (const { provider, provider_model_id: id } of models.flatMap(({ offers }) => offers))
    sellers.set(provider, (sellers.get(provider) ?? new Map()).set(id, id))
  const sellerIds = same(sellers.keys())
  return [
    ...strangers(overrides.models, { at: ['models'], known: ids, kind: 'model' }),
    ...strangers(overrides.offers, { at: ['offers'], known: sellerIds, kind: 'provider with offers' }),
    ...Object.entries(overrides.offers ?? {}).flatMap(([provider, named]) => {
      const known = sellers.get(provider)
      return known ? strangers(named, { at: ['offers', provider], known, kind: `offer of "${provider}"` }) : []
    }),
    ...strangers(overrides.providers, { at: ['providers'], known: same(providers.map(({ id }) => id)), kind: 'provider' }),
    ...strangers(add.offers, { at: ['add', 'offers'], known: new Map([...ids, ...namesOf(add.models ?? [])]), kind: 'model' }),
  ]
}

/** Each name, and the id that it stands for. */
const namesOf = (models: readonly Model[]): ReadonlyMap<string, string> =>
  new Map(models.flatMap(({ id, aliases = [] }) => [id, ...aliases].map(name => [name, id] as const)))

const same = (ids: Iterable<string>): ReadonlyMap<string, string> => new Map([...ids].map(id => [id, id]))

interface Known {
  readonly at: readonly string[]
  readonly known: ReadonlyMap<string, string>
  readonly kind: string
}

/** Ids only: who changes a model by another name of it may not know which one that is. */
function strangers(named: object = {}, { at, known, kind }: Known): readonly string[] {
  return Object.keys(named)
    .filter(name => known.get(name) !== name)
    .map(name => {
      const nearest = known.get(nearestTo(name, known.keys()) ?? '')
      const advice = nearest === undefined ? 'what is new goes under `add`' : `did you mean "${nearest}"?`
      return `${spelled([...at, name])} names no ${kind}; ${advice}${nearest === undefined ? '.' : ''}`
    })
}
