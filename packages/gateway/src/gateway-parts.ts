import { createAuthenticator, createKeyRefusals, createVault, createWorkspacePolicies, recordsOf } from '@signalbox/core/access'
import { createOutputPaces, createSettlements, createUsageDrains, createUsageNotices } from '@signalbox/core/metering'
import type { RequestPorts, RunningRequest } from '@signalbox/core/request'
import {
  createGatewayDecisionLog,
  createHoldCollector,
  createLeases,
  createRetention,
  createRoutingSync,
  evidenceFrom,
  openItems,
} from '@signalbox/core/request'
import { createCandidateTracker, safeStrategies, strategies } from '@signalbox/core/routing'
import type { Clock, Ids, Logger } from '@signalbox/core/runtime'
import { expiredReads, keyRingOf } from '@signalbox/core/runtime'
import type { Limits } from '@signalbox/core/upstream'
import { makeSchemaCache } from '@signalbox/dialects/common'
import { type AccountTier, type Transport, toUsd } from '@signalbox/dialects/protocol'
import { createDynamicRouter, randomSeed } from '@signalbox/router'
import { decisionLogLimits } from '@signalbox/router/decision-log'
import type { Storage } from '@signalbox/storage'
import { directoryOf, keepReloads, lazyByok, lazyManagement } from '@signalbox/workspaces'
import { defaultStored, defaultStrategy, defaultTimeouts, type GatewayOptions } from './options.ts'

// The parts of a gateway. Each is created from those above it.

/** The ports of a gateway that an option may replace. */
export interface BasePorts {
  readonly options: GatewayOptions
  readonly storage: Storage
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly limits: Limits
  readonly transport: Transport
}

/** All parts of a gateway. */
export type GatewayParts = Routing & Access & Management & ReturnType<typeof assembleRequests>

export function assembleParts(base: BasePorts): GatewayParts {
  const routing = assembleRouting(base)
  const access = assembleAccess(base, routing)
  const management = assembleManagement(base, routing, access)
  return { ...routing, ...access, ...management, ...assembleRequests(base, routing, { access, management }) }
}

type Routing = ReturnType<typeof assembleRouting>

/** Creates the catalog and the router. */
function assembleRouting({ options, storage, clock, ids, logger }: BasePorts) {
  const models = directoryOf(options.models, options.providers, { facts: options.facts, logger, clock, retired: options.retiredModels })
  const sharing = storage.isShared && storage.routing ? createRoutingSync({ store: storage.routing, clock, ids, logger }) : undefined
  const { decisionLog: logged = {} } = options
  const router = createDynamicRouter({
    monotonic: clock.monotonic.bind(clock),
    seed: seedOf(options, ids),
    sync: sharing?.state,
    ...(logged !== false && { decisionLog: logged }),
  })
  const decisionLog = createGatewayDecisionLog(logged === false ? 0 : (logged.keep ?? decisionLogLimits.decisions), router.trace)
  const planning = {
    providers: new Map(options.providers.map(provider => [provider.id, provider])),
    find: models.resolve,
    similarNames: models.similarNames,
    strategies: { ...strategies, ...safeStrategies(options.strategies, logger) },
    strategy: options.strategy ?? defaultStrategy,
    readsMedia: options.media !== undefined,
  }
  const tiersOf = (provider: string): readonly AccountTier[] => models.providers().find(({ id }) => id === provider)?.tiers ?? []
  return { models, sharing, router, decisionLog, planning, tiersOf }
}

type Access = ReturnType<typeof assembleAccess>

/** Creates the parts that resolve a caller's workspace, key and policy, and open provider keys. */
function assembleAccess({ options, storage, clock, ids, logger }: BasePorts, { tiersOf }: Routing) {
  const records = recordsOf(storage.records, clock)
  const ring = keyRingOf(options, ids.random)
  const policyOf = (provider: string, tier?: string): string | undefined => tiersOf(provider).find(each => each.tier === tier)?.dataPolicy
  const vault = createVault({ ring, policyOf, logger })
  const isUsableExpired = storage.outage && expiredReads(storage, clock)
  const policies = createWorkspacePolicies({ records, clock, isUsableExpired, open: vault.open })
  const refusals = createKeyRefusals({ records, store: storage.records, clock, logger })
  const { records: store, changes } = storage
  const authenticator = createAuthenticator({ records, store, policies, changes, isUsableExpired, clock, logger })
  return { records, ring, vault, policies, refusals, authenticator }
}

