import type { AuditStore } from './audit.ts'
import type { Awaitable } from './awaitable.ts'
import type { CounterStore } from './counters.ts'
import type { LedgerStore } from './ledger.ts'
import type { RecordStore } from './records.ts'
import type { RoutingStore } from './routing.ts'
import type { SpoolStore } from './spool.ts'
import type { UsageStore } from './usage.ts'

/**
 * What Signalbox keeps, as small stores. Every method is one atomic step: there is no transaction verb, since what must
 * happen together is one call. Times are Unix milliseconds and come in as arguments: a store never reads a clock.
 * Money is integer microdollars.
 *
 * A verb answers at once or by promise, and fails in either way: it throws, or its promise rejects. Which of the two may differ
 * from call to call. `await` takes all of it; code that does not await uses `recover` and `allOf` (awaitable.ts).
 */
export interface Storage {
  readonly records: RecordStore
  readonly audit: AuditStore
  readonly counters: CounterStore
  readonly ledger: LedgerStore
  readonly usage: UsageStore
  /** What processes tell each other of routing. Absent: each routes by what it has seen itself. */
  readonly routing?: RoutingStore
  /** Where settlements wait that cannot be written now. Absent: in memory only. */
  readonly spool?: SpoolStore
  /** Other processes may change it too: what one changes, the others see once their caches have run out. */
  readonly isShared: boolean
  /**
   * Answers if the store can be used; the message of the error names what is wrong. It is asked by strangers through
   * `/readyz`, so it writes nothing and takes no lock.
   */
  ping(): Awaitable<void>
  /** Writes what is still in groups, then lets go. */
  close(): Awaitable<void>
}
