import type { Model, Offer, ProviderFacts } from '@signalbox/dialects/protocol'
import { similarNames } from '@signalbox/storage/similar-names'
import { deepFreeze } from './deep-freeze.ts'
import { formatPath, throwIfAny } from './fault.ts'
import { duplicatesIn } from './names.ts'
import type { Catalog } from './stored.ts'

/** Fields to replace, each as a whole; `null` removes an optional field. */
export type Changes<Item, Fixed extends keyof Item> = {
  readonly [Field in Exclude<keyof Item, Fixed>]?: NonNullable<Item[Field]> | (object extends Pick<Item, Field> ? null : never)
}

/** Fields of a model to replace. */
export type ModelChanges = Changes<Model, 'id' | 'offers'>
/** Fields of an offer to replace. */
export type OfferChanges = Changes<Offer, 'provider' | 'model'>
/** Fields of a provider's facts to replace. */
export type ProviderChanges = Changes<ProviderFacts, 'id'>

/** Corrections of a catalog. Entries are changed by name, `null` removes an entry, and `add` adds new ones. */
export interface Overrides {
  /** By id. */
  readonly models?: Readonly<Record<string, ModelChanges | null>>
  /** By id of the provider, then by the provider's id of the model. */
  readonly offers?: Readonly<Record<string, Readonly<Record<string, OfferChanges | null>>>>
  /** By id. */
  readonly providers?: Readonly<Record<string, ProviderChanges | null>>
  readonly add?: {
    readonly models?: readonly Model[]
    /** By id of their model. */
    readonly offers?: Readonly<Record<string, readonly Offer[]>>
    readonly providers?: readonly ProviderFacts[]
  }
}

/**
 * Applies overrides to a catalog: replaces the given fields and keeps all others.
 *
 * @throws {CatalogError} Lists each unknown name, with the closest known one, and each name that two models would share.
 *
 * @example
 * overridden(catalog(), {
 *   models: { 'gpt-4o': null, 'claude-sonnet-5': { retiresAt: '2027-06-30' } },
 *   offers: { anthropic: { 'claude-sonnet-5': { price: { input: 3_000_000, output: 15_000_000 } } } },
 *   providers: { openai: { dataPolicy: 'zdr', retentionDays: 0 } },
 * })
 */
export function overridden(catalog: Catalog, overrides: Overrides): Catalog {
  throwIfAny(unknownNamesIn(catalog, overrides))
  // A copy, because it becomes part of a frozen object.
  const { models, offers, providers, add = {} } = structuredClone(overrides)
  const modelChanges = byNameMap(models)
  const providerChanges = byNameMap(providers)
  const offerChanges = new Map(Object.entries(offers ?? {}).map(([id, named]) => [id, byNameMap(named)]))
  const kept = applyChanges(catalog.models, ({ id }) => modelChanges.get(id)).map(model => {
    const own = applyChanges(model.offers, offer => offerChanges.get(offer.provider)?.get(offer.model))
    return own === model.offers ? model : { ...model, offers: own }
  })
  const next = {
    ...catalog,
    models: withOffers([...kept, ...(add.models ?? [])], add.offers ?? {}),
    providers: [...applyChanges(catalog.providers, ({ id }) => providerChanges.get(id)), ...(add.providers ?? [])],
  }
  throwIfAny(duplicatesIn(next, (at, { id }) => (at < kept.length ? ['models', id] : ['add', 'models', at - kept.length])))
  return deepFreeze(next)
}

const byNameMap = <Change>(changes: Readonly<Record<string, Change>> = {}): ReadonlyMap<string, Change> => new Map(Object.entries(changes))

/** Unchanged items stay the same objects, and so does a list without changes. */
function applyChanges<Item extends object>(items: readonly Item[], changeOf: (item: Item) => object | null | undefined): readonly Item[] {
  const next = items.flatMap(item => {
    const change = changeOf(item)
    if (change === null) return []
    return [change === undefined ? item : applyChange(item, change)]
  })
  return next.length === items.length && next.every((item, index) => item === items[index]) ? items : next
}

function applyChange<Item extends object>(item: Item, change: object): Item {
  const fields = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.fromEntries(Object.entries({ ...item, ...Object.fromEntries(fields) }).filter(([, value]) => value !== null)) as Item
}

function withOffers(models: readonly Model[], added: NonNullable<NonNullable<Overrides['add']>['offers']>): readonly Model[] {
  const byModel = byNameMap(added)
  return models.map(model => {
    const own = byModel.get(model.id)
    return own ? { ...model, offers: [...model.offers, ...own] } : model
  })
}

function unknownNamesIn({ models, providers }: Catalog, overrides: Overrides): readonly string[] {
  const { add = {} } = overrides
  const ids = namesOf(models)
  const sellers = new Map<string, Map<string, string>>()
  for (const { provider, model: id } of models.flatMap(({ offers }) => offers))
    sellers.set(provider, (sellers.get(provider) ?? new Map()).set(id, id))
  const sellerIds = identityMap(sellers.keys())
  return [
    ...unknownNames(overrides.models, { at: ['models'], known: ids, kind: 'model' }),
    ...unknownNames(overrides.offers, { at: ['offers'], known: sellerIds, kind: 'provider with offers' }),
    ...Object.entries(overrides.offers ?? {}).flatMap(([provider, named]) => {
      const known = sellers.get(provider)
      return known ? unknownNames(named, { at: ['offers', provider], known, kind: `offer of "${provider}"` }) : []
    }),
    ...unknownNames(overrides.providers, { at: ['providers'], known: identityMap(providers.map(({ id }) => id)), kind: 'provider' }),
    ...unknownNames(add.offers, { at: ['add', 'offers'], known: new Map([...ids, ...namesOf(add.models ?? [])]), kind: 'model' }),
  ]
}

/** Each name of a model, mapped to the model's id. */
const namesOf = (models: readonly Model[]): ReadonlyMap<string, string> =>
  new Map(models.flatMap(({ id, aliases = [] }) => [id, ...aliases].map(name => [name, id] as const)))

const identityMap = (ids: Iterable<string>): ReadonlyMap<string, string> => new Map([...ids].map(id => [id, id]))

interface KnownNames {
  readonly at: readonly string[]
  readonly known: ReadonlyMap<string, string>
  readonly kind: string
}

/** Problems with unknown names. Only ids count, because an alias may not refer to the model that the operator meant. */
function unknownNames(named: object = {}, { at, known, kind }: KnownNames): readonly string[] {
  return Object.keys(named)
    .filter(name => known.get(name) !== name)
    .map(name => {
      const nearest = known.get(similarNames(name, [...known.keys()])[0] ?? '')
      const advice = nearest === undefined ? 'what is new goes under `add`' : `did you mean "${nearest}"?`
      return `${formatPath([...at, name])} names no ${kind}; ${advice}${nearest === undefined ? '.' : ''}`
    })
}
