import type { auditFields, ColumnsOf, recordFields, usageFields } from './columns.ts'

// The tables of PostgreSQL as its statements see them: column names and value types.

/** A usage row, and its number. */
export type UsageTable = ColumnsOf<typeof usageFields> & { readonly seq: number }

export interface HoldsTable {
  readonly id: string
  readonly version: number
  readonly journal: string | null
}

interface MovementsTable {
  readonly seq: number
  readonly id: string
  readonly kind: string
  readonly credited_account: string
}

export interface EntriesTable {
  readonly account: string
  readonly seq: number
  readonly id: string
  readonly kind: 'credit' | 'usage' | 'adjustment'
  readonly amount: number
  readonly balance_after: number
  readonly at: number
  readonly note: string | null
}

interface EntryHoursTable {
  readonly account: string
  readonly hour: number
  readonly first_seq: number
  readonly last_seq: number
}

/** Every id of a usage row, on dialects whose `usage` is partitioned. */
interface UsageIdsTable {
  readonly id: string
  readonly at: number
  readonly seq: number
}

interface UsageTotalsTable {
  readonly workspace_id: string
  readonly dimension: string
  readonly span: number
  readonly start: number
  readonly value: string
  readonly total: string
}

export interface StatisticsTable {
  readonly writer: string
  readonly offer: string
  readonly epoch: number
  readonly version: number
  readonly at: number
  readonly answered: number
  readonly failed: number
  readonly finished: number
  readonly broken: number
  readonly waits: number
  readonly ln_waits: number
  readonly ln_waits_squared: number
  readonly speeds: number
  readonly ln_speeds: number
  readonly sequence: number
}

/** The tables of a database, by name. */
export interface Tables {
  readonly records: ColumnsOf<typeof recordFields> & { readonly seq: number }
  readonly audit: ColumnsOf<typeof auditFields>
  readonly accounts: { readonly account: string }
  readonly holds: HoldsTable
  readonly movements: MovementsTable
  readonly entries: EntriesTable
  readonly entry_hours: EntryHoursTable
  readonly usage: UsageTable
  readonly usage_ids: UsageIdsTable
  readonly usage_totals: UsageTotalsTable
  readonly usage_rolled: { readonly seq: number }
  readonly offer_statistics: StatisticsTable
  readonly offer_pauses: { readonly offer: string; readonly until: number; readonly sequence: number }
  readonly conversation_readers: { readonly key: string; readonly offer: string; readonly tokens: number; readonly at: number }
}
