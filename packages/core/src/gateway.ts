import { createDynamicRouter, randomSeed } from '@signalbox/router'
import { decisionLogLimits } from '@signalbox/router/decision-log'
import { promised } from '@signalbox/storage/awaitable'
import { createAuthenticator } from './access/authenticate.ts'
import type { Caller } from './access/caller.ts'
import { createVault } from './access/credential-vault.ts'
import type { EndUserOf } from './access/end-user.ts'
import { createKeyRefusals } from './access/key-refusals.ts'
import { recordsOf } from './access/records.ts'
import { createWorkspacePolicies } from './access/workspace-policy.ts'
import { closeGateway } from './close-gateway.ts'
import { makeSchemaCache } from './dialects/fit-schemas.ts'
import { chatClient, clientDialects, messagesClient, responsesClient } from './dialects/index.ts'
import { type Endpoints, endpointsOf } from './in-process/endpoints.ts'
import { keepAnchors } from './management/audit-anchor.ts'
import { keepByok } from './management/byok/byok.ts'
import type { ResealResult } from './management/byok/reseal.ts'
import { boundsCheckOf } from './management/check-bounds.ts'
import { tellKeyless } from './management/check-models.ts'
import { createCommitWithAudit } from './management/commit-with-audit.ts'
import { type Identity, identityOf } from './management/identity.ts'
import { directoryOf, type ModelDirectory } from './management/models.ts'
import { keepReloads } from './management/money/reloads.ts'
import { type Replies, repliesOf } from './management/replies.ts'
import { type Workspaces, workspacesOf } from './management/workspaces.ts'
import { createOutputPaces } from './metering/hidden-tokens.ts'
import { createSettlements } from './metering/settlements.ts'
import { createUsageDrains } from './metering/usage-drains.ts'
import { checkOptions, defaultLimits, defaultStored, defaultStrategy, defaultTimeouts, type GatewayOptions } from './options.ts'
import type { ClientDialect } from './protocol/dialect.ts'
import type { AccountTier } from './protocol/provider-facts.ts'
import type { InferenceRequest } from './protocol/request.ts'
import { admitEarly, type EarlyAdmission } from './request/admission/early-admission.ts'
import { createLeases } from './request/admission/leases.ts'
import { countManagement } from './request/admission/management-rate.ts'
import { createGatewayDecisionLog, type GatewayDecisionLog } from './request/attempts/gateway-decision-log.ts'
import { type Compaction, compact } from './request/compaction/compact.ts'
import { type CallableOffers, callableOffers } from './request/dry-run/callable-offers.ts'
import { type CountTokensOptions, countRequestTokens, type TokenCount } from './request/dry-run/count-tokens.ts'
import { type Fidelity, fidelityOfModel } from './request/dry-run/fidelity.ts'
import { type PlannedRequest, planRequest } from './request/dry-run/planned-request.ts'
import { infer, type RequestPorts } from './request/infer.ts'
import type { KeptItems } from './request/item-references/kept-items.ts'
import { openItems } from './request/item-references/open-items.ts'
import type { Live } from './request/live.ts'
import { type CallOptions, type Reply, refusedReply } from './request/reply.ts'
import { createRoutingSync } from './request/routing-sync/routing-sync.ts'
import { createHoldCollector } from './request/settlement/collect-holds.ts'
import { evidenceFrom } from './request/settlement/evidence.ts'
import { createRetention } from './request/settlement/retention.ts'
import { unavailableErrors } from './request/unavailable-errors.ts'
import { safeStrategies, strategies } from './routing/strategies.ts'
import { createCandidateTracker } from './routing/tracked-offers.ts'
import type { Clock, Ids, Logger } from './runtime/ports.ts'
import { createReadinessCheck } from './runtime/readiness.ts'
import { keyRingOf } from './runtime/seal.ts'
import { consoleLogger, webClock, webIds, webTransport } from './runtime/web.ts'
import { createSetup } from './setup.ts'
import type { Limits } from './upstream/limits.ts'

