import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import type { FakeClock } from '../../../testing/src/fake-clock.ts'
import type { Caller } from '../../src/access/caller.ts'
import type { Terms } from '../../src/access/terms.ts'
import type { Contender } from '../../src/brain/belief.ts'
import { type Brain, createBrain } from '../../src/brain/brain.ts'
import type { Attempt } from '../../src/brain/port.ts'
import { makeSchemaCache } from '../../src/dialects/fit-schemas.ts'
import { directoryOf } from '../../src/management/models.ts'
import { createDrains } from '../../src/metering/drains.ts'
import { keepPaces } from '../../src/metering/hidden-tokens.ts'
import { keepSettlements } from '../../src/metering/settlements.ts'
import { defaultLimits, defaultTimeouts } from '../../src/options.ts'
import type { Model } from '../../src/protocol/model.ts'
import type { Provider } from '../../src/protocol/provider.ts'
import { keepLeases } from '../../src/request/admission/leases.ts'
import { keepFlights } from '../../src/request/attempts/flights.ts'
import type { RequestPorts } from '../../src/request/infer.ts'
import type { Live } from '../../src/request/live.ts'
import { keepContenders } from '../../src/routing/contenders.ts'
import { strategies } from '../../src/routing/strategies.ts'
import { makeKeyRing } from '../../src/runtime/seal.ts'
import { webTransport } from '../../src/runtime/web.ts'

// The engine of a gateway with its brain in reach: what it was told of each call, and what it believes is under way.

export interface Watched {
  readonly engine: RequestPorts
  readonly storage: Storage
  readonly caller: Caller
  /** Everyone who was ever chosen among. */
  readonly contenders: ReadonlySet<Contender>
  /** How often each call that went out was ended. */
  readonly ends: ReadonlyMap<Attempt, number>
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export function watchedEngine(clock: FakeClock, providers: readonly Provider[], models: readonly Model[]): Watched {
  const storage = memoryStorage()
  const ends = new Map<Attempt, number>()
  const brain = watched(createBrain({ monotonic: clock.monotonic, preference: 'balanced', seed: 1 }), ends)
  const kept = keepContenders(brain)
  const contenders = new Set<Contender>()
  const directory = directoryOf(models, providers, undefined)
  const live = new Set<Live>()
  const settlements = keepSettlements({ storage, clock, logger: quiet })
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
      terms: { of: async () => terms },
      planning: {
        providers: new Map(providers.map(provider => [provider.id, provider])),
        find: directory.find,
        nearest: directory.nearest,
        strategies,
        strategy: 'balanced',
      },
      brain,
      contenders: (candidate, manner) => {
        const contender = kept(candidate, manner)
        contenders.add(contender)
        return contender
      },
      flights: keepFlights(0, brain.trace),
      storedShare: 0,
      hedge: false,
      hedgeMaxCost: Number.POSITIVE_INFINITY,
      storage,
      clock,
      logger: quiet,
      hooks: {},
      timeouts: { ...defaultTimeouts, firstByteMs: 20_000, wholeMs: 30_000, idleMs: 10_000, deadlineMs: 60_000 },
      limits,
      transport: webTransport(),
      ring: makeKeyRing(() => [new Uint8Array(32).fill(1)]),
      live,
      schemas: makeSchemaCache(),
      leases: keepLeases({ live, counters: storage.counters, ledger: storage.ledger, clock, logger: quiet }),
      settlements,
      retention: { look: () => {}, flush: async () => {} },
      drains: createDrains(clock),
      paces: keepPaces(),
      pending: new Set(),
    },
  }
}

const terms: Terms = {
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

/** The same brain, with a count of how often each call is ended. */
function watched(brain: Brain, ends: Map<Attempt, number>): Brain {
  const ended = (attempt: Attempt): void => void ends.set(attempt, (ends.get(attempt) ?? 0) + 1)
  return {
    ...brain,
    started(choice) {
      const attempt = brain.started(choice)
      ends.set(attempt, 0)
      return attempt
    },
    finished(attempt, used) {
      ended(attempt)
      brain.finished(attempt, used)
    },
    failed(attempt, failed) {
      ended(attempt)
      brain.failed(attempt, failed)
    },
    left(attempt) {
      ended(attempt)
      brain.left(attempt)
    },
  }
}
