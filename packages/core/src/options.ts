import type { Strategy } from '@signalbox/router'
import type { RecordOptions } from '@signalbox/router/decision-log'
import type { Storage } from '@signalbox/storage'
import type { Caller } from './access/caller.ts'
import type { RetiredModels } from './management/models.ts'
import type { BillingOptions } from './management/money/reloads.ts'
import type { Model } from './protocol/model.ts'
import type { Provider } from './protocol/provider.ts'
import type { ProviderFacts } from './protocol/provider-facts.ts'
import type { InferenceRequest } from './protocol/request.ts'
import type { ItemOptions } from './request/item-references/kept-items.ts'
import type { StrategyName } from './routing/strategies.ts'
import type { Clock, Hooks, Ids, Logger, MediaReader, Transport } from './runtime/ports.ts'
import type { WaitUntil } from './runtime/wait-until.ts'
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
