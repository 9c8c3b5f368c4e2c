import { makeSchemaCache } from '@signalbox/dialects/common'
import type { Model, Provider } from '@signalbox/dialects/protocol'
import type { RouterAttempt, TrackedOffer } from '@signalbox/router'
import { createDynamicRouter, type DynamicRouter } from '@signalbox/router'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import type { FakeClock } from '@signalbox/testing'
import { directoryOf } from '@signalbox/workspaces'
import { defaultLimits, defaultTimeouts } from '../../gateway/src/options.ts'
import type { Caller } from '../src/access/caller.ts'
import { createKeyRefusals } from '../src/access/key-refusals.ts'
import { recordsOf } from '../src/access/records.ts'
import type { WorkspacePolicy } from '../src/access/workspace-policy.ts'
import { createOutputPaces } from '../src/metering/hidden-tokens.ts'
import { SettlementQueue } from '../src/metering/settlement-queue.ts'
import { createUsageDrains } from '../src/metering/usage-drains.ts'
import { createUsageNotices } from '../src/metering/usage-notices.ts'
import { createLeases } from '../src/request/admission/leases.ts'
import { createGatewayDecisionLog } from '../src/request/attempts/gateway-decision-log.ts'
import type { Engine } from '../src/request/engine.ts'
import type { RunningRequest } from '../src/request/running-requests.ts'
import { Lanes } from '../src/routing/lanes.ts'
import { strategies } from '../src/routing/strategies.ts'
import { createCandidateTracker } from '../src/routing/tracked-offers.ts'
import { makeKeyRing } from '../src/runtime/seal.ts'
import { webTransport } from '../src/runtime/web.ts'

// The engine of a gateway with its router in reach: what it was told of each call, and what it believes is under way.

export interface Watched {
  readonly engine: Engine
  readonly storage: Storage
  readonly caller: Caller
  /** Everyone who was ever chosen among. */
  readonly contenders: ReadonlySet<TrackedOffer>
  /** How often each call that went out was ended. */
  readonly ends: ReadonlyMap<RouterAttempt, number>
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export function watchedEngine(clock: FakeClock, providers: readonly Provider[], models: readonly Model[]): Watched {
  const storage = memoryStorage()
  const ends = new Map<RouterAttempt, number>()
  const router = watched(createDynamicRouter({ monotonic: clock.monotonic, preference: 'balanced', seed: 1 }), ends)
  const kept = createCandidateTracker(router)
  const contenders = new Set<TrackedOffer>()
  const directory = directoryOf(models, providers, { clock })
  const running = new Set<RunningRequest>()
  const byId = new Map(providers.map(provider => [provider.id, provider]))
  const settlements = new SettlementQueue({ storage, clock, logger: quiet })
  const limits = { ...defaultLimits, inferenceRpm: 1e6, concurrentRequests: 1e5 }
  return {
    storage,
    contenders,
    ends,
    caller: {
      keyId: 'key',
      keyName: 'Key',
      keyPrefix: 'ak_1',
      workspaceId: 'workspace',
      workspaceName: 'Workspace',
      billing: 'postpaid',
      scopes: new Set(),
      createdAt: 0,
    },
    engine: {
      policies: { of: async () => terms },
      planning: {
        providers: byId,
        lanes: new Lanes(byId),
        find: directory.find,
        similarNames: directory.similarNames,
        strategies,
        strategy: 'balanced',
      },
      router,
      trackCandidate: (candidate, manner) => {
        const tracked = kept(candidate, manner)
        contenders.add(tracked)
        return tracked
      },
      decisionLog: createGatewayDecisionLog(0, router.trace),
      storedShare: 0,
      hedge: false,
      maxHedgeCost: Number.POSITIVE_INFINITY,
      storage,
      clock,
      logger: quiet,
      hooks: {},
      timeouts: { ...defaultTimeouts, firstByteMs: 20_000, wholeMs: 30_000, idleMs: 10_000, deadlineMs: 60_000 },
      limits,
      transport: webTransport(),
      ring: makeKeyRing(() => [new Uint8Array(32).fill(1)]),
      running,
      refusals: createKeyRefusals({ records: recordsOf(storage.records, clock), store: storage.records, clock, logger: quiet }),
      schemas: makeSchemaCache(),
      leases: createLeases({ running, counters: storage.counters, ledger: storage.ledger, clock, logger: quiet }),
      settlements,
      retention: { look: () => {}, flush: async () => {} },
      drains: createUsageDrains(clock),
      paces: createOutputPaces(),
      usageNotices: createUsageNotices(),
      pending: new Set(),
    },
  }
}

const terms: WorkspacePolicy = {
  workspace: {
    kind: 'workspace',
    workspaceId: 'workspace',
    id: 'workspace',
    version: 1,
    createdAt: 0,
    body: { name: 'Workspace', billing: 'postpaid' },
  },
  budgets: [],
  credentials: new Map(),
}

/** The same router, with a count of how often each call is ended. */
function watched(router: DynamicRouter, ends: Map<RouterAttempt, number>): DynamicRouter {
  const ended = (attempt: RouterAttempt): void => void ends.set(attempt, (ends.get(attempt) ?? 0) + 1)
  return {
    ...router,
    startAttempt(choice) {
      const attempt = router.startAttempt(choice)
      ends.set(attempt, 0)
      return attempt
    },
    finishAttempt(attempt, used) {
      ended(attempt)
      router.finishAttempt(attempt, used)
    },
    failAttempt(attempt, failed) {
      ended(attempt)
      router.failAttempt(attempt, failed)
    },
    abandonAttempt(attempt) {
      ended(attempt)
      router.abandonAttempt(attempt)
    },
  }
}
