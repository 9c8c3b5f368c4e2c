import { describe, expect, test } from 'vitest'
import { describeAdmissions } from './admissions.ts'
import { describeAudit } from './audit.ts'
import { describeCounters } from './counters.ts'
import { describeItems, describeReopenedItems } from './items.ts'
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
import { type Ability, type MakeStorage, opener, type RunCount } from './subject.ts'
import { describeUsage } from './usage.ts'
import { describeUsageModel } from './usage-model.ts'
import { describeTotals } from './usage-totals.ts'

export { asyncStorage } from './async-storage.ts'
export type { Ability, MakeStorage, Subject } from './subject.ts'

type DescribePart = (open: MakeStorage, runs: RunCount) => void

/** The tests of each part of a storage. */
const parts = {
  records: [describeRecords, describeCommit, describeRecordsModel],
  audit: [describeAudit],
  counters: [describeCounters],
  holds: [describeHolds, describeLiveHolds],
  admissions: [describeAdmissions],
  ledger: [describeSettlements, describeLedger, describeAccounts, describeLedgerModel, describeRequestSettlements],
  entries: [describeEntries],
  usage: [describeUsage, describeTotals, describeUsageModel],
  routing: [describeRouting],
  items: [describeItems],
  reopen: [describeReopen],
  spool: [describeSpool],
  lifecycle: [describeLifecycle],
} satisfies Readonly<Record<string, readonly DescribePart[]>>

/** A part of the conformance suite: one store of a storage or, in `reopen` and `lifecycle`, what concerns all of them. */
export type ConformancePart = keyof typeof parts

const partNames = Object.keys(parts) as readonly ConformancePart[]

/** Options of `describeStorage`. */
export interface ConformanceOptions {
  /** Share of random sequences to run, for slow stores such as those behind a network. Default: 1. */
  readonly share?: number
  /** What the storage does without. Its tests are not declared; one test checks that it is missing. Default: nothing. */
  readonly lacks?: readonly Ability[]
  /** The parts to test, where another implementation has the rest. Default: all that it does not lack. */
  readonly only?: readonly ConformancePart[]
}

/**
 * Declares the conformance suite of storages, which defines what a correct implementation does. Every test gets an empty storage from
 * `make` and closes it. With `reopen`, the suite also checks that acknowledged writes are durable.
 *
 * @example describeStorage('memory', async () => ({ storage: memoryStorage() }), { lacks: ['reopen', 'spool'] })
 */
export function describeStorage(name: string, make: MakeStorage, options: ConformanceOptions = {}): void {
  const { share = 1, lacks = [], only = partNames } = options
  const open = opener(make)
  const runs = (all: number): number => Math.max(1, Math.round(all * share))
  const isLacking = (part: string): boolean => lacks.some(ability => ability === part)
  describe(`${name} storage`, () => {
    for (const part of only) if (!isLacking(part)) for (const describePart of parts[part]) describePart(open, runs)
    if (only.includes('items') && !isLacking('items') && !isLacking('reopen')) describeReopenedItems(open)
    if (lacks.length > 0)
      test(`has no ${lacks.join(' and no ')}`, async () => {
        const { storage, reopen } = await open()
        const has = { items: storage.items, routing: storage.routing, spool: storage.spool, reopen }
        expect(lacks.filter(ability => has[ability] !== undefined)).toEqual([])
      })
  })
}

function describeLifecycle(open: MakeStorage): void {
  test('ping resolves while the store can be used', async () => {
    const { storage } = await open()
    await storage.ping()
  })
  test('close may be called twice', async () => {
    const { storage } = await open()
    await storage.close()
    await storage.close()
  })
}
