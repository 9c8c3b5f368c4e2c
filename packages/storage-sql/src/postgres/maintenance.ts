import { routingRetentionMs } from '@signalbox/storage/routing'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'

/** Milliseconds between two sweeps of a process. */
const SWEEP_EVERY_MS = 60_000
/** Milliseconds that expired windows and slots are kept, because the clock of a process may run behind. */
const GRACE_MS = 600_000
/** Rows of each kind that one sweep removes. */
const MAX_SWEPT = 10_000

/** The background work of a storage. */
export interface PostgresMaintenance {
  stop(): void
}

/** Starts removing expired counters, slots and routing state once a minute. It does not keep the process alive. */
export function startPostgresMaintenance(connection: PostgresConnection): PostgresMaintenance {
  const serverTime = connection.caller('sweep', 'server_ms', [])
  const sweep = connection.caller('sweep', 'sweep', ['bigint', 'int'])
  const sweepRouting = connection.caller('sweep', 'sweep_routing', ['bigint', 'bigint', 'bigint'])
  const timer = setInterval(async () => {
    // A storage that was not used yet stays unconnected.
    if (!connection.isReady()) return
    try {
      const now = toInteger(await serverTime([]))
      await sweep([now - GRACE_MS, MAX_SWEPT])
      await sweepRouting([now, routingRetentionMs.statistics, routingRetentionMs.readers])
    } catch {
      // The next sweep removes what this one could not.
    }
  }, SWEEP_EVERY_MS)
  timer.unref?.()
  return { stop: () => clearInterval(timer) }
}
