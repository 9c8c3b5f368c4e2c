import { describe, test } from 'vitest'
import { describeAudit } from './audit.ts'
import { describeCounters } from './counters.ts'
import { describeItems } from './items.ts'
import { describeLedger } from './ledger.ts'
import { describeAccounts } from './ledger-accounts.ts'
import { describeEntries } from './ledger-entries.ts'
import { describeHolds } from './ledger-holds.ts'
import { describeLiveHolds } from './ledger-live-holds.ts'
import { describeLedgerModel } from './ledger-model.ts'
import { describeSettlements } from './ledger-settlements.ts'
import { describeRecords } from './records.ts'
import { describeCommit } from './records-commit.ts'
import { describeRecordsModel } from './records-model.ts'
import { describeReopen } from './reopen.ts'
import { describeRequestSettlements } from './request-settlements.ts'
import { describeRouting } from './routing.ts'
import { describeSpool } from './spool.ts'
import { type MakeStorage, opener } from './subject.ts'
import { describeUsage } from './usage.ts'
import { describeUsageModel } from './usage-model.ts'
import { describeTotals } from './usage-totals.ts'

export { asyncStorage } from './async-storage.ts'
export type { MakeStorage, Subject } from './subject.ts'

/** Options of `describeStorage`. */
export interface ConformanceOptions {
  /** Share of random sequences to run, for slow stores such as those behind a network. Default: 1. */
  readonly share?: number
}

/**
 * Declares the conformance suite of storages, which defines what a correct implementation does. Every test gets an empty storage from
 * `make` and closes it. With `reopen`, the suite also checks that acknowledged writes are durable.
 *
 * @example describeStorage('memory', async () => ({ storage: memoryStorage() }))
 */
export function describeStorage(name: string, make: MakeStorage, { share = 1 }: ConformanceOptions = {}): void {
  const open = opener(make)
  const runs = (all: number): number => Math.max(1, Math.round(all * share))
  describe(`${name} storage`, () => {
    describeRecords(open)
    describeCommit(open)
    describeRecordsModel(open, runs)
    describeAudit(open)
    describeCounters(open)
    describeHolds(open)
    describeSettlements(open)
    describeLiveHolds(open)
    describeLedger(open)
    describeEntries(open)
    describeAccounts(open)
    describeLedgerModel(open, runs)
    describeUsage(open)
    describeTotals(open)
    describeUsageModel(open, runs)
    describeRequestSettlements(open)
    describeRouting(open, runs)
    describeItems(open)
    describeReopen(open)
    describeSpool(open)
    test('ping resolves while the store can be used', async () => {
      const { storage } = await open()
      await storage.ping()
    })
    test('close may be called twice', async () => {
      const { storage } = await open()
      await storage.close()
      await storage.close()
    })
  })
}
