import type { KnownCounter } from '@signalbox/storage/compose'

/** Maximum remembered counters. */
const maxCounts = 20_000

interface KnownCount {
  used: number
  /** Monotonic milliseconds at which the window ends. */
  until: number
}

/** The last known state of counters. */
export interface KnownCounts {
  note(key: string, used: number, leftMs: number): void
  add(key: string, amount: number): void
  /** Undefined if it is unknown, or its window is over. */
  of(key: string): KnownCounter | undefined
}

/** Remembers the newest counters. `knownCounts().of('w/rpm')` */
export function knownCounts(): KnownCounts {
  const counts = new Map<string, KnownCount>()
  return {
    note(key, used, leftMs) {
      const until = performance.now() + leftMs
      const known = counts.get(key)
      if (known) Object.assign(known, { used, until })
      else counts.set(key, { used, until })
      if (counts.size <= maxCounts) return
      const [oldest] = counts.keys()
      if (oldest !== undefined) counts.delete(oldest)
    },
    add(key, amount) {
      const known = counts.get(key)
      if (known) known.used = Math.max(0, known.used + amount)
    },
    of(key) {
      const known = counts.get(key)
      const leftMs = (known?.until ?? 0) - performance.now()
      return known && leftMs > 0 ? { used: known.used, leftMs } : undefined
    },
  }
}
