import { type Overrides, overridden } from '../overrides.ts'
import type { Catalog } from '../stored.ts'
import { offerKey } from './source.ts'

/** A corrected catalog, and the corrections that match nothing. */
export interface Corrected {
  readonly catalog: Catalog
  readonly warnings: readonly string[]
}

/**
 * Applies corrections; idempotent. Existing additions stay unchanged, and a change to a missing entry causes a warning.
 *
 * @throws {CatalogError} Two models would share a name.
 */
export function applyCorrections(catalog: Catalog, { add = {}, models = {}, offers = {}, providers = {} }: Overrides): Corrected {
  const added = new Set(add.models?.map(({ id }) => id))
  const ids = new Set(catalog.models.map(({ id }) => id))
  const known = new Set(catalog.models.flatMap(model => model.offers).map(offerKey))
  const providerIds = new Set(catalog.providers.map(({ id }) => id))
  const warnings: string[] = []
  const isKnown = (name: string, names: ReadonlySet<string>, change: unknown): boolean => {
    if (names.has(name)) return true
    if (change !== null) warnings.push(`A correction of "${name}" is left out, since the catalog has none of that name.`)
    return false
  }
  const keep = <Change>(changes: Readonly<Record<string, Change>>, names: ReadonlySet<string>, prefix = ''): Record<string, Change> =>
    Object.fromEntries(Object.entries(changes).filter(([name, change]) => isKnown(prefix + name, names, change)))
  const byProvider = Object.entries(offers).map(([provider, changes]) => [provider, keep(changes, known, `${provider} `)] as const)
  return {
    catalog: overridden(catalog, {
      models: keep(models, ids),
      offers: Object.fromEntries(byProvider.filter(([, changes]) => Object.keys(changes).length > 0)),
      providers: keep(providers, providerIds),
      add: {
        models: add.models?.filter(({ id }) => !ids.has(id)) ?? [],
        offers: Object.fromEntries(
          Object.entries(add.offers ?? {})
            .filter(([id]) => added.has(id) || isKnown(id, ids, {}))
            .map(([id, list]) => [id, list.filter(offer => !known.has(offerKey(offer)))]),
        ),
        providers: add.providers?.filter(({ id }) => !providerIds.has(id)) ?? [],
      },
    }),
    warnings,
  }
}

/** Offers that corrections change or add, by `offerKey`. No source can remove them. */
export function correctedOffers({ offers = {}, add = {} }: Overrides): ReadonlySet<string> {
  const changed = Object.entries(offers).flatMap(([provider, named]) =>
    Object.entries(named).flatMap(([id, change]) => (change === null ? [] : [offerKey({ provider, model: id })])),
  )
  const added = [...(add.models ?? []).flatMap(model => model.offers), ...Object.values(add.offers ?? {}).flat()]
  return new Set([...changed, ...added.map(offerKey)])
}
