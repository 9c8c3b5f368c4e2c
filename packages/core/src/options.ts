import type { Strategy } from '@signalbox/router'
import type { RecordOptions } from '@signalbox/router/decision-log'
import type { Storage } from '@signalbox/storage'
import type { Caller } from './access/caller.ts'
import { callLimitsTable } from './access/end-user.ts'
import { nearestOf } from './errors/nearest.ts'
import { checkOptionTable, described, type OptionTableOf } from './errors/option-table.ts'
import type { RetiredModels } from './management/models.ts'
import type { BillingOptions } from './management/money/reloads.ts'
import type { Model } from './protocol/model.ts'
import type { Provider } from './protocol/provider.ts'
import type { ProviderFacts } from './protocol/provider-facts.ts'
import type { InferenceRequest } from './protocol/request.ts'
import type { ItemOptions } from './request/item-references/kept-items.ts'
import { type StrategyName, strategies } from './routing/strategies.ts'
import type { WaitUntil } from './runtime/hand-over.ts'
import type { Clock, Hooks, Ids, Logger, MediaReader, Transport } from './runtime/ports.ts'
import { bytesOfKey, keyBytes } from './runtime/seal.ts'
import type { Setup } from './setup.ts'
import type { Limits, Timeouts } from './upstream/limits.ts'

/**
 * The options of `createGateway`. What is written there in literals gives the names that the gateway's requests may use: ids and
 * aliases of models, and strategies.
 */
export interface GatewayOptions<
  ModelId extends string = string,
  OfferedBy extends string = string,
  ProviderId extends string = string,
  OwnStrategy extends string = string,
