import type { Storage } from '@signalbox/storage'
import type { Clock } from './ports.ts'

/**
 * How long before the detection of an outage a cached read may have expired, in milliseconds. A process without requests detects it late.
 */
const unnoticedMs = 30_000

/**
 * Whether a cached read that expired at `until` (monotonic milliseconds) may still be used, because the storage is unavailable and runs
 * without its database.
 */
export type IsUsableExpired = (until: number) => boolean

/** Creates the check for one storage: `expiredReads(storage, clock)(cached.until)`. */
export const expiredReads =
  (storage: Pick<Storage, 'outage'>, clock: Clock): IsUsableExpired =>
  until => {
    const outage = storage.outage?.()
    return outage !== undefined && outage.leftMs > 0 && until > clock.monotonic() - outage.lastedMs - unnoticedMs
  }

/**
 * The result of a read, or the cached value if the storage is unavailable. `kept` is called after the failure, because the read itself may
 * have detected the outage.
 */
export const orExpired = <T>(pending: Promise<T>, kept: () => T | undefined): Promise<T> =>
  pending.catch((error: unknown) => {
    const found = (error as { readonly code?: unknown }).code === 'service_unavailable' ? kept() : undefined
    if (found === undefined) throw error
    return found
  })
