import { createDynamicRouter, randomSeed } from '@signalbox/router'
import { decisionLogLimits } from '@signalbox/router/decision-log'
import { promised } from '@signalbox/storage/awaitable'
import { createAuthenticator } from './access/authenticate.ts'
import { createVault } from './access/credential-vault.ts'
import { createKeyRefusals } from './access/key-refusals.ts'
import { recordsOf } from './access/records.ts'
import { createWorkspacePolicies } from './access/workspace-policy.ts'
import { closeGateway } from './close-gateway.ts'
import { makeSchemaCache } from './dialects/fit-schemas.ts'
import { chatClient, clientDialects, messagesClient, responsesClient } from './dialects/index.ts'
import type { Gateway } from './gateway.ts'
import { type Endpoints, endpointsOf } from './in-process/endpoints.ts'
import { keepAnchors } from './management/audit-anchor.ts'
import { keepByok } from './management/byok/byok.ts'
import { boundsCheckOf } from './management/check-bounds.ts'
import { tellKeyless } from './management/check-models.ts'
import { createCommitWithAudit } from './management/commit-with-audit.ts'
import { identityOf } from './management/identity.ts'
import { directoryOf } from './management/models.ts'
import { keepReloads } from './management/money/reloads.ts'
import { repliesOf } from './management/replies.ts'
import { workspacesOf } from './management/workspaces.ts'
import { createOutputPaces } from './metering/hidden-tokens.ts'
import { createSettlements } from './metering/settlements.ts'
import { createUsageDrains } from './metering/usage-drains.ts'
import {
  checkOptions,
  defaultLimits,
  defaultStored,
  defaultStrategy,
  defaultTimeouts,
  type GatewayOptions,
  type KnownProviders,
} from './options.ts'
import type { AccountTier } from './protocol/provider-facts.ts'
import { admitEarly } from './request/admission/early-admission.ts'
import { createLeases } from './request/admission/leases.ts'
import { countManagement } from './request/admission/management-rate.ts'
import { createGatewayDecisionLog } from './request/attempts/gateway-decision-log.ts'
import { compact } from './request/compaction/compact.ts'
import { callableOffers } from './request/dry-run/callable-offers.ts'
import { countRequestTokens } from './request/dry-run/count-tokens.ts'
import { fidelityOfModel } from './request/dry-run/fidelity.ts'
import { planRequest } from './request/dry-run/planned-request.ts'
import { infer, type RequestPorts } from './request/infer.ts'
import { openItems } from './request/item-references/open-items.ts'
import type { Live } from './request/live.ts'
import { refusedReply } from './request/reply.ts'
import { createRoutingSync } from './request/routing-sync/routing-sync.ts'
import { createHoldCollector } from './request/settlement/collect-holds.ts'
import { evidenceFrom } from './request/settlement/evidence.ts'
import { createRetention } from './request/settlement/retention.ts'
import { unavailableErrors } from './request/unavailable-errors.ts'
import { type StrategyName, safeStrategies, strategies } from './routing/strategies.ts'
import { createCandidateTracker } from './routing/tracked-offers.ts'
import type { Ids } from './runtime/ports.ts'
import { createReadinessCheck } from './runtime/readiness.ts'
import { keyRingOf } from './runtime/seal.ts'
import { consoleLogger, webClock, webIds, webTransport } from './runtime/web.ts'
import { createSetup } from './setup.ts'
import type { Limits } from './upstream/limits.ts'

/**
 * Joins providers, models and a storage into a gateway.
 *
 * @example
 * const gateway = createGateway({ providers: [openai({ apiKey })], models, storage: memoryStorage() })
 * @throws {TypeError} An option has a value that it does not take; the message names the option, the value, and what it takes.
 */
export function createGateway<
  const ModelId extends string = string,
  const OfferedBy extends string = string,
  const ProviderId extends string = string,
  const OwnStrategy extends string = never,
>(
  options: GatewayOptions<ModelId, OfferedBy, ProviderId, OwnStrategy> & KnownProviders<OfferedBy, ProviderId>,
): Gateway<ModelId, StrategyName | OwnStrategy> {
  checkOptions(options)
  return assembleGateway(options) as Gateway<ModelId, StrategyName | OwnStrategy>
}

function assembleGateway(options: GatewayOptions): Gateway {
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
      collector.wake(call.waitUntil)
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