> {
  /** Providers that can be called. Their order breaks ties. */
  readonly providers: readonly Provider<ProviderId>[]
  /** The models that can be requested, with the offers of their providers. */
  readonly models: readonly Model<ModelId, OfferedBy>[]
  /**
   * What a request for a model gets that was shut down (`retires_at` has passed for every offer): `error`, which names the
   * successor, or an answer of the `successor`, where it is known and sold here. Default: `error`.
   */
  readonly retiredModels?: RetiredModels
  /**
   * What is known of providers beside how to call them. What a provider or an offer says of itself wins; of two with one id the
   * later counts; those of providers that are not here do nothing. Default: what the providers themselves say.
   */
  readonly facts?: readonly ProviderFacts[]
  /** Where keys, credit, limits and usage are kept. */
  readonly storage: Storage
  /** Shown as `owned_by`. Default: `signalbox`. */
  readonly operator?: string
  /**
   * The default strategy for choosing among candidates: `balanced`, `cost`, `latency`, `throughput`,
   * `availability`, `order` (as given), or a name from `strategies`. Default: `balanced`.
   */
  readonly strategy?: StrategyName | NoInfer<OwnStrategy>
  /**
   * Strategies of your own, by name; requests may name them too. Each sees expectations of an offer for one request and returns
   * a number: lower goes first. What throws or is no number is worst. The names above are taken.
   *
   * @example { thrifty: ({ cost, failure }) => cost + 0.01 * failure }
   */
  readonly strategies?: Readonly<Record<OwnStrategy, Strategy>>
  /**
   * Two providers may be asked at once where a request does not say: the second when the first has been silent for so long that
   * further waiting costs more than another call. Streams without hosted tools only. The caller pays for the answer, and for
   * the prompt that the slower one had taken. Default: false.
   */
  readonly hedge?: boolean
  /** USD that such a second call may be expected to cost. Default: any. */
  readonly hedgeMaxCost?: number
  /**
   * What is kept of routing decisions, for `gateway.decisionLog`: `keep` decisions (default 1,000, at most 5 kB of memory each) of a
   * `share` of the requests (default 1, all). The usage row of each of those keeps a summary (the order, the attempts, the number of
   * exclusions), which any process can read, after a restart too. `store`: the share of the rows that keep full evidence, mostly 2 to
   * 5 kB and at most 16 kB each (default 0.1; requests that failed or needed another attempt always keep it). 0: rows keep nothing.
   * `false`: nothing is kept anywhere.
   */
  readonly record?: (RecordOptions & { readonly store?: number }) | false
  /**
   * For how long later requests can refer to items of answers by id (`item_reference`), as clients of the Responses API do that take
   * answers for stored, and where the items are kept meanwhile. Workspaces and requests that demand zero data retention keep none.
   * `false`: nothing is kept, and a reference is a 400. Default: an hour, in the memory of the process.
   */
  readonly items?: ItemOptions | false
  /** A whole number. Gateways with the same seed that see the same choose the same. Default: drawn from `ids`. */
  readonly seed?: number
  /** Times of requests, in milliseconds. */
  readonly timeouts?: Partial<Timeouts>
  /** Limits of keys and workspaces that have none of their own. */
  readonly limits?: Partial<Limits>
  /** The one place to change a request on its way in. Everything else only watches. */
  readonly prepare?: (request: InferenceRequest, caller: Caller) => InferenceRequest | Promise<InferenceRequest>
  /** Observers of requests. */
  readonly hooks?: Hooks
  /** How credit is reloaded. */
  readonly billing?: BillingOptions
  /** How providers are reached. Default: the runtime's own fetch; on Node, `nodeTransport()` costs a third. */
  readonly transport?: Transport
  /** Reads images and files at addresses for providers that take bytes only. Default: none, and such providers are not asked. */
  readonly media?: MediaReader
  /**
   * 32 random bytes, or the same as 64 hex digits (`openssl rand -hex 32`); the same in every process that serves the same callers. They seal the reasoning state that callers carry
   * from one request to the next and the provider keys that workspaces bring, and sign the end of audit chains. Default: a key of this process alone, and what it
   * sealed ends with it; then no workspace can bring keys.
   */
  readonly sealingKey?: Uint8Array | string | undefined
  /** Keys of before: what they sealed still opens. `gateway.resealCredentials()` makes them superfluous for provider keys. */
  readonly previousSealingKeys?: readonly (Uint8Array | string)[]
  /**
   * Makes workspaces, keys and credit before the first request, where a runtime forbids that while a module is loaded (Workers).
   * It runs once in each process, also for a readiness check, and again where it failed. Creating what is there returns it as it is.
   *
   * @example async setup({ workspaces }) { await workspaces.create({ id: 'app', name: 'My app' }) }
   */
  readonly setup?: Setup
  /**
   * Gets the work of calls in process that a runtime may drop with the request that made them: `waitUntil` of `cloudflare:workers`.
   * Handlers use that of the context of their request. Default: none.
   */
  readonly waitUntil?: WaitUntil
  /** Time and timers. Default: those of the runtime. */
  readonly clock?: Clock
  /** Ids and random bytes. Default: those of the runtime. */
  readonly ids?: Ids
  /** Gets warnings and errors, facts first, as pino takes them. Default: the console. */
  readonly logger?: Logger
}

/** Refuses offers of a provider that is not among the providers, where both are written in literals. */
export type KnownProviders<OfferedBy extends string, ProviderId extends string> = string extends OfferedBy | ProviderId
  ? unknown
  : [Exclude<OfferedBy, ProviderId>] extends [never]
    ? unknown
    : { readonly providers: readonly Provider<Exclude<OfferedBy, ProviderId>>[] }

/** To write one down takes a third of what else a request takes in this process. */
export const defaultStored = 0.1
export const defaultStrategy = 'balanced'
export const defaultTimeouts: Timeouts = { firstByteMs: 120_000, wholeMs: 300_000, deadlineMs: 1_080_000, idleMs: 120_000 }
export const defaultLimits: Limits = {
  inferenceRpm: 1_000,
  managementReadsRpm: 300,
  managementWritesRpm: 60,
  concurrentRequests: 200,
  maxOutputTokens: 16_384,
  attempts: 4,
}

