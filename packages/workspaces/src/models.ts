import type { Clock, Logger } from '@signalbox/core/runtime'
import type { DialectName, Model, ProviderFacts } from '@signalbox/dialects/protocol'
import { type Provider, takesOwnKeys } from '@signalbox/dialects/protocol'
import { similarNames } from '@signalbox/storage/similar-names'
import { checkModels, tellStrays } from './check-models.ts'
import { modelNames } from './model-names.ts'
import { modelsAt } from './scheduled-changes.ts'

/** The models and the providers of a gateway. */
export interface ModelDirectory {
  /** Finds a model by id or alias, as currently sold. A retired model has no offers and `status: 'retired'`. */
  find(idOrAlias: string): Model | undefined
  /**
   * Like `find`, but also accepts other unambiguous spellings: host ids, dated snapshots, other separators. For requests; settings accept
   * only ids and aliases.
   *
   * @example gateway.models.resolve('openai/gpt-4o-2024-08-06')?.id // 'gpt-4o'
   */
  resolve(name: string): Model | undefined
  /** The models currently sold, sorted by id. */
  list(): readonly Model[]
  /** The closest names, best first, at most 3. */
  similarNames(name: string): readonly string[]
  /** The facts about each provider of the gateway, in the order in which the providers were given. */
  providers(): readonly ProviderRecord[]
  /**
   * Starts at 1 and increases with every `replace` and every announced price change. Data derived from one version is valid only for it.
   */
  version(): number
  /**
   * Replaces all models. A request is planned entirely with the old models or entirely with the new ones; running requests are not
   * affected. Throws a TypeError for models that `createGateway` would reject, and for an empty list, because that is what a list that
   * failed to load looks like. Nothing has changed then.
   *
   * @example gateway.models.replace(catalogModels({ providers: ['openai'], apis: ['responses', 'chat'] }))
   */
  replace(models: readonly Model[]): void
}

/** A provider as listed by the registry: its own facts, completed with those of the catalog. */
export interface ProviderRecord extends Omit<ProviderFacts, 'dataPolicy'> {
  /** For an account without further agreements. `unknown` if not stated. */
  readonly dataPolicy: string
  /** The dialects that it supports. */
  readonly dialects: readonly DialectName[]
  /** Set if workspaces cannot add their own keys for it: it runs in this process, or the operator disabled them. */
  readonly keyless?: true
}

export interface DirectoryOptions {
  /** Announced prices and retirements take effect according to its `now()`. */
  readonly clock: Pick<Clock, 'now'>
  /** How a request for a retired model is handled. Default: `error`. */
  readonly retired?: RetiredModels | undefined
  /** Facts about providers that complete those they state themselves. */
  readonly facts?: readonly ProviderFacts[] | undefined
  /** Receives warnings about offers and models that cannot be requested. */
  readonly logger?: Logger
}

/** `error`: a request for a retired model is refused, and the error names the successor. `successor`: the successor is used. */
export type RetiredModels = 'error' | 'successor'

/**
 * Models by id and alias.
 *
 * @throws {TypeError} One is invalid, or two share a name: a request must have one meaning.
 */
