import leven from 'leven'
import type { Model } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'

export interface ModelDirectory {
  /** By id or alias. */
  find(idOrAlias: string): Model | undefined
  list(): readonly Model[]
  /** Closest names, best first, at most 3. */
  nearest(name: string): readonly string[]
}

/** Models by id and alias. Throws where two claim one name: a request must mean one thing. */
export function directoryOf(given: readonly Model[], providers: readonly Provider[]): ModelDirectory {
  const policies = new Map(providers.map(({ id, data_policy }) => [id, data_policy]))
  const models = given.map(model => ({
    ...model,
    offers: model.offers.map(offer => ({ ...offer, data_policy: offer.data_policy ?? policies.get(offer.provider) ?? 'unknown' })),
  }))
  const byName = new Map<string, Model>()
  for (const model of models) {
    for (const name of [model.id, ...(model.aliases ?? [])]) {
      const other = byName.get(name)
      if (other && other !== model)
        throw new TypeError(`createGateway: the name "${name}" belongs to the models "${other.id}" and "${model.id}". Rename one.`)
      byName.set(name, model)
    }
  }
  const sorted = [...models].sort((a, b) => (a.id < b.id ? -1 : 1))
  return {
    find: name => byName.get(name),
    list: () => sorted,
    nearest: name => nearestOf(name, [...byName.keys()]),
  }
}

/** Names at a distance of at most half their length, prefixes first. Long names are cut: nobody mistypes 200 characters. */
function nearestOf(name: string, known: readonly string[]): readonly string[] {
  const asked = name.slice(0, 100).toLowerCase()
  if (asked === '') return []
  return known
    .map(candidate => {
      const other = candidate.toLowerCase()
      const distance = leven(asked, other) / Math.max(asked.length, other.length)
      return { candidate, distance: other.startsWith(asked) || asked.startsWith(other) ? distance / 2 : distance }
    })
    .filter(({ distance }) => distance <= 0.5)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
