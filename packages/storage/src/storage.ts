import type { AuditStore } from './audit.ts'
import type { Awaitable } from './awaitable.ts'
import type { ChangeFeed } from './changes.ts'
import type { CounterStore } from './counters.ts'
import type { ItemStore } from './items.ts'
import type { LedgerStore } from './ledger.ts'
import type { RecordStore } from './records.ts'
import type { RoutingStore } from './routing.ts'
import type { RequestSettlement } from './settlement.ts'
import type { SpoolStore } from './spool.ts'
import type { UsageStore } from './usage.ts'

/**
 * Everything that Signalbox persists, as small stores. Every method is one atomic step: there is no transaction, because what must
 * happen together is one call. Times are Unix milliseconds and are passed in: a store never reads a clock. Money is integer
 * microdollars.
 *
 * A method returns its value or a promise of it, and fails by throwing or by rejecting; both may differ from call to call. `await`
 * handles all of them; code that does not await uses `recover` and `allOf`.
 */
export interface Storage {
  readonly records: RecordStore
  readonly audit: AuditStore
  readonly counters: CounterStore
  readonly ledger: LedgerStore
  readonly usage: UsageStore
  /** Routing state shared between processes. Absent: each process routes by its own observations. */
  readonly routing?: RoutingStore
  /** Items of answers that any process can find by id. Absent: each process keeps them in memory only. */
  readonly items?: ItemStore
  /** Holds settlements that cannot be written now. Absent: they wait in memory only. */
  readonly spool?: SpoolStore
  /** Reports changes of records as they are committed, by any process. Absent: caches of records only expire. */
  readonly changes?: ChangeFeed
  /** The outage during which it goes on without its database, such as that of `withOutageGrace`. Undefined, or absent: there is none. */
  outage?(): StorageOutage | undefined
  /**
   * Settles a request: `ledger.settle`, `usage.append` and `counters.leave` in one step, all of it or nothing. What is written already
   * is not written again, so a second call does nothing, and a settlement of which a part is there gets the rest. If the row or an
   * amount is invalid, the others are written, and it fails with a RangeError.
   */
  settle(settlement: RequestSettlement): Awaitable<void>
  /** Whether other processes may change it too; they see a change by `changes`, or once their caches have expired. */
  readonly isShared: boolean
  /**
   * Succeeds if the store can be used; the message of the error names what is wrong. Unauthenticated clients call it through
   * `/readyz`, so it writes nothing and takes no lock.
   */
  ping(): Awaitable<void>
  /** Writes what is still grouped, then closes. */
  close(): Awaitable<void>
}

/** An outage of the database behind a storage. While there is grace, holds are decided by the process itself, within caps. */
export interface StorageOutage {
  /** Milliseconds since it was noticed. */
  readonly lastedMs: number
  /** Milliseconds for which new requests are still let through. 0: the grace is over. */
  readonly leftMs: number
}