export function directoryOf(
  given: readonly Model[],
  providers: readonly Provider[],
  { facts = [], logger, clock, retired = 'error' }: DirectoryOptions,
): ModelDirectory {
  const known = new Map(facts.map(each => [each.id, each]))
  const records = providers.map(provider => recordOf(provider, known.get(provider.id)))
  const policies = new Map(records.map(({ id, dataPolicy }) => [id, dataPolicy]))
  const announce = (models: readonly Model[], where: string): readonly Model[] => {
    checkModels(models, providers, where)
    if (logger) tellStrays(models, providers, logger)
    return models.map(model => withPolicies(model, policies))
  }
  let announced = announce(given, 'createGateway')
  // A single reference, so that a reader never sees a mixture of two sets.
  let current = stockAt(announced, { now: clock.now(), where: 'createGateway', retired })
  let version = 1
  const stock = (): Stock => {
    if (current.isTimeless) return current
    const now = clock.now()
    if (now >= current.until || now < current.since) {
      current = stockAt(announced, { now, where: 'models', retired })
      version++
    }
    return current
  }
  return {
    find: name => stock().byName.get(name),
    resolve: name => {
      const { byName, spelled } = stock()
      return byName.get(name) ?? spelled(name)
    },
    list: () => stock().sorted,
    similarNames: name => similarNames(name, stock().names),
    providers: () => records,
    version: () => {
      stock()
      return version
    },
    replace: models => {
      if (models.length === 0)
        throw new TypeError('models.replace: the list of models is empty; it takes at least one model. The current models are unchanged.')
      const next = announce(models, 'models.replace')
      current = stockAt(next, { now: clock.now(), where: 'models.replace', retired })
      announced = next
      version++
    },
  }
}

const recordOf = (provider: Provider, facts?: ProviderFacts): ProviderRecord => {
  const { id, displayName, dataPolicy, dialects } = provider
  return {
    ...facts,
    id,
    displayName: displayName ?? facts?.displayName ?? id,
    dataPolicy: dataPolicy ?? facts?.dataPolicy ?? 'unknown',
    dialects: dialects.map(({ name }) => name),
    keyless: !takesOwnKeys(provider) || undefined,
  }
}

const withPolicies = (model: Model, policies: ReadonlyMap<string, string>): Model => ({
  ...model,
  offers: model.offers.map(offer => ({ ...offer, dataPolicy: offer.dataPolicy ?? policies.get(offer.provider) ?? 'unknown' })),
})

/** Models as sold between two announced changes. */
interface Stock {
  readonly byName: ReadonlyMap<string, Model>
  /** Without retired models. */
  readonly sorted: readonly Model[]
  /** Finds a model by another spelling. */
  readonly spelled: (name: string) => Model | undefined
  /** Names of models that are not retired. */
  readonly names: readonly string[]
  /** Whether nothing is announced and nothing has changed. */
  readonly isTimeless: boolean
  /** Unix milliseconds. */
  readonly since: number
  readonly until: number
}

interface StockContext {
  readonly now: number
  /** The function that was given the models. */
  readonly where: string
  readonly retired: RetiredModels
}

function stockAt(announced: readonly Model[], { now, where, retired }: StockContext): Stock {
  const { models, until } = modelsAt(announced, now)
  const byName = new Map<string, Model>()
  for (const model of models) {
    for (const name of [model.id, ...(model.aliases ?? [])]) {
      const other = byName.get(name)
      if (other && other !== model)
        throw new TypeError(`${where}: the name "${name}" is used by two models, "${other.id}" and "${model.id}". Rename one of them.`)
      byName.set(name, model)
    }
  }
  const sold = models.filter(({ status }) => status !== 'retired')
  const stock = {
    byName: retired === 'error' ? byName : withSuccessors(byName),
    spelled: modelNames(models),
    sorted: sold.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    names: [...byName].flatMap(([name, { status }]) => (status === 'retired' ? [] : [name])),
  }
  const isTimeless = until === Number.POSITIVE_INFINITY && models.every((model, index) => model === announced[index])
  return { ...stock, isTimeless, since: now, until }
}

/** Maps names of retired models to their successors that are still sold. */
const withSuccessors = (byName: ReadonlyMap<string, Model>): ReadonlyMap<string, Model> =>
  new Map([...byName].map(([name, model]) => [name, successorOf(model, byName) ?? model]))

function successorOf(model: Model, byName: ReadonlyMap<string, Model>): Model | undefined {
  const passed = new Set<Model>()
  let next: Model | undefined = model
  while (next?.status === 'retired' && !passed.has(next)) {
    passed.add(next)
    next = next.successor === undefined ? undefined : byName.get(next.successor)
  }
  return next?.status === 'retired' ? undefined : next
}
