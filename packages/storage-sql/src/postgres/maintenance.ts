import { routingRetentionMs } from '@signalbox/storage/routing'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'

/** Milliseconds between two sweeps of a process. */
const SWEEP_EVERY_MS = 60_000
/** Milliseconds for which expired windows and slots are kept, because the clock of a process may be slow. */
const GRACE_MS = 600_000
/** Rows of each kind removed by one sweep. */
const MAX_SWEPT = 10_000

/** Ids removed by one statement. */
const MAX_IDS = 20_000

/** Options of the background maintenance. */
export interface MaintenanceOptions {
  /** Whole months of usage rows to keep before the current one; undefined: all. */
  readonly usageMonths: number | undefined
}

/** The background work of a storage. */
export interface PostgresMaintenance {
  /** Runs all maintenance now. */
  run(): Promise<void>
  stop(): void
}

/** Starts to remove expired counters, slots and routing state once a minute, and usage partitions that are too old. Does not keep the process alive. */
export function startPostgresMaintenance(connection: PostgresConnection, { usageMonths }: MaintenanceOptions): PostgresMaintenance {
  const serverTime = connection.caller('sweep', 'server_ms', [])
  const sweep = connection.caller('sweep', 'sweep', ['bigint', 'int'])
  const sweepRouting = connection.caller('sweep', 'sweep_routing', ['bigint', 'bigint', 'bigint'])
  const dropMonths = connection.caller('sweep', 'drop_usage_months', ['bigint', 'boolean'])
  const dropIds = connection.caller('sweep', 'drop_usage_ids', ['bigint', 'int'])
  const run = async (): Promise<void> => {
    const now = toInteger(await serverTime([]))
    await sweep([now - GRACE_MS, MAX_SWEPT])
    await sweepRouting([now, routingRetentionMs.statistics, routingRetentionMs.readers])
    if (usageMonths === undefined) return
    const date = new Date(now)
    const before = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - usageMonths)
    if (toInteger(await dropMonths([before, 'false'])) > 0) while (toInteger(await dropIds([before, MAX_IDS])) > 0);
  }
  const timer = setInterval(() => {
    // A storage that has not been used stays unconnected. Whatever fails is retried by the next run.
    if (connection.isReady()) run().catch(() => undefined)
  }, SWEEP_EVERY_MS)
  timer.unref?.()
  return { run, stop: () => clearInterval(timer) }
}
