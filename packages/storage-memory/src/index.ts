import type { Storage } from '@signalbox/storage'
import { inSource } from '@signalbox/storage/option-table'
import { memoryAudit } from './audit.ts'
import { memoryCounters } from './counters.ts'
import { memoryItems } from './items.ts'
import { memoryLedger, memorySettle } from './ledger.ts'
import { memoryRecords } from './records.ts'
import { memoryRouting } from './routing.ts'
import { memoryUsage } from './usage.ts'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Ledger entries kept per account, newest first; balances stay exact. Default: 10,000. */
  readonly maxEntries?: number
  /** Usage rows kept. Default: 100,000. */
  readonly maxUsageRows?: number
  /** Minimum number of settlement and credit ids that are remembered, so that repetitions do nothing. Default: 100,000. */
  readonly maxIds?: number
  /** Audit rows kept per workspace; the oldest are dropped first. Default: 100,000. */
  readonly maxAuditRows?: number
}

/**
 * Creates a storage that lives as long as the process: for tests, for trials, and for gateways without accounting.
 *
 * @throws {RangeError} A bound is not a whole number above 0.
 * @example
 * const storage = memoryStorage({ maxUsageRows: 1_000 })
 * await storage.ledger.credit({ id: 'gift', account: 'credit:me', amount: 5_000_000, at: Date.now() })
 */
export function memoryStorage(options: MemoryStorageOptions = {}): Storage {
  const { maxEntries = 10_000, maxUsageRows = 100_000, maxIds = 100_000, maxAuditRows = 100_000 } = options
  for (const [name, value] of Object.entries({ maxEntries, maxUsageRows, maxIds, maxAuditRows }))
    if (!(Number.isSafeInteger(value) && value > 0))
      throw new RangeError(`memoryStorage: \`${name}\` must be a whole number above 0, got ${inSource(value)}.`)
  const ledger = memoryLedger({ maxEntries, maxIds })
  const audit = memoryAudit(maxAuditRows)
  const [counters, usage] = [memoryCounters(), memoryUsage(maxUsageRows)]
  return {
    records: memoryRecords({ audit, ledger }),
    audit,
    counters,
    ledger,
    usage,
    items: memoryItems(67_108_864),
    routing: memoryRouting({ maxRows: 20_000, maxPauses: 10_000, maxConversations: 50_000 }),
    settle: memorySettle({ ledger, usage, counters }),
    isShared: false,
    ping() {},
    close() {},
  }
}
