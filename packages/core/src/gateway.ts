import { promised } from '@signalbox/storage'
import { makeAuthenticator } from './access/authenticate.ts'
import type { Caller } from './access/caller.ts'
import { keepVault } from './access/credentials.ts'
import { recordsOf } from './access/records.ts'
import { keepTerms } from './access/terms.ts'
import { createBrain } from './brain/brain.ts'
import { seedFrom } from './brain/dice.ts'
import { usuallyKept } from './brain/recorder.ts'
import { makeSchemaCache } from './dialects/fit-schemas.ts'
import { chatClient, clientDialects, messagesClient, responsesClient } from './dialects/index.ts'
import { GatewayError, orStoreDown } from './errors/gateway-error.ts'
import { type Endpoints, endpointsOf } from './in-process/endpoints.ts'
import { keepAnchors } from './management/audit-anchor.ts'
import { keepByok } from './management/byok/byok.ts'
import type { Resealed } from './management/byok/reseal.ts'
import { boundsCheckOf } from './management/check-bounds.ts'
import { type Identity, identityOf } from './management/identity.ts'
import { directoryOf, type ModelDirectory } from './management/models.ts'
import { keepReloads } from './management/money/reloads.ts'
import { makeRegistrar } from './management/register.ts'
import { type Replies, repliesOf } from './management/replies.ts'
import { type Workspaces, workspacesOf } from './management/workspaces.ts'
import { createDrains } from './metering/drains.ts'
import { estimateInput } from './metering/estimate.ts'
import { keepPaces } from './metering/hidden-tokens.ts'
import { keepSettlements } from './metering/settlements.ts'
import { checkOptions, defaultLimits, defaultStored, defaultStrategy, defaultTimeouts, type GatewayOptions } from './options.ts'
import type { ClientDialect } from './protocol/dialect.ts'
import { originalOf, remember } from './protocol/original.ts'
import type { AccountTier } from './protocol/provider-facts.ts'
import type { InferenceRequest } from './protocol/request.ts'
import { admitEarly, type EarlyAdmission } from './request/admission/early-admission.ts'
import { keepLeases } from './request/admission/leases.ts'
import { type Flights, keepFlights } from './request/attempts/flights.ts'
import { type Counting, countTokens, type TokenCount } from './request/dry-run/count-tokens.ts'
import { type Fidelity, fidelityOf } from './request/dry-run/fidelity.ts'
import { type PlannedRequest, planned } from './request/dry-run/planned-request.ts'
import { infer, type RequestPorts } from './request/infer.ts'
import { endForShutdown, type Live } from './request/live.ts'
import { refusals } from './request/refusals.ts'
import { type CallOptions, type Reply, refusedReply } from './request/reply.ts'
import { keepSharing } from './request/routing-sync/sharing.ts'
import { evidenceFrom } from './request/settlement/evidence.ts'
import { keepCollector } from './request/settlement/interrupted.ts'
import { keepRetention } from './request/settlement/retention.ts'
import { keepContenders } from './routing/contenders.ts'
import { makePlan } from './routing/make-plan.ts'
import { soundly, strategies } from './routing/strategies.ts'
import type { Clock, Ids, Logger } from './runtime/ports.ts'
import { keepReadiness } from './runtime/readiness.ts'
import { type KeyRing, keyBytes, makeKeyRing } from './runtime/seal.ts'
import { runSteps } from './runtime/steps.ts'
import { within } from './runtime/timers.ts'
import { consoleLogger, webClock, webIds, webTransport } from './runtime/web.ts'
import { keepSetup } from './setup.ts'
import type { Limits } from './upstream/limits.ts'