const optionTable: OptionTableOf<GatewayOptions> = {
  providers: 'list',
  models: 'list',
  retiredModels: 'text',
  facts: 'list',
  storage: 'object',
  operator: 'text',
  strategy: 'text',
  strategies: 'object',
  hedge: 'flag',
  hedgeMaxCost: 'number',
  record: 'object or false',
  items: 'object or false',
  seed: 'number',
  timeouts: { firstByteMs: 'number', wholeMs: 'number', deadlineMs: 'number', idleMs: 'number' } satisfies OptionTableOf<Timeouts>,
  limits: {
    inferenceRpm: 'number',
    tokensPerMinute: 'number',
    managementReadsRpm: 'number',
    managementWritesRpm: 'number',
    concurrentRequests: 'number',
    workspace: callLimitsTable,
    maxOutputTokens: 'number',
    attempts: 'number',
  } satisfies OptionTableOf<Limits>,
  prepare: 'function',
  hooks: {
    onPlan: 'function',
    onFailure: 'function',
    onCommit: 'function',
    onSettle: 'function',
    onBudget: 'function',
    onInvite: 'function',
  } satisfies OptionTableOf<Hooks>,
  billing: { onReload: 'function', hasPaymentMethod: 'function' } satisfies OptionTableOf<BillingOptions>,
  transport: 'any',
  media: 'function',
  sealingKey: 'any',
  previousSealingKeys: 'list',
  setup: 'function',
  waitUntil: 'function',
  clock: 'object',
  ids: 'object',
  logger: 'object',
}

const recordTable: OptionTableOf<Exclude<GatewayOptions['record'], false | undefined>> = {
  keep: 'number',
  share: 'number',
  store: 'number',
}
const itemsTable: OptionTableOf<ItemOptions> = { store: 'flag', ttl: 'number', maxBytes: 'number', maxTotalBytes: 'number' }

/** What a gateway cannot do without, and an example of each. */
const required = {
  providers: 'a list of providers, as in [openai({ apiKey })]',
  models: 'a list of models, such as `catalogModels` of @signalbox/catalog',
  storage: 'a storage, such as memoryStorage()',
} as const

/** Throws a TypeError that names the option, what it got, and what it takes. The models are looked at where they are put in order. */
export function checkOptions(options: GatewayOptions): void {
  checkOptionTable({ call: 'createGateway' }, options ?? {}, optionTable)
  for (const [name, takes] of Object.entries(required))
    if (options?.[name as keyof typeof required] === undefined)
      throw new TypeError(`createGateway: \`${name}\` is missing; it takes ${takes}.`)
  checkOptionTable({ call: 'createGateway', option: 'record' }, options.record || undefined, recordTable)
  checkOptionTable({ call: 'createGateway', option: 'items' }, options.items || undefined, itemsTable)
  if (typeof options.storage.ping !== 'function')
    throw new TypeError(`createGateway: \`storage\` is an object without stores; it takes ${required.storage}.`)
  checkProviders(options)
  checkKeys(options)
  const { seed, hedgeMaxCost, retiredModels } = options
  if (retiredModels !== undefined && retiredModels !== 'error' && retiredModels !== 'successor')
    throw new TypeError(`createGateway: \`retiredModels\` is "${retiredModels}"; it takes "error" or "successor".`)
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new TypeError(`createGateway: \`seed\` is ${seed}; it takes a whole number.`)
  if (hedgeMaxCost !== undefined && !(hedgeMaxCost >= 0))
    throw new TypeError(`createGateway: \`hedgeMaxCost\` is ${hedgeMaxCost}; it takes USD, 0 or more.`)
  const { workspace, ...limits } = options.limits ?? {}
  for (const [group, numbers] of Object.entries({ timeouts: options.timeouts, limits, 'limits.workspace': workspace })) {
    for (const [name, value] of Object.entries(numbers ?? {})) {
      if (!Number.isSafeInteger(value) || value < 1)
        throw new TypeError(`createGateway: \`${group}.${name}\` is ${value}; it takes a whole number, 1 or more.`)
    }
  }
  checkStored(options)
  checkItems(options)
  checkStrategies(options)
}

