import { type Awaitable, allSettled, andThen, recover } from './awaitable.ts'
import type { CounterStore } from './counters.ts'
import { faultOfSettlement, faultOfUsage } from './faults.ts'
import type { LedgerStore, Settlement } from './ledger.ts'
import type { UsageRow, UsageStore } from './usage.ts'

/** What is written when a request ends: what it pays, its usage row, and the slots that it frees. */
export interface RequestSettlement {
  /** The usage row. Its id is that of the request, and so of its hold and of its slots. */
  readonly row: UsageRow
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  /** Keys of the slots. */
  readonly slotKeys: readonly string[]
  /** When it was settled, in Unix milliseconds. */
  readonly at: number
}

/** The part of a settlement that the ledger gets. `ledger.settle(chargeOf(settlement))` */
export const chargeOf = ({ row, amounts, at }: RequestSettlement): Settlement => ({ id: row.id, amounts, at })

/** The error of an invalid settlement of a request. `faultOfRequestSettlement({ ...settlement, at: NaN })?.message` */
export const faultOfRequestSettlement = (settlement: RequestSettlement): RangeError | undefined =>
  faultOfUsage(settlement.row) ?? faultOfSettlement(chargeOf(settlement))

/** Stores that have the parts of a settlement. */
export interface SettlementStores {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly usage: Pick<UsageStore, 'append'>
  readonly counters: Pick<CounterStore, 'leave'>
}

/**
 * Writes a settlement part by part: for stores that have no transaction in common, and for a settlement of which one part is wrong.
 * The row comes first: without its charge the hold still stands, and is settled later. A row that is refused is left out, and fails
 * the whole once the rest is written.
 *
 * @throws the error of the first part that failed, or rejects with it.
 * @example
 * const storage = { ...stores, settle: settlement => settleInParts(stores, settlement) }
 */
export function settleInParts(
  { ledger, usage, counters }: SettlementStores,
  settlement: RequestSettlement,
  isRefused: (error: unknown) => boolean = error => error instanceof RangeError,
): Awaitable<void> {
  const { row, slotKeys } = settlement
  const appended = recover<void, Refused>(
    () => usage.append(row),
    error => (isRefused(error) ? { error } : Promise.reject(error)),
  )
  return andThen(appended, refused =>
    andThen(allSettled([() => ledger.settle(chargeOf(settlement)), ...slotKeys.map(key => () => counters.leave(key, row.id))]), ends => {
      if (refused) throw refused.error
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    }),
  )
}

interface Refused {
  readonly error: unknown
}
