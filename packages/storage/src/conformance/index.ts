import { describe, test } from 'vitest'
import { describeAudit } from './audit.ts'
import { describeCounters } from './counters.ts'
import { describeLedger } from './ledger.ts'
import { describeEntries } from './ledger-entries.ts'
import { describeHolding } from './ledger-holding.ts'
import { describeLiving } from './ledger-living.ts'
import { describeLedgerModel } from './ledger-model.ts'
import { describeReserving } from './ledger-reserving.ts'
import { describeRecords } from './records.ts'
import { describeCommitting } from './records-committing.ts'
import { describeRecordsModel } from './records-model.ts'
import { describeReopening } from './reopening.ts'
import { describeRouting } from './routing.ts'
import { describeSpool } from './spool.ts'
import { type MakeStorage, opener } from './subject.ts'
import { describeUsage } from './usage.ts'
import { describeUsageModel } from './usage-model.ts'
import { describeTotals } from './usage-totals.ts'

export { answerByPromise } from './by-promise.ts'
export type { MakeStorage, Subject } from './subject.ts'

/**
 * What a storage must do, as a suite to run over any implementation: this is the definition of correct.
 *
 * ```ts
 * describeStorage('memory', async () => ({ storage: memoryStorage() }))
 * ```
 *
 * Every test asks `make` for an empty storage and closes it. With `reopen`, the suite also checks that what was
 * acknowledged is still there.
 */
export function describeStorage(name: string, make: MakeStorage): void {
  const open = opener(make)
  describe(`${name} storage`, () => {
    describeRecords(open)
    describeCommitting(open)
    describeRecordsModel(open)
    describeAudit(open)
    describeCounters(open)
    describeReserving(open)
    describeHolding(open)
    describeLiving(open)
    describeLedger(open)
    describeEntries(open)
    describeLedgerModel(open)
    describeUsage(open)
    describeTotals(open)
    describeUsageModel(open)
    describeRouting(open)
    describeReopening(open)
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
