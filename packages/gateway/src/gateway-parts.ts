import { createAuthenticator, createKeyRefusals, createVault, createWorkspacePolicies, recordsOf } from '@signalbox/core/access'
import { createOutputPaces, createUsageDrains, createUsageNotices, SettlementQueue } from '@signalbox/core/metering'
import type { Engine, RunningRequest } from '@signalbox/core/request'
import {
  createGatewayDecisionLog,
  createHoldCollector,
  createLeases,
  createRetention,
  createRoutingSync,
  evidenceFrom,
  openItems,
} from '@signalbox/core/request'
import { createCandidateTracker, Lanes, safeStrategies, strategies } from '@signalbox/core/routing'
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

/** The parts of a gateway. */
export type GatewayParts = ReturnType<typeof createParts>

/** Creates the parts of a gateway. Each is made of those above it. */
export function createParts({ options, storage, clock, ids, logger, limits, transport }: BasePorts) {
  const { decisionLog: logged = {}, hooks = {} } = options
  const { onReload } = options.billing ?? {}
  const running = new Set<RunningRequest>()
  /** Work that continues after the responses of its requests. */
  const pending = new Set<Promise<void>>()

  // Models, and the router that learns from their offers.
  const models = directoryOf(options.models, options.providers, { facts: options.facts, logger, clock, retired: options.retiredModels })
  const sharing = storage.isShared && storage.routing ? createRoutingSync({ store: storage.routing, clock, ids, logger }) : undefined
  const router = createDynamicRouter({
    monotonic: clock.monotonic.bind(clock),
    seed: seedOf(options, ids),
    sync: sharing?.state,
    decisionLog: logged !== false ? logged : undefined,
  })
  const decisionLog = createGatewayDecisionLog(logged === false ? 0 : (logged.keep ?? decisionLogLimits.decisions), router.trace)
  const providers = new Map(options.providers.map(provider => [provider.id, provider]))
  const planning = {
    providers,
    lanes: new Lanes(providers),
    find: models.resolve,
    similarNames: models.similarNames,
    strategies: { ...strategies, ...safeStrategies(options.strategies, logger) },
    strategy: options.strategy ?? defaultStrategy,
    readsMedia: options.media !== undefined,
  }

  // Callers: their workspace, key and policy, and the provider keys of workspaces.
  const records = recordsOf(storage.records, clock)
  const ring = keyRingOf(options, ids.random)
  const tiersOf = (provider: string): readonly AccountTier[] => models.providers().find(({ id }) => id === provider)?.tiers ?? []
  const policyOf = (provider: string, tier?: string): string | undefined => tiersOf(provider).find(each => each.tier === tier)?.dataPolicy
  const vault = createVault({ ring, policyOf, logger })
  const isUsableExpired = storage.outage && expiredReads(storage, clock)
  const policies = createWorkspacePolicies({ records, clock, isUsableExpired, open: vault.open })
  const store = storage.records
  const refusals = createKeyRefusals({ records, store, clock, logger })
  const authenticator = createAuthenticator({ records, store, policies, changes: storage.changes, isUsableExpired, clock, logger })

  // Management: changes of workspaces with their audit log. Its code is loaded on first use.
  const management = lazyManagement(policies, async () => ({
    ...{ storage, records, terms: policies, authenticator, refusals, clock, ids, logger, models, hooks, reloads, ring },
    strategies: Object.keys(planning.strategies),
    evidenceFrom: row => {
      const stored = evidenceFrom(row.routing)
      return stored?.detail === 'full' ? stored : (decisionLog.of(row.id) ?? stored)
    },
    byok: await byok.open(),
    billing: options.billing,
    isKeyed: !!options.sealingKey,
  }))
  const { commitWithAudit } = management
  const reloads = onReload && keepReloads({ storage, records, commitWithAudit, terms: policies, clock, logger, onReload, pending })
  const byok = lazyByok(
    () => ({
      ...{ vault, records, commitWithAudit, providers: planning.providers, tiersOf, transport, clock, logger },
      lasting: !!options.sealingKey,
    }),
    logger,
  )

  // Requests.
  const settlements = new SettlementQueue({ storage, clock, logger })
  const engine: Engine = {
    ...{ storage, clock, logger, limits, transport, hooks, running, pending },
    ...{ policies, refusals, ring, planning, router, sharing, decisionLog, settlements },
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    hedge: options.hedge ?? false,
    maxHedgeCost: toUsd(options.maxHedgeCost ?? Number.POSITIVE_INFINITY),
    media: options.media,
    transformRequest: options.transformRequest,
    storedShare: logged === false ? 0 : (logged.store ?? defaultStored),
    trackCandidate: createCandidateTracker(router),
    items: openItems(options, { ring, clock, logger }),
    leases: createLeases({ running, counters: storage.counters, ledger: storage.ledger, clock, logger }),
    retention: createRetention({ storage, records, clock, logger }),
    drains: createUsageDrains(clock),
    paces: createOutputPaces(),
    usageNotices: createUsageNotices(),
    schemas: makeSchemaCache(),
    onCredentialRefused: (workspaceId, credential, status) => byok.refuse(workspaceId, credential, status),
    onOwnAnswer: ({ credential, provider, offer }, header) => byok.hear(credential, { provider, model: offer.model, header }),
    onSpent: workspaceId => reloads?.look(workspaceId),
  }
  const collector = createHoldCollector({ storage, settlements, policies, running, clock, logger })
  return {
    models,
    decisionLog,
    planning,
    records,
    ring,
    policies,
    authenticator,
    sharing,
    management,
    byok,
    settlements,
    engine,
    collector,
  }
}

/** Without a configured seed each gateway draws its own, so that gateways do not return to a provider at the same moment. */
function seedOf({ seed }: GatewayOptions, ids: Ids): () => number {
  let drawn = seed
  return () => (drawn ??= randomSeed(ids))
}
