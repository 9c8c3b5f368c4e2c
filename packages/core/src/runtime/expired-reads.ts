import type { Storage } from '@signalbox/storage'
import type { Clock } from './ports.ts'

/** Milliseconds before an outage was noticed within which a cached read may have expired: a process without requests notices it late. */
const unnoticedMs = 30_000

/**
 * Whether what was read from the storage, and expired at `until` (monotonic milliseconds), may be used all the same: the storage cannot be
 * asked, and goes on without its database.
 */
export type IsUsableExpired = (until: number) => boolean

/** The rule for one storage. `expiredReads(storage, clock)(cached.until)` */
export const expiredReads =
  (storage: Pick<Storage, 'outage'>, clock: Clock): IsUsableExpired =>
  until => {
    const outage = storage.outage?.()
    return outage !== undefined && outage.leftMs > 0 && until > clock.monotonic() - outage.lastedMs - unnoticedMs
  }

/** What was asked for, or if the storage cannot be asked, what there is of it. That is looked for then: the read may have noticed the outage. */
export const orExpired = <T>(asked: Promise<T>, kept: () => T | undefined): Promise<T> =>
  asked.catch((error: unknown) => {
    const found = (error as { readonly code?: unknown }).code === 'service_unavailable' ? kept() : undefined
    if (found === undefined) throw error
    return found
  })
