import type { Admission, LimitRefusal } from './admission.ts'
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
 * Everything that Signalbox persists, split into small stores. Every method is one atomic step. There are no transactions, because whatever
 * must happen together is one call. Times are Unix milliseconds and are passed in: a store never reads a clock. Money is in integer
 * microdollars.
 *
 * A method returns its value or a promise of it, and fails by throwing or by rejecting; both may differ from call to call. `await` handles
 * all of these; code that does not await uses `recover` and `allOf`.
 */
export interface Storage {
  readonly records: RecordStore
  readonly audit: AuditStore
  readonly counters: CounterStore
  readonly ledger: LedgerStore
  readonly usage: UsageStore
  /** Routing state shared between processes. If undefined, each process routes by its own observations. */
  readonly routing?: RoutingStore
  /** Response items that any process can find by id. If undefined, each process keeps its own in memory. */
  readonly items?: ItemStore
  /** Stores settlements that cannot be written now. If undefined, they wait in memory. */
  readonly spool?: SpoolStore
  /** Reports record changes as they are committed, by any process. If undefined, caches of records only expire. */
  readonly changes?: ChangeFeed
  /** The outage during which the storage runs without its database, as with `withOutageGrace`. Undefined if there is none. */
  outage?(): StorageOutage | undefined
  /**
   * Takes every limit of a request in one atomic step, or none; but a counter of requests that has room counts the request also if a slot or
   * an account refuses it. Refuses with the first slot that is full, else the first counter, else the first account. An id whose hold is
   * placed or settled is admitted again, and may be counted twice. Undefined where the stores have no common transaction: then the gateway
   * takes the limits in parts (`admitInParts`), with the same results.
   */
  admit?(admission: Admission): Awaitable<LimitRefusal | undefined>
  /**
   * Settles a request: `ledger.settle`, `usage.append` and `counters.leave` in one atomic step. Parts that were already written are not
   * written again, so a second call does nothing, and a partial settlement is completed. If the row or an amount is invalid, the other
   * parts are written, and it fails with a RangeError.
   */
  settle(settlement: RequestSettlement): Awaitable<void>
  /** Whether other processes may change the storage too. They notice changes through `changes`, or when their caches expire. */
  readonly isShared: boolean
  /**
   * Succeeds if the store is usable; otherwise the error message says what is wrong. Unauthenticated clients call it through `/readyz`, so
   * it writes nothing and takes no lock.
   */
  ping(): Awaitable<void>
  /** Flushes grouped writes, then closes. */
  close(): Awaitable<void>
}

/** An outage of the database behind a storage. During its grace, the process grants holds itself, within caps. */
export interface StorageOutage {
  /** Milliseconds since it was detected. */
  readonly lastedMs: number
  /** Milliseconds for which new requests are still admitted. 0: the grace is over. */
  readonly leftMs: number
}
