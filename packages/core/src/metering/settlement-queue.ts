import type { WaitUntil } from '../runtime/wait-until.ts'
import { formatSettlement, type SettlementFacts } from './settlement-text.ts'

export interface PendingSettlement extends SettlementFacts {
  /** Called when the settlement is written. */
  readonly onSettled?: () => void
  /** If the settlement has to be queued, gets a promise that resolves when the queue is empty. */
  readonly waitUntil?: WaitUntil | undefined
}

/** Limits of the queue and its timeouts. */
export const settlementLimits = {
  /** Beyond either limit, settlements are kept in the spool only, or lost if there is no spool. */
  maxWaiting: 50_000,
  maxWaitingBytes: 128 * 1024 * 1024,
  /** From this length on, new requests get 503. */
  longWaiting: 1_000,
  longWaitingBytes: 16 * 1024 * 1024,
  /** Used instead of the two limits above if the storage serves during an outage, because its own spending limits apply first. */
  longOutageWaiting: 25_000,
  longOutageWaitingBytes: 64 * 1024 * 1024,
  /** A write that takes longer is spooled, and its response no longer waits for it. */
  spoolAfterMs: 250,
  /** A write that takes longer counts as failed: its response no longer waits for it, and it is retried. */
  writeMs: 10_000,
  /** A spool call that takes longer counts as failed. The next call starts only after it has finished. */
  spoolMs: 3_000,
  /** Delays before each retry; the last one repeats. */
  retryMs: [200, 500, 1_000, 2_000, 3_000],
  /** A round of retries that takes longer counts as lost: some runtimes drop the timers and calls of a request that has ended. */
  maxRoundMs: 20_000,
  /** Settlements written at once. */
  maxAtOnce: 200,
  /** How long a closing gateway keeps retrying. */
  closeMs: 10_000,
} as const

/** A settlement in the queue. */
export interface QueuedSettlement {
  readonly settlement: PendingSettlement
  /** Monotonic milliseconds. */
  readonly since: number
  readonly resolve: () => void
  text: string
  spool: 'out' | 'asked' | 'in'
}

/** Queued settlements by request id. `servesInOutage` returns whether the storage lets requests through during an outage. */
export function settlementQueue(servesInOutage: () => boolean) {
  const entries = new Map<string, QueuedSettlement>()
  let bytes = 0
  return {
    size: () => entries.size,
    has: (id: string): boolean => entries.has(id),
    isLong: (): boolean =>
      (entries.size >= settlementLimits.longWaiting || bytes >= settlementLimits.longWaitingBytes) &&
      (!servesInOutage() || entries.size >= settlementLimits.longOutageWaiting || bytes >= settlementLimits.longOutageWaitingBytes),
    first: (count: number): readonly QueuedSettlement[] =>
      count >= entries.size ? [...entries.values()] : [...entries.values()].slice(0, count),
    /** Returns false if the queue is full. */
    add(entry: QueuedSettlement): boolean {
      settlementText(entry)
      const { id } = entry.settlement.row
      if (entries.has(id)) return true
      if (entries.size >= settlementLimits.maxWaiting || bytes + entry.text.length > settlementLimits.maxWaitingBytes) return false
      entries.set(id, entry)
      bytes += entry.text.length
      return true
    },
    remove(entry: QueuedSettlement): void {
      if (entries.delete(entry.settlement.row.id)) bytes -= entry.text.length
    },
  }
}

/** Formatted on first use: only queued settlements need it. */
export function settlementText(entry: QueuedSettlement): string {
  if (entry.text === '') entry.text = formatSettlement(entry.settlement)
  return entry.text
}
