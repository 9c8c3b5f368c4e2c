import { randomUUID } from 'node:crypto'
import type { EphemeralStores } from '@signalbox/storage/compose'
import { createBatches, silenceError } from './batches.ts'
import { redisChanges } from './changes.ts'
import { openRedis } from './connection.ts'
import { redisCounters } from './counters.ts'
import { keyNames } from './keys.ts'
import { knownCounts } from './known-counts.ts'
import { type RedisStoresOptions, resolveOptions } from './options.ts'
import { redisRouting } from './routing.ts'

export type { RedisConnectionOptions, RedisStoresOptions } from './options.ts'

/** Milliseconds between two presence notes of a process, and after which a process without notes is not counted. */
const presence = { everyMs: 10_000, ttlMs: 30_000 } as const

/**
 * Counters, slots, routing state and change messages in Redis 7 or later, for `composeStorage`. Connects in the background, and reconnects
 * when the connection is lost; every call gets a response or fails within `maxWaitMs`.
 *
 * @throws {TypeError} An option has an invalid value. The message never contains a URL.
 * @example
 * const ephemeral = redisStores({ url: 'redis://localhost:6379' })
 * const storage = composeStorage({ durable: sqliteStorage('signalbox.db'), ephemeral })
 */
export function redisStores(options: RedisStoresOptions): Required<EphemeralStores> {
  const resolved = resolveOptions(options)
  const { prefix, isCluster, name, maxWaitMs } = resolved
  const connection = openRedis(resolved)
  const self = randomUUID()
  const names = keyNames(prefix)
  const known = knownCounts()
  const changes = redisChanges({ connection, channel: names.channel, self, inTime: run => withinWait(run, name, maxWaitMs) })
  let lastLane = ''
  const batches = createBatches({
    run: connection.run,
    maxWaitMs,
    name,
    onFailure(lane, error) {
      lastLane = lane
      if (error.failure !== 'silent') return
      connection.reset()
      changes.reset()
    },
  })
  const presenceOf = trackProcesses(async ttlMs => {
    const call = { method: 'here', keys: [names.processes], args: [self, ttlMs], at: Date.now() } as const
    return Number(await batches.call(isCluster ? '_' : '', call))
  })
  return {
    counters: redisCounters({ batches, names, known, isCluster, onUse: presenceOf.noteUse }),
    routing: redisRouting({ batches, names, isCluster, newId: randomUUID }),
    changes,
    processes: presenceOf.count,
    known: known.of,
    // In a cluster, probes the node that failed last, since the others may be fine.
    async probe() {
      await batches.call(lastLane, { method: 'probe', keys: [names.probe(lastLane || '_')], args: [], at: 0 })
    },
    close() {
      changes.close()
      batches.close()
      connection.close()
    },
  }
}

/** Counts the processes that use the stores: each records its presence every 10 s while it has requests. */
function trackProcesses(note: (ttlMs: number) => Promise<number>) {
  let count = 1
  let dueAt = Number.NEGATIVE_INFINITY
  return {
    count: () => count,
    noteUse(): void {
      const now = performance.now()
      if (now < dueAt) return
      dueAt = now + presence.everyMs
      note(presence.ttlMs).then(
        found => {
          count = Math.max(1, found)
        },
        // Keeps the last known number.
        () => {},
      )
    },
  }
}

/** The result of `run`, which is not a script call, within the time limit. */
function withinWait<T>(run: () => Promise<T>, name: string, maxWaitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(silenceError(name, maxWaitMs))), maxWaitMs)
    run()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
