import type { Caller } from './access/caller.ts'
import type { EndUserOf } from './access/end-user.ts'
import type { Endpoints } from './in-process/endpoints.ts'
import type { ResealResult } from './management/byok/reseal.ts'
import type { Identity } from './management/identity.ts'
import type { ModelDirectory } from './management/models.ts'
import type { Replies } from './management/replies.ts'
import type { Workspaces } from './management/workspaces.ts'
import type { ClientDialect } from './protocol/dialect.ts'
import type { InferenceRequest } from './protocol/request.ts'
import type { EarlyAdmission } from './request/admission/early-admission.ts'
import type { GatewayDecisionLog } from './request/attempts/gateway-decision-log.ts'
import type { Compaction } from './request/compaction/compact.ts'
import type { CallableOffers } from './request/dry-run/callable-offers.ts'
import type { CountTokensOptions, TokenCount } from './request/dry-run/count-tokens.ts'
import type { Fidelity } from './request/dry-run/fidelity.ts'
import type { PlannedRequest } from './request/dry-run/planned-request.ts'
import type { KeptItems } from './request/item-references/kept-items.ts'
import type { CallOptions, Reply } from './request/reply.ts'
import type { Clock, Ids, Logger } from './runtime/ports.ts'
import type { Limits } from './upstream/limits.ts'

/**
 * A gateway: the inference endpoints, the management of workspaces, and what servers need to expose them. `ModelId` and
 * `StrategyName`: what requests in process may name, as far as the options of `createGateway` say it in literals.
 */
export interface Gateway<ModelId extends string = string, StrategyName extends string = string> extends Endpoints<ModelId, StrategyName> {
  readonly operator: string
  readonly limits: Limits
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** The client halves that are there at once, by name: what the HTTP side reads and writes with. */
  readonly dialects: Readonly<Record<string, ClientDialect>> & { readonly responses: ClientDialect }
  /** The other client halves, loaded when first needed; each is loaded once. */
  readonly dialectLoaders: Readonly<Record<string, () => Promise<ClientDialect>>>
  /** Resolves an API key (`ak_…`), or a user that the app has signed in, to its caller. @throws `invalid_api_key` (401), the same for every reason. */
  authenticate(proof: string | EndUserOf | undefined): Promise<Caller>
  identity(caller: Caller): Promise<Identity>
  /**
   * Counts a management request against the key's limit.
   *
   * @throws `requests_per_min_exceeded` (429)
   */
  countManagement(caller: Caller, kind: 'reads' | 'writes'): Promise<void>
  /** Routes a request without calling a provider: the candidates in order with their estimates, and the excluded with reasons. Learns nothing. */
  plan(request: InferenceRequest, caller: Caller, options?: Pick<CallOptions, 'claimMemory'>): Promise<PlannedRequest>
  /** For each provider of the model (default: the request's models): which features it would keep, map, approximate or drop. Calls no provider. */
  fidelity(request: InferenceRequest, model?: string): Promise<readonly Fidelity[]>
  /**
   * Takes the rate and the slot of a request whose body is still to be read; hand the result to `infer` or `countTokens`, and
   * call its `leave()` where it does not come to that.
   *
   * @throws `requests_per_min_exceeded` (429), `concurrent_requests_exceeded` (429)
   */
  admit(caller: Caller, requestId: string): Promise<EarlyAdmission>
  /** Input tokens, by a counter of the provider's own where there is one, else estimated. Counts against the rate of the key; nothing is paid. */
  countTokens(request: InferenceRequest, caller: Caller, options?: Omit<CountTokensOptions, 'caller'>): Promise<TokenCount>
  /** Starts at once and never throws: what goes wrong comes out of `committed`, `whole()` and the iterators. */
  infer(request: InferenceRequest, options: CallOptions): Reply
  /** Items of answers that later requests can refer to by id. Absent: none are kept. */
  readonly items?: KeptItems | undefined
  /**
   * Has the model asked summarize a conversation. The result is an item that stands for it in later requests of the workspace, to any
   * provider. Billed as one request.
   *
   * @throws what the request ends with; `provider_error` (502) if the model wrote no text.
   */
  compact(request: InferenceRequest, options: CallOptions): Promise<Compaction>
  readonly models: ModelDirectory
  /** The offers that requests of a caller's workspace can be sent to. */
  callableOffers(caller: Caller): Promise<CallableOffers>
  /** How the last requests were routed, and why. */
  readonly decisionLog: GatewayDecisionLog
  readonly workspaces: Workspaces
  readonly replies: Replies
  /** Other processes apply a change within 60 s at most, and not at the same moment. */
  readonly isShared: boolean
  /**
   * Seals the provider keys of all workspaces with the first of the sealing keys, while requests run. It may be stopped and begun
   * again. To change the key: give the new one to every process among `previousSealingKeys`, then as `sealingKey` before the old
   * one, then call this; where nothing is `left`, the old one can go.
   */
  resealCredentials(): Promise<ResealResult>
  /** Reasons why the gateway is not ready, safe to publish; details are logged. Empty: ready. */
  problems(): Promise<readonly string[]>
  /** What an operator should know although requests are served, safe to publish: an outage of the storage. */
  notices(): readonly string[]
  /** No new work; what runs gets `graceMs` (default 0) to end, then ends as `service_unavailable`; closes the storage. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
