import { createLastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock } from '../runtime/ports.ts'
import { type QueuedSettlement, settlementLimits } from './settlement-queue.ts'

export interface SettlementWritePorts {
  readonly clock: Clock
  /** Called with writes that are pending after `spoolAfterMs`, repeatedly while they are. */
  readonly onSlow: (entries: readonly QueuedSettlement[]) => void
  /** Called with a write that is pending after `writeMs`. It is no longer tracked. */
  readonly onOverdue: (entry: QueuedSettlement) => void
}

/** Settlements whose first write is pending, by request id. */
export function settlementWrites({ clock, onSlow, onOverdue }: SettlementWritePorts) {
  const entries = new Map<string, QueuedSettlement>()
  const timer = createLastingTimer(clock, () => look())

  const watch = (): void => {
    if (entries.size > 0) timer.set(settlementLimits.spoolAfterMs)
  }
  const look = (): void => {
    const now = clock.monotonic()
    const slow = [...entries.values()].filter(({ since }) => since <= now - settlementLimits.spoolAfterMs)
    onSlow(slow)
    for (const entry of slow) if (entry.since <= now - settlementLimits.writeMs && remove(entry)) onOverdue(entry)
    watch()
  }
  /** Returns false if the entry is no longer tracked. */
  const remove = (entry: QueuedSettlement): boolean =>
    entries.get(entry.settlement.row.id) === entry && entries.delete(entry.settlement.row.id)
  return {
    has: (id: string): boolean => entries.has(id),
    values: (): readonly QueuedSettlement[] => [...entries.values()],
    add(entry: QueuedSettlement): void {
      entries.set(entry.settlement.row.id, entry)
      watch()
    },
    remove,
    /** Re-arms a timer that the platform dropped. */
    watch,
    stop: timer.clear,
  }
}