function checkProviders({ providers }: GatewayOptions): void {
  const ids = new Set<string>()
  for (const [at, provider] of providers.entries()) {
    if (typeof provider !== 'object' || typeof provider?.id !== 'string' || typeof provider.authorize !== 'function') {
      const hint =
        typeof provider === 'function'
          ? 'a function; call it, as in openai({ apiKey })'
          : `${described(provider)}; it takes a provider, as in openai({ apiKey })`
      throw new TypeError(`createGateway: \`providers[${at}]\` is ${hint}.`)
    }
    const { id } = provider
    if (ids.has(id)) throw new TypeError(`createGateway: \`providers\` contains "${id}" twice. Give each provider its own \`id\`.`)
    ids.add(id)
  }
}

function checkStored({ record }: GatewayOptions): void {
  const { store = defaultStored } = record || {}
  if (!(store >= 0 && store <= 1)) throw new TypeError(`createGateway: \`record.store\` is ${store}; it takes a number from 0 to 1.`)
}

function checkItems({ items, storage, sealingKey }: GatewayOptions): void {
  if (!items) return
  const { store, ...numbers } = items
  for (const [name, value] of Object.entries(numbers))
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      throw new TypeError(`createGateway: \`items.${name}\` is ${value}; it takes a whole number, 1 or more.`)
  if (!store) return
  if (!storage.items)
    throw new TypeError(
      'createGateway: `items.store` is true, but the storage does not support items. Remove the option, or use a storage with `items`.',
    )
  if (!sealingKey)
    throw new TypeError(
      'createGateway: `items.store` is true without a `sealingKey`, so other processes could not open the stored items. Set the same `sealingKey` in all processes.',
    )
}

/** A name means one thing, in every gateway: requests carry it from one to another. */
function checkStrategies({ strategy, strategies: own = {} }: GatewayOptions): void {
  const taken = Object.keys(own).find(name => Object.hasOwn(strategies, name))
  if (taken !== undefined)
    throw new TypeError(`createGateway: \`strategies\` holds "${taken}", which is the name of a built-in strategy. Use another name.`)
  const known = [...Object.keys(strategies), ...Object.keys(own)]
  if (strategy === undefined || known.includes(strategy)) return
  const [close] = nearestOf(strategy, known)
  throw new TypeError(
    `createGateway: \`strategy\` is "${strategy}"; it takes ${known.join(', ')}, or a name from \`strategies\`.${close === undefined ? '' : ` Did you mean "${close}"?`}`,
  )
}

function checkKeys({ sealingKey, previousSealingKeys = [] }: GatewayOptions): void {
  if (!sealingKey && previousSealingKeys.length > 0)
    throw new TypeError('createGateway: `previousSealingKeys` is set without a `sealingKey`.')
  const named = [['sealingKey', sealingKey] as const, ...previousSealingKeys.map((key, at) => [`previousSealingKeys[${at}]`, key] as const)]
  for (const [name, key] of named) {
    // The variable that it was read from is not set.
    if (key === undefined || (key === '' && name === 'sealingKey')) continue
    const bytes = bytesOfKey(key)
    if (bytes?.length === keyBytes && bytes.some(byte => byte !== 0)) continue
    if (bytes?.length === keyBytes)
      throw new TypeError(`createGateway: \`${name}\` is all zeros, which is easy to guess; it takes ${keyBytes} random bytes.`)
    const got = bytes ? `${bytes.length} bytes` : typeof key === 'string' ? 'a string that is not hex' : `a ${typeof key}`
    throw new TypeError(
      `createGateway: \`${name}\` is ${got}; it takes ${keyBytes} random bytes, or ${2 * keyBytes} hex digits, as printed by \`openssl rand -hex ${keyBytes}\`.`,
    )
  }
}
