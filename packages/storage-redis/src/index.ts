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

export type { RedisStoresOptions } from './options.ts'

/** Milliseconds between two notes that this process is there, and after which one without notes is not counted. */
const presence = { everyMs: 10_000, ttlMs: 30_000 } as const

/**
 * Counters, slots, routing state and messages about changes in Redis 7 or later, for `composeStorage`. It connects in the background,
 * and again whenever the connection is lost; every call is answered or fails within `maxWaitMs`.
 *
 * @throws TypeError if an option has a value that it does not take. The message never quotes a URL.
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
    // Of a cluster, the node that failed last: the others may be well.
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

/** Counts the processes that use the stores: each notes every 10 s that it is there, while it has requests. */
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
        // The last number stands.
        () => {},
      )
    },
  }
}

/** The result of `run`, which is not a call of the script, within the bounded wait. */
function withinWait<T>(run: () => Promise<T>, name: string, maxWaitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(silenceError(name, maxWaitMs))), maxWaitMs)
    run()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
