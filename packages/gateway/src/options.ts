import type { Caller } from '@signalbox/core/access'
import type { StoredItemOptions } from '@signalbox/core/request'
import type { StrategyName } from '@signalbox/core/routing'
import type { Clock, Hooks, Ids, Logger, MediaReader, WaitUntil } from '@signalbox/core/runtime'
import type { Limits, Timeouts } from '@signalbox/core/upstream'
import type { DialectName, InferenceRequest, Model, Provider, ProviderFacts, Transport } from '@signalbox/dialects/protocol'
import type { Strategy } from '@signalbox/router'
import type { DecisionLogOptions } from '@signalbox/router/decision-log'
import type { Storage } from '@signalbox/storage'
import type { BillingOptions, RetiredModels } from '@signalbox/workspaces'
import type { Setup } from './setup.ts'

/**
 * The options of `createGateway`. Literals in them determine the names that in-process requests accept: ids and aliases of models, and
 * strategies.
 */
export interface GatewayOptions<
  ModelId extends string = string,
  OfferedBy extends string = string,
  ProviderId extends string = string,
  OwnStrategy extends string = string,
  OfferedIn extends string = DialectName,
> {
  /** The providers that can be called. Their order breaks ties. */
  readonly providers: readonly Provider<ProviderId>[]
  /** The models that can be requested, with the offers of their providers. */
  readonly models: readonly Model<ModelId, OfferedBy, OfferedIn>[]
  /**
   * What a request for a retired model (`retiresAt` has passed for every offer) receives: `error`, which names the successor, or a
   * response from the `successor` if it is known and offered. Default: `error`.
   */
  readonly retiredModels?: RetiredModels
  /**
   * Facts about providers other than how to call them. Values set on a provider or an offer take precedence; of two entries with the same
   * id the later one is used; entries for unknown providers are ignored. Default: the values of the providers themselves.
   */
  readonly facts?: readonly ProviderFacts[]
  /** Where keys, credit, limits and usage are stored. */
  readonly storage: Storage
  /** The `owned_by` of models. Default: `signalbox`. */
  readonly ownedBy?: string
  /**
   * The default strategy for choosing among candidates: `balanced`, `cost`, `latency`, `throughput`,
   * `availability`, `order` (as given), or a name from `strategies`. Default: `balanced`.
   */
  readonly strategy?: StrategyName | NoInfer<OwnStrategy>
  /**
   * Custom strategies by name; requests may name them too. A strategy receives the estimates of an offer for a request and returns a
   * number: lower is tried first. If it throws or returns no number, the offer ranks last. Built-in names cannot be reused.
   *
   * @example { thrifty: ({ cost, failureProbability }) => cost + 0.01 * failureProbability }
   */
  readonly strategies?: Readonly<Record<OwnStrategy, Strategy>>
  /**
   * Whether requests may be hedged if they do not specify it: a second provider is called when the first has been silent for so long that
   * further waiting costs more than another call. Only streams without hosted tools are hedged. The caller pays for the response and for
   * the prompt that the slower provider accepted. Default: false.
   */
  readonly hedge?: boolean
  /** Maximum expected cost of a hedged call in microdollars, as in `usd(0.01)`. Default: any. */
  readonly maxHedgeCost?: number
  /**
   * Which routing decisions are kept for `gateway.decisionLog`: `keep` decisions (default 1,000, at most 5 kB of memory each) of a `share`
   * of the requests (default 1, all). The usage row of each of those requests keeps a summary (the order, the attempts, the number of
   * exclusions), which every process can read, even after a restart. `store`: the share of the rows that keep full evidence, usually 2 to
   * 5 kB and at most 16 kB each (default 0.1; requests that failed or needed another attempt always keep it). 0: rows keep nothing.
   * `false`: nothing is kept anywhere.
   */
  readonly decisionLog?: (DecisionLogOptions & { readonly store?: number }) | false
  /**
   * For how long and where output items are kept, so that later requests can refer to them by id (`item_reference`). Clients of the
   * Responses API that assume stored responses do so. Nothing is kept for workspaces and requests that require zero data retention.
   * `false`: nothing is kept, and a reference is refused with 400. Default: an hour, in the memory of the process.
   */
  readonly storedItems?: StoredItemOptions | false
  /** An integer seed. Gateways with the same seed and the same observations make the same choices. Default: drawn from `ids`. */
  readonly seed?: number
  /** Timeouts of requests in milliseconds. */
  readonly timeouts?: Partial<Timeouts>
  /** Limits for keys and workspaces that do not set their own. */
  readonly limits?: Partial<Limits>
  /** Changes a request before it is routed. Hooks can only observe requests. */
  readonly transformRequest?: (request: InferenceRequest, caller: Caller) => InferenceRequest | Promise<InferenceRequest>
  /** Observers of requests. */
  readonly hooks?: Hooks
  /** Auto reload of credit. */
  readonly billing?: BillingOptions
  /** How providers are called. Default: the runtime's own fetch; on Node, `nodeTransport()` needs less CPU time; on Deno it keeps connections. */
  readonly transport?: Transport
  /** Downloads images and files by URL for providers that accept only bytes. Default: none, and such providers are not used for them. */
  readonly media?: MediaReader
  /**
   * 32 random bytes, or 64 hex digits (`openssl rand -hex 32`). Must be the same in every process that serves the same callers. It seals
   * the reasoning state that clients send back, and BYOK keys, and signs the end of audit chains. Default: a random key of this process:
   * what it sealed cannot be opened after a restart, and workspaces cannot add BYOK keys.
   */
  readonly sealingKey?: Uint8Array | string | undefined
  /** Former sealing keys, which can still open what they sealed. After `gateway.resealCredentials()`, BYOK keys no longer need them. */
  readonly previousSealingKeys?: readonly (Uint8Array | string)[]
  /**
   * Creates workspaces, keys and credit before the first request, for runtimes that forbid I/O while a module is loaded (Workers). Runs
   * once in each process, also for a readiness check, and again after a failure. Creating something that exists returns it unchanged.
   *
   * @example async setup({ workspaces }) { await workspaces.create({ id: 'app', name: 'My app' }) }
   */
  readonly setup?: Setup
  /**
   * Keeps the background work of in-process calls alive in runtimes that may drop it with the request: `waitUntil` of
   * `cloudflare:workers`. Handlers use `waitUntil` of their request's context. Default: none.
   */
  readonly waitUntil?: WaitUntil
  /** Provides time and timers. Default: those of the runtime. */
  readonly clock?: Clock
  /** Provides ids and random bytes. Default: those of the runtime. */
  readonly ids?: Ids
  /** Receives warnings and errors with pino's argument order (fields, then message). Default: the console. */
  readonly logger?: Logger
}

/** Rejects offers of a provider that is not among `providers`, if both are literals. */
export type KnownProviders<OfferedBy extends string, ProviderId extends string> = string extends OfferedBy | ProviderId
  ? unknown
  : [Exclude<OfferedBy, ProviderId>] extends [never]
    ? unknown
    : { readonly providers: readonly Provider<Exclude<OfferedBy, ProviderId>>[] }

/** The literal names of a union, without `string` itself. */
type Literals<Name extends string> = Name extends string ? (string extends Name ? never : Name) : never

/**
 * Rejects offers in a dialect that is neither built in nor one of `providers`, if it is a literal. A provider names a dialect of its own in
 * its type: `Provider<'acme', 'acme'>`, or the result of `defineProvider`.
 */
export type KnownDialects<OfferedIn extends string, Called extends Provider> = [
  Exclude<Literals<OfferedIn>, Literals<DialectName | NameOfDialect<Called>>>,
] extends [never]
  ? unknown
  : { readonly models: readonly Model<string, string, Literals<DialectName | NameOfDialect<Called>>>[] }

type NameOfDialect<Called extends Provider> = Called['dialects'][number]['name']

/** Default of `decisionLog.store`. Full evidence adds a third to the processing time of a request. */
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