type Management = ReturnType<typeof assembleManagement>

/** Creates the parts that change workspaces and write their audit log. */
function assembleManagement({ options, storage, clock, ids, logger, transport }: BasePorts, routing: Routing, access: Access) {
  const { records, ring, vault, policies, authenticator, refusals } = access
  const { models, planning, decisionLog, tiersOf } = routing
  const lasting = !!options.sealingKey
  const { commitWithAudit, workspacesAfter, workspacesOfSetup } = lazyManagement(policies, async () => ({
    storage,
    records,
    terms: policies,
    authenticator,
    refusals,
    clock,
    ids,
    logger,
    models,
    strategies: Object.keys(planning.strategies),
    hooks: options.hooks ?? {},
    evidenceFrom: row => {
      const stored = evidenceFrom(row.routing)
      return stored?.detail === 'full' ? stored : (decisionLog.of(row.id) ?? stored)
    },
    byok: await byok.open(),
    billing: options.billing,
    reloads,
    ring,
    isKeyed: lasting,
  }))
  /** Work that continues after the responses of its requests. */
  const pending = new Set<Promise<void>>()
  const { onReload } = options.billing ?? {}
  const reloads = onReload && keepReloads({ storage, records, commitWithAudit, terms: policies, clock, logger, onReload, pending })
  const byok = lazyByok(
    () => ({ vault, records, commitWithAudit, providers: planning.providers, tiersOf, lasting, transport, clock, logger }),
    logger,
  )
  return { workspacesAfter, workspacesOfSetup, pending, reloads, byok }
}

/** Creates the ports of inference requests. */
function assembleRequests(
  base: BasePorts,
  routing: Routing,
  { access, management }: { readonly access: Access; readonly management: Management },
) {
  const { options, storage, clock, logger, limits, transport } = base
  const { records, ring, policies, refusals } = access
  const { byok, reloads, pending } = management
  const { decisionLog: logged = {} } = options
  const running = new Set<RunningRequest>()
  const settlements = createSettlements({ storage, clock, logger })
  const engine: RequestPorts = {
    policies,
    ...routing,
    trackCandidate: createCandidateTracker(routing.router),
    storedShare: logged === false ? 0 : (logged.store ?? defaultStored),
    hedge: options.hedge ?? false,
    maxHedgeCost: toUsd(options.maxHedgeCost ?? Number.POSITIVE_INFINITY),
    storage,
    clock,
    logger,
    limits,
    transport,
    hooks: options.hooks ?? {},
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    running,
    items: openItems(options, { ring, clock, logger }),
    refusals,
    leases: createLeases({ running, counters: storage.counters, ledger: storage.ledger, clock, logger }),
    settlements,
    retention: createRetention({ storage, records, clock, logger }),
    ring,
    onCredentialRefused: (workspaceId, credential, status) => byok.refuse(workspaceId, credential, status),
    onOwnAnswer: ({ credential, provider, offer }, header) => byok.hear(credential, { provider, model: offer.model, header }),
    onSpent: workspaceId => reloads?.look(workspaceId),
    drains: createUsageDrains(clock),
    paces: createOutputPaces(),
    usageNotices: createUsageNotices(),
    pending,
    media: options.media,
    schemas: makeSchemaCache(),
    ...(options.transformRequest && { transformRequest: options.transformRequest }),
  }
  const collector = createHoldCollector({ storage, settlements, policies, running, clock, logger })
  return { engine, settlements, collector }
}

/** Without a configured seed each gateway draws its own, so that gateways do not return to a provider at the same moment. */
function seedOf({ seed }: GatewayOptions, ids: Ids): () => number {
  let drawn = seed
  return () => (drawn ??= randomSeed(ids))
}
