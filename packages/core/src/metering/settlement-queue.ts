import type { WaitUntil } from '../runtime/wait-until.ts'
import { formatSettlement, type SettlementFacts } from './settlement-text.ts'

export interface PendingSettlement extends SettlementFacts {
  /** Called once it is written down. */
  readonly onSettled?: () => void
  /** Given a promise where the settlement has to wait: it resolves once nothing waits any more. */
  readonly waitUntil?: WaitUntil | undefined
}

/** Bounds of the queue and its waits. */
export const settlementLimits = {
  /** Beyond either, what the spool has is dropped from memory, and what it has not is lost. */
  maxWaiting: 50_000,
  maxWaitingBytes: 128 * 1024 * 1024,
  /** From here on new requests get 503. */
  longWaiting: 1_000,
  longWaitingBytes: 16 * 1024 * 1024,
  /** The same for a storage that goes on during an outage: its caps on money come first. */
  longOutageWaiting: 25_000,
  longOutageWaitingBytes: 64 * 1024 * 1024,
  /** A write that takes longer is spooled, and its answer waits no longer for it. */
  spoolAfterMs: 250,
  /** A write that has not answered by then counts as failed: its answer waits no longer, and it is tried again. */
  writeMs: 10_000,
  /** A call of the spool that has not answered by then counts as failed. None follows it until it answers. */
  spoolMs: 3_000,
  /** Waits before each further try; the last one repeats. */
  retryMs: [200, 500, 1_000, 2_000, 3_000],
  /** A round of tries that takes longer was dropped with the request whose timer began it. */
  maxRoundMs: 20_000,
  /** Settlements tried at once. */
  maxAtOnce: 200,
  /** How long a closing gateway goes on trying. */
  closeMs: 10_000,
} as const

/** A settlement that waits. */
export interface QueuedSettlement {
  readonly settlement: PendingSettlement
  /** Monotonic milliseconds. */
  readonly since: number
  readonly resolve: () => void
  text: string
  spool: 'out' | 'asked' | 'in'
}

/** The settlements that wait, by request. `goesOn`: whether the storage lets requests through during an outage. */
export function settlementQueue(goesOn: () => boolean) {
  const entries = new Map<string, QueuedSettlement>()
  let bytes = 0
  return {
    size: () => entries.size,
    has: (id: string): boolean => entries.has(id),
    isLong: (): boolean =>
      (entries.size >= settlementLimits.longWaiting || bytes >= settlementLimits.longWaitingBytes) &&
      (!goesOn() || entries.size >= settlementLimits.longOutageWaiting || bytes >= settlementLimits.longOutageWaitingBytes),
    first: (count: number): readonly QueuedSettlement[] =>
      count >= entries.size ? [...entries.values()] : [...entries.values()].slice(0, count),
    /** False: there is no room. */
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

/** Made once, and only where a settlement has to wait. */
export function settlementText(entry: QueuedSettlement): string {
  if (entry.text === '') entry.text = formatSettlement(entry.settlement)
  return entry.text
}
