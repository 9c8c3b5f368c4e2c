import { type Awaitable, allSettled, andThen, recover } from './awaitable.ts'
import type { CounterStore } from './counters.ts'
import { faultOfSettlement, faultOfUsage } from './faults.ts'
import type { LedgerStore, Settlement } from './ledger.ts'
import type { UsageRow, UsageStore } from './usage.ts'

/** Everything written when a request ends: its charge, its usage row, and the slots it frees. */
export interface RequestSettlement {
  /** The usage row. Its id is that of the request, its hold and its slots. */
  readonly row: UsageRow
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  /** Keys of the slots. */
  readonly slotKeys: readonly string[]
  /** When it was settled, in Unix milliseconds. */
  readonly at: number
}

/** The ledger's part of a settlement. `ledger.settle(chargeOf(settlement))` */
export const chargeOf = ({ row, amounts, at }: RequestSettlement): Settlement => ({ id: row.id, amounts, at })

/** The error of an invalid request settlement. `faultOfRequestSettlement({ ...settlement, at: NaN })?.message` */
export const faultOfRequestSettlement = (settlement: RequestSettlement): RangeError | undefined =>
  faultOfUsage(settlement.row) ?? faultOfSettlement(chargeOf(settlement))

/** The stores that a settlement is written to. */
export interface SettlementStores {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly usage: Pick<UsageStore, 'append'>
  readonly counters: Pick<CounterStore, 'leave'>
}

/**
 * Writes a settlement part by part, for stores without a common transaction, and for a settlement with an invalid part. The row is written
 * first: without the charge, the hold still stands and is settled later. A refused row is left out, and the settlement fails after the rest
 * is written.
 *
 * @throws the error of the first part that failed, or rejects with it
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
