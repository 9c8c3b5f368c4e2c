import { nearestOf } from '../errors/nearest.ts'
import type { Model } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'
import type { ProviderFacts } from '../protocol/provider-facts.ts'
import type { DialectName } from '../protocol/wire.ts'
import type { Logger } from '../runtime/ports.ts'
import { checkModels, tellStrays } from './check-models.ts'

/** The models and the providers of a gateway: what can be asked for, and of whom. */
export interface ModelDirectory {
  /** By id or alias. */
  find(idOrAlias: string): Model | undefined
  /** In the order of their ids. */
  list(): readonly Model[]
  /** Closest names, best first, at most 3. */
  nearest(name: string): readonly string[]
  /** What is known of each provider that the gateway has, in the order in which it was given them. */
  providers(): readonly ProviderRecord[]
  /** 1 at first, and one more with every `replace`: what was made of one version is true of that one alone. */
  version(): number
  /**
   * Puts other models in place of all that there are. A request is planned with the old ones or with the new ones, never with
   * some of each; what has been planned goes on as it was. Throws a TypeError for what would not do at the start either, and
   * for no models at all, which is what a list that failed to load looks like; nothing has changed then.
   *
   * @example gateway.models.replace(catalogModels({ providers: ['openai'], dialects: ['responses', 'chat'] }))
   */
  replace(models: readonly Model[]): void
}

/** A provider as the registry shows it: what it says of itself, and what is known of it where it says nothing. */
export interface ProviderRecord extends Omit<ProviderFacts, 'data_policy'> {
  /** Of an account without further agreements. `unknown`: nobody says. */
  readonly data_policy: string
  /** The languages that it speaks. */
  readonly dialects: readonly DialectName[]
  /** It lives in this process: there are no keys for it. */
  readonly keyless?: true
}

export interface DirectoryOptions {
  /** What is known of providers beside what they say themselves. */
  readonly facts?: readonly ProviderFacts[] | undefined
  /** Hears of offers and models that nobody can be asked for. */
  readonly logger?: Logger
}

/** Models by id and alias. Throws where one is at fault, or two claim one name: a request must mean one thing. */
export function directoryOf(
  given: readonly Model[],
  providers: readonly Provider[],
  { facts = [], logger }: DirectoryOptions = {},
): ModelDirectory {
  const known = new Map(facts.map(each => [each.id, each]))
  const records = providers.map(provider => recordOf(provider, known.get(provider.id)))
  const policies = new Map(records.map(({ id, data_policy }) => [id, data_policy]))
  const stock = (models: readonly Model[], where: string): Stock => {
    checkModels(models, providers, where)
    const made = stockOf(
      models.map(model => withPolicies(model, policies)),
      where,
    )
    if (logger) tellStrays(models, providers, logger)
    return made
  }
  // One reference, so that whoever looks sees one set whole.
  let current = stock(given, 'createGateway')
  let version = 1
  return {
    find: name => current.byName.get(name),
    list: () => current.sorted,
    nearest: name => nearestOf(name, [...current.byName.keys()]),
    providers: () => records,
    version: () => version,
    replace: models => {
      if (models.length === 0)
        throw new TypeError('models.replace: the list of models is empty; it takes at least one, and the old ones stay until then.')
      current = stock(models, 'models.replace')
      version++
    },
  }
}

const recordOf = ({ id, display_name, data_policy, dialects, answer }: Provider, facts?: ProviderFacts): ProviderRecord => ({
  ...facts,
  id,
  display_name: display_name ?? facts?.display_name ?? id,
  data_policy: data_policy ?? facts?.data_policy ?? 'unknown',
  dialects: dialects.map(({ name }) => name),
  ...(answer && { keyless: true }),
})

const withPolicies = (model: Model, policies: ReadonlyMap<string, string>): Model => ({
  ...model,
  offers: model.offers.map(offer => ({ ...offer, data_policy: offer.data_policy ?? policies.get(offer.provider) ?? 'unknown' })),
})

interface Stock {
  readonly byName: ReadonlyMap<string, Model>
  readonly sorted: readonly Model[]
}

function stockOf(models: readonly Model[], where: string): Stock {
  const byName = new Map<string, Model>()
  for (const model of models) {
    for (const name of [model.id, ...(model.aliases ?? [])]) {
      const other = byName.get(name)
      if (other && other !== model)
        throw new TypeError(`${where}: the name "${name}" belongs to the models "${other.id}" and "${model.id}". Rename one.`)
      byName.set(name, model)
    }
  }
  return { byName, sorted: [...models].sort((a, b) => (a.id < b.id ? -1 : 1)) }
}
