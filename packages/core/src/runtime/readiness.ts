import type { Awaitable, Storage } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import pTimeout from 'p-timeout'
import type { Clock, Logger } from './ports.ts'
import { timersOf } from './timers.ts'

/** Milliseconds for which a result is reused. */
const reuseMs = 1_000
const pingTimeoutMs = 2_000

export interface ReadinessPorts {
  /** Rejects or throws if the storage cannot be used. */
  readonly ping: () => Awaitable<void>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Creates a check of the storage. Results contain no paths or addresses; those are logged. Because unauthenticated clients may call it, the
 * storage is pinged at most once a second, and concurrent checks share one ping.
 */
export function createReadinessCheck({ ping, clock, logger }: ReadinessPorts): () => Promise<readonly string[]> {
  let last: { readonly result: Promise<readonly string[]>; readonly at: number } | undefined
  const ask = (): Promise<readonly string[]> =>
    pTimeout(promised(ping), { milliseconds: pingTimeoutMs, customTimers: timersOf(clock) }).then(
      () => [],
      (error: unknown) => {
        logger.warn({ error: String(error) }, 'The storage is unavailable.')
        return ['The storage is unavailable.']
      },
    )
  return () => {
    const at = clock.monotonic()
    if (last === undefined || at - last.at >= reuseMs) last = { result: ask(), at }
    return last.result
  }
}

/** Notices for the operator about an outage during which requests are still served. */
export function outageNotices(storage: Pick<Storage, 'outage'>): readonly string[] {
  const { lastedMs, leftMs } = storage.outage?.() ?? { lastedMs: 0, leftMs: 0 }
  if (leftMs === 0) return []
  const [lasted, left] = [lastedMs, leftMs].map(ms => Math.ceil(ms / 1_000))
  return [`The storage has been unavailable for ${lasted} s. Requests with cached keys are served without it for ${left} s more.`]
}
