import type { Caller, EndUserOf } from '@signalbox/core/access'
import type { CallOptions, EarlyAdmission, GatewayDecisionLog, Reply } from '@signalbox/core/request'
import type { Compaction } from '@signalbox/core/request/compaction'
import type { CallableOffers, CountTokensOptions, Fidelity, PlannedRequest, TokenCount } from '@signalbox/core/request/dry-run'
import type { Clock, Ids, Logger } from '@signalbox/core/runtime'
import type { Limits } from '@signalbox/core/upstream'
import type { ClientDialect, InferenceRequest } from '@signalbox/dialects/protocol'
import type { ModelDirectory, Replies, ResealResult, Workspaces } from '@signalbox/workspaces'
import type { Identity } from '@signalbox/workspaces/identity'
import type { Endpoints } from './in-process/endpoints.ts'

/** What `gateway.health()` found. The texts are safe to publish; details are logged. */
interface GatewayHealth {
  /** Reasons why requests cannot be served. Empty: the gateway is ready. */
  readonly problems: readonly string[]
  /** Problems during which requests are still served, such as a storage outage. */
  readonly notices: readonly string[]
}

/**
 * A gateway: the inference endpoints, workspace management, and what servers need to expose them. `ModelId` and `StrategyName`: the names
 * that in-process requests accept, as far as the options of `createGateway` are literals.
 */
export interface Gateway<ModelId extends string = string, StrategyName extends string = string> extends Endpoints<ModelId, StrategyName> {
  readonly ownedBy: string
  readonly limits: Limits
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** The client dialects that are always loaded, by name, with which servers decode requests and encode responses. */
  readonly dialects: Readonly<Record<string, ClientDialect>> & { readonly responses: ClientDialect }
  /** The other client dialects, each loaded once, on first use. */
  readonly dialectLoaders: Readonly<Record<string, () => Promise<ClientDialect>>>
  /**
   * Resolves an API key (`ak_…`), or a user that the app has signed in, to its caller.
   *
   * @throws `invalid_api_key` (401), whatever the reason.
   */
  authenticate(proof: string | EndUserOf | undefined): Promise<Caller>
  identity(caller: Caller): Promise<Identity>
  /**
   * Counts a management request against the key's limit.
   *
   * @throws `requests_per_min_exceeded` (429)
   */
  countManagement(caller: Caller, kind: 'reads' | 'writes'): Promise<void>
  /**
   * Routes a request without calling a provider. Returns the ordered candidates with estimates, and excluded offers with reasons. Learns
   * nothing.
   */
  plan(request: InferenceRequest, caller: Caller, options?: Pick<CallOptions, 'claimMemory'>): Promise<PlannedRequest>
  /**
   * Returns which features of a request each provider of the model (default: the request's models) keeps, maps, approximates or drops.
   * Calls no provider.
   */
  fidelity(request: InferenceRequest, model?: string): Promise<readonly Fidelity[]>
  /**
   * Counts a request against its rate limits and takes its slot before its body is read. Pass the result to `infer` or `countTokens`, or
   * call its `leave()`.
   *
   * @throws `requests_per_min_exceeded` (429), `concurrent_requests_exceeded` (429)
   */
  admitEarly(caller: Caller, requestId: string): Promise<EarlyAdmission>
  /**
   * Counts input tokens with the provider's token counting endpoint if it has one; otherwise estimates. Counts against the key's rate
   * limit, but is free.
   */
  countTokens(request: InferenceRequest, caller: Caller, options?: Omit<CountTokensOptions, 'caller'>): Promise<TokenCount>
  /** Starts at once and never throws. Errors reject `committed`, `whole()` and the iterators. */
  infer(request: InferenceRequest, options: CallOptions): Reply
  /**
   * Has the requested model summarize a conversation. Returns an item that replaces it in later requests of the workspace, to any provider.
   * Billed as one request.
   *
   * @throws the error that the request ends with; `provider_error` (502) if the model wrote no text.
   */
  compact(request: InferenceRequest, options: CallOptions): Promise<Compaction>
  readonly models: ModelDirectory
  /** The offers that requests of a caller's workspace can be sent to. */
  callableOffers(caller: Caller): Promise<CallableOffers>
  /** How recent requests were routed, and why. */
  readonly decisionLog: GatewayDecisionLog
  readonly workspaces: Workspaces
  readonly replies: Replies
  /** Whether other processes share the storage. They apply a change within 60 s, not all at the same time. */
  readonly isShared: boolean
  /**
   * Reseals the provider keys of all workspaces with `sealingKey`, while requests run. It may be interrupted and restarted. To rotate the
   * key: add the new key to `previousSealingKeys` in every process; then make it the `sealingKey` and move the old key to
   * `previousSealingKeys`; then call this. When none `failed`, remove the old key.
   */
  resealCredentials(): Promise<ResealResult>
  /**
   * Runs `setup` now, if it has not run. `serve` and the mounts of Fastify and Nest do so before they listen; other mounts run it before
   * the first request.
   *
   * @example
   * await gateway.ready()
   * Bun.serve({ port: 8787, ...toBunServer(gateway) })
   * @throws The error of `setup`.
   */
  ready(): Promise<void>
  /** Whether requests can be served, and what is wrong. Runs `setup` if it has not run. */
  health(): Promise<GatewayHealth>
  /** Whether `close` was called: new requests are refused, and servers close their connections. */
  isClosing(): boolean
  /**
   * Refuses new requests, gives running ones `graceMs` (default 0) to end, then ends them with `service_unavailable` and closes the
   * storage.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