export interface Gateway extends Endpoints {
  readonly operator: string
  readonly limits: Limits
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** The client halves by name: what the HTTP side reads and writes with. */
  readonly dialects: Readonly<Record<string, ClientDialect>> & { readonly responses: ClientDialect }
  /** A secret (`ak_…`) → who calls. Throws `invalid_api_key` (401), the same for every reason. */
  authenticate(secret: string | undefined): Promise<Caller>
  identity(caller: Caller): Promise<Identity>
  /** Counts a management call against its class. Throws `requests_per_min_exceeded` (429). */
  countManagement(caller: Caller, kind: 'reads' | 'writes'): Promise<void>
  /** Routing without calling: who would be asked, in what order and by what numbers, and who was left out and why. Nothing is learned of it. */
  plan(request: InferenceRequest, caller: Caller): Promise<PlannedRequest>
  /** What of the request each provider of the model (default: those it names) would keep, say otherwise, approximate or drop. Nobody is called. */
  fidelity(request: InferenceRequest, model?: string): readonly Fidelity[]
  /**
   * Takes the rate and the slot of a request whose body is still to be read; hand the result to `infer` or `countTokens`, and
   * call its `leave()` where it does not come to that. Throws 429 (`requests_per_min_exceeded`, `concurrent_requests_exceeded`).
   */
  admit(caller: Caller, requestId: string): Promise<EarlyAdmission>
  /** Input tokens, by a counter of the provider's own where there is one, else estimated. Counts against the rate of the key; nothing is paid. */
  countTokens(request: InferenceRequest, caller: Caller, options?: Omit<Counting, 'caller'>): Promise<TokenCount>
  /** Starts at once and never throws: what goes wrong comes out of `committed`, `whole()` and the iterators. */
  infer(request: InferenceRequest, options: CallOptions): Reply
  readonly models: ModelDirectory
  /** How the last requests were routed, and why. */
  readonly flights: Flights
  readonly workspaces: Workspaces
  readonly replies: Replies
  /** Other processes hear of a change within 60 s, not at once. */
  readonly isShared: boolean
  /**
   * Seals the provider keys of all workspaces with the first of the sealing keys, while requests run. It may be stopped and begun
   * again. To change the key: give the new one to every process among `previousSealingKeys`, then as `sealingKey` before the old
   * one, then call this; where nothing is `left`, the old one can go.
   */
  resealCredentials(): Promise<Resealed>
  /** Empty: ready. Else one sentence per thing that is not, which anybody may read; the log has the details. */
  problems(): Promise<readonly string[]>
  /** No new work; what runs gets `graceMs` (default 0) to end, then ends as `service_unavailable`; closes the storage. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * Joins providers, models and a storage into a gateway.
 *
 * @example
 * const gateway = createGateway({ providers: [openai({ apiKey })], models, storage: memoryStorage() })
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  const { storage } = options
  const clock = options.clock ?? webClock()
  const ids = options.ids ?? webIds()
  const logger = options.logger ?? consoleLogger()
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const models = directoryOf(options.models, options.providers, { facts: options.facts, logger })
  const sharing = storage.isShared && storage.routing ? keepSharing({ store: storage.routing, clock, ids, logger }) : undefined
  // Gateways that nobody gave a seed have dice of their own: not all of them shall come back to a provider at the same moment.
  let drawn = options.seed
  const seed = (): number => {
    drawn ??= seedFrom(ids)
    return drawn
  }
  const { record = {} } = options
  const recording = record === false ? {} : { record }
  const brain = createBrain({ monotonic: () => clock.monotonic(), preference: 'balanced', seed, memory: sharing?.memory, ...recording })
  const flights = keepFlights(record === false ? 0 : (record.keep ?? usuallyKept), brain.trace)
  const planning = {
    providers: new Map(options.providers.map(provider => [provider.id, provider])),
    find: models.find,
    nearest: models.nearest,
    strategies: { ...strategies, ...soundly(options.strategies, logger) },
    strategy: options.strategy ?? defaultStrategy,
    readsMedia: options.media !== undefined,
  }
  const records = recordsOf(storage.records)
  const ring = ringOf(options, ids)
  const transport = options.transport ?? webTransport()
  const tiersOf = (provider: string): readonly AccountTier[] => models.providers().find(({ id }) => id === provider)?.tiers ?? []
  const policyOf = (provider: string, tier?: string): string | undefined => tiersOf(provider).find(each => each.tier === tier)?.data_policy
  const vault = keepVault({ ring, policyOf, logger })
  const terms = keepTerms({ records, clock, open: vault.open })
  const live = new Set<Live>()
  const settlements = keepSettlements({ storage, clock, logger })
  const collector = keepCollector({ storage, settlements, terms, live, clock, logger })
  const engine: RequestPorts = {
    terms,
    planning,
    brain,
    flights,
    storedShare: record === false ? 0 : (record.store ?? defaultStored),
    contenders: keepContenders(brain),
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
    leases: keepLeases({ live, counters: storage.counters, ledger: storage.ledger, clock, logger }),
    settlements,
    retention: keepRetention({ storage, records, clock, logger }),
    sharing,
    ring,
    onCredentialRefused: (workspaceId, credential) => byok.refuse(workspaceId, credential),
    onOwnAnswer: ({ credential, provider, offer }, header) => byok.hear(credential, { provider, model: offer.provider_model_id, header }),
    onSpent: workspaceId => reloads?.look(workspaceId),
    drains: createDrains(clock),
    paces: keepPaces(),
    pending: new Set(),
    media: options.media,
    schemas: makeSchemaCache(),
    ...(options.prepare && { prepare: options.prepare }),
  }
  const authenticator = makeAuthenticator({ records, store: storage.records, terms, clock, logger })
  const anchors = keepAnchors({ ring, isKeyed: options.sealingKey !== undefined, clock, logger })
  const register = makeRegistrar({ storage, records, anchors, terms, checkBounds: boundsCheckOf(records), clock, ids })
  const { onReload } = options.billing ?? {}
  const reloads = onReload && keepReloads({ storage, records, register, terms, clock, logger, onReload, pending: engine.pending })
  const lasting = options.sealingKey !== undefined
  const byok = keepByok({ vault, records, register, providers: planning.providers, tiersOf, lasting, transport, clock, logger })
  let closing = false
  const setUp = keepSetup({ setup: options.setup, workspaces: () => house.workspaces, clock, logger })
  const storageProblems = keepReadiness({ ping: () => storage.ping(), clock, logger })

  const house: Omit<Gateway, keyof Endpoints> = {
    operator: options.operator ?? 'signalbox',
    limits,
    clock,
    ids,
    logger,
    dialects: clientDialects,
    models,
    flights,
    replies: repliesOf({ storage, records, clock, logger }),
    isShared: storage.isShared,
    workspaces: workspacesOf({
      storage,
      records,
      register,
      anchors,
      terms,
      authenticator,
      clock,
      ids,
      logger,
      models,
      strategies: Object.keys(planning.strategies),
      hooks: options.hooks ?? {},
      evidenceFrom: ({ id, routing, strategy }) => {
        const stored = evidenceFrom(routing, strategy)
        return stored?.detail === 'full' ? stored : (flights.of(id) ?? stored)
      },
      byok,
      billing: options.billing,
      reloads,
    }),
    resealCredentials: byok.reseal,
    authenticate: secret => setUp()?.then(() => authenticator.authenticate(secret)) ?? promised(() => authenticator.authenticate(secret)),
    identity: caller => identityOf({ storage, terms, limits, clock }, caller),
    async countManagement({ keyId }, kind) {
      const limit = kind === 'reads' ? limits.managementReadsRpm : limits.managementWritesRpm
      const request = { key: `${kind}:${keyId}`, amount: 1, limit, windowMs: 60_000 }
      const refusal = await orStoreDown(() => storage.counters.take([request], clock.now()))
      if (!refusal) return
      throw new GatewayError('requests_per_min_exceeded', {
        message: `This key may send ${limit} management ${kind} a minute, and has.`,
        limitedBy: 'routing',
        retryAfterMs: refusal.retryAfterMs,
      })
    },
    plan: (request, caller) => planned(engine, request, caller),
    fidelity(asked, model) {
      const request = model === undefined ? asked : askingFor(asked, model)
      const { candidates } = makePlan(request, estimateInput(request.prompt), planning)
      return candidates.map(candidate => fidelityOf(request, candidate))
    },
    async admit(caller, requestId) {
      if (closing) throw refusals.shuttingDown()
      return runSteps(admitEarly(engine, caller, requestId))
    },
    async countTokens(request, caller, counting) {
      if (closing) throw refusals.shuttingDown()
      return countTokens(engine, request, { ...counting, caller })
    },
    infer(request, call) {
      const stampId = call.requestId ?? ids.uuid()
      if (closing) return refusedReply(refusals.shuttingDown(), clock)
      collector.wake()
      if (settlements.isLong()) return refusedReply(refusals.overdue(), clock)
      return infer(engine, request, { ...call, requestId: stampId })
    },
    async problems() {
      if (closing) return ['The gateway is shutting down.']
      collector.wake()
      if (settlements.isLong()) return ['Too many settlements wait for the storage.']
      return storageProblems()
    },
    async close({ graceMs = 0 } = {}) {
      closing = true
      await emptied(engine, graceMs)
      endForShutdown(engine.live)
      engine.drains.stop()
      // What was ended still has to be settled and told.
      await emptied(engine, 2_000)
      await within(10_000, Promise.allSettled([...engine.live].map(live => live.leave())), clock)
      await within(10_000, Promise.allSettled(engine.pending), clock)
      await within(10_000, collector.close(), clock)
      await settlements.close()
      await byok.close()
      await within(10_000, engine.retention.flush(), clock)
      await within(10_000, authenticator.flush(), clock)
      await within(10_000, sharing?.close(), clock)
      await storage.close()
    },
  }
  return { ...house, ...endpointsOf({ responses: responsesClient, chat: chatClient, messages: messagesClient }, house) }
}

/** The same request of another model: nothing else of it changes, so it still is what the caller wrote. */
const askingFor = (request: InferenceRequest, model: string): InferenceRequest =>
  remember({ ...request, routing: { ...request.routing, models: [model] } }, originalOf(request))

/** The keys are copied at once: an array that is wiped after the start must not become a key of zeros. */
function ringOf({ sealingKey, previousSealingKeys = [] }: GatewayOptions, ids: Ids): KeyRing {
  const first = sealingKey?.slice()
  const older = previousSealingKeys.map(key => key.slice())
  return makeKeyRing(() => [first ?? ids.random(keyBytes), ...older])
}

/** Waits until no request is under way, or the time is over. */
async function emptied({ live, clock }: RequestPorts, milliseconds: number): Promise<void> {
  const until = clock.monotonic() + milliseconds
  while (live.size > 0 && clock.monotonic() < until) await new Promise<void>(resolve => void clock.setTimeout(resolve, 20))
}