/** A gateway: the inference endpoints, the management of workspaces, and what servers need to expose them. */
export interface Gateway extends Endpoints {
  readonly operator: string
  readonly limits: Limits
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** The client halves by name: what the HTTP side reads and writes with. */
  readonly dialects: Readonly<Record<string, ClientDialect>> & { readonly responses: ClientDialect }
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
  plan(request: InferenceRequest, caller: Caller): Promise<PlannedRequest>
  /** For each provider of the model (default: the request's models): which features it would keep, map, approximate or drop. Calls no provider. */
  fidelity(request: InferenceRequest, model?: string): readonly Fidelity[]
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
  /** No new work; what runs gets `graceMs` (default 0) to end, then ends as `service_unavailable`; closes the storage. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * Joins providers, models and a storage into a gateway.
 *
 * @example
 * const gateway = createGateway({ providers: [openai({ apiKey })], models, storage: memoryStorage() })
 * @throws {TypeError} An option has a value that it does not take; the message names the option, the value, and what it takes.
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  const { storage } = options
  const clock = options.clock ?? webClock()
  const ids = options.ids ?? webIds()
  const logger = options.logger ?? consoleLogger()
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const models = directoryOf(options.models, options.providers, { facts: options.facts, logger, clock, retired: options.retiredModels })
  // With a sealing key, workspaces may bring the keys of providers.
  const isKeyless = options.sealingKey === undefined && tellKeyless(options.models, options.providers, logger)
  const sharing = storage.isShared && storage.routing ? createRoutingSync({ store: storage.routing, clock, ids, logger }) : undefined
  const seed = seedOf(options, ids)
  const { record = {} } = options
  const recording = record === false ? {} : { record }
  const router = createDynamicRouter({ monotonic: () => clock.monotonic(), seed, sync: sharing?.state, ...recording })
  const decisionLog = createGatewayDecisionLog(record === false ? 0 : (record.keep ?? decisionLogLimits.decisions), router.trace)
  const planning = {
    providers: new Map(options.providers.map(provider => [provider.id, provider])),
    find: models.resolve,
    nearest: models.nearest,
    strategies: { ...strategies, ...safeStrategies(options.strategies, logger) },
    strategy: options.strategy ?? defaultStrategy,
    readsMedia: options.media !== undefined,
  }
  const records = recordsOf(storage.records, clock)
  const ring = keyRingOf(options, ids.random)
  const transport = options.transport ?? webTransport()
  const tiersOf = (provider: string): readonly AccountTier[] => models.providers().find(({ id }) => id === provider)?.tiers ?? []
  const policyOf = (provider: string, tier?: string): string | undefined => tiersOf(provider).find(each => each.tier === tier)?.data_policy
  const vault = createVault({ ring, policyOf, logger })
  const policies = createWorkspacePolicies({ records, clock, open: vault.open })
  const refusals = createKeyRefusals({ records, store: storage.records, clock, logger })
  const live = new Set<Live>()
  const settlements = createSettlements({ storage, clock, logger })
  const collector = createHoldCollector({ storage, settlements, policies, live, clock, logger })
  const items = openItems(options, { ring, clock, logger })
  const engine: RequestPorts = {
    policies,
    planning,
    router,
    decisionLog,
    storedShare: record === false ? 0 : (record.store ?? defaultStored),
    trackCandidate: createCandidateTracker(router),
    hedge: options.hedge ?? false,
    hedgeMaxCost: options.hedgeMaxCost ?? Number.POSITIVE_INFINITY,
    storage,
    clock,
    logger,
    limits,
    transport,
    hooks: options.hooks ?? {},
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    live,
    items,
    refusals,
    leases: createLeases({ live, counters: storage.counters, ledger: storage.ledger, clock, logger }),
    settlements,
    retention: createRetention({ storage, records, clock, logger }),
    sharing,
    ring,
    onCredentialRefused: (workspaceId, credential) => byok.refuse(workspaceId, credential),
    onOwnAnswer: ({ credential, provider, offer }, header) => byok.hear(credential, { provider, model: offer.provider_model_id, header }),
    onSpent: workspaceId => reloads?.look(workspaceId),
    drains: createUsageDrains(clock),
    paces: createOutputPaces(),
    pending: new Set(),
    media: options.media,
    schemas: makeSchemaCache(),
    ...(options.prepare && { prepare: options.prepare }),
  }
  const authenticator = createAuthenticator({ records, store: storage.records, policies, changes: storage.changes, clock, logger })
  const anchors = keepAnchors({ ring, isKeyed: options.sealingKey !== undefined, clock, logger })
  const commitWithAudit = createCommitWithAudit({
    storage,
    records,
    anchors,
    terms: policies,
    checkBounds: boundsCheckOf(records),
    clock,
    ids,
  })
  const { onReload } = options.billing ?? {}
  const reloads =
    onReload && keepReloads({ storage, records, commitWithAudit, terms: policies, clock, logger, onReload, pending: engine.pending })
  const lasting = options.sealingKey !== undefined
  const byok = keepByok({ vault, records, commitWithAudit, providers: planning.providers, tiersOf, lasting, transport, clock, logger })
  let closing = false
  const setUp = createSetup({ setup: options.setup, workspaces: () => house.workspaces, clock, logger })
  const storageProblems = createReadinessCheck({ ping: () => storage.ping(), clock, logger })

  const house: Omit<Gateway, keyof Endpoints> = {
    operator: options.operator ?? 'signalbox',
    limits,
    clock,
    ids,
    logger,
    dialects: clientDialects,
    items,
    models,
    decisionLog,
    replies: repliesOf({ storage, records, clock, logger }),
    isShared: storage.isShared,
    workspaces: workspacesOf({
      storage,
      records,
      commitWithAudit,
      anchors,
      terms: policies,
      authenticator,
      refusals,
      clock,
      ids,
      logger,
      models,
      strategies: Object.keys(planning.strategies),
      hooks: options.hooks ?? {},
      evidenceFrom: ({ id, routing }) => {
        const stored = evidenceFrom(routing)
        return stored?.detail === 'full' ? stored : (decisionLog.of(id) ?? stored)
      },
      byok,
      billing: options.billing,
      reloads,
    }),
    resealCredentials: byok.reseal,
    authenticate: proof => setUp()?.then(() => authenticator.authenticate(proof)) ?? promised(() => authenticator.authenticate(proof)),
    identity: caller => identityOf({ storage, terms: policies, limits, clock }, caller),
    countManagement: (caller, kind) => countManagement(engine, caller, kind),
    plan: (request, caller) => planRequest(engine, request, caller),
    callableOffers: caller => callableOffers(engine, caller),
    fidelity: (request, model) => fidelityOfModel(request, model, planning),
    async admit(caller, requestId) {
      if (closing) throw unavailableErrors.shuttingDown()
      return admitEarly(engine, caller, requestId)
    },
    async countTokens(request, caller, counting) {
      if (closing) throw unavailableErrors.shuttingDown()
      return countRequestTokens(engine, request, { ...counting, caller })
    },
    infer(request, call) {
      const stampId = call.requestId ?? ids.uuid()
      if (closing) return refusedReply(unavailableErrors.shuttingDown(), clock)
      collector.wake()
      if (settlements.isLong()) return refusedReply(unavailableErrors.overdue(), clock)
      return infer(engine, request, { ...call, requestId: stampId })
    },
    compact: (request, call) => compact({ infer: house.infer, ring }, request, call),
    async problems() {
      if (closing) return ['The gateway is shutting down.']
      collector.wake()
      if (settlements.isLong()) return ['Too many settlements wait for the storage.']
      if (isKeyless) return ['No provider has a key.']
      return storageProblems()
    },
    async close({ graceMs = 0 } = {}) {
      closing = true
      await closeGateway({ ports: engine, collector, settlements, byok, authenticator, sharing }, graceMs)
    },
  }
  return { ...house, ...endpointsOf({ responses: responsesClient, chat: chatClient, messages: messagesClient }, house) }
}

/** Without a given seed each gateway draws its own, so that gateways do not return to a provider at the same moment. */
function seedOf({ seed }: GatewayOptions, ids: Ids): () => number {
  let drawn = seed
  return () => (drawn ??= randomSeed(ids))
}
