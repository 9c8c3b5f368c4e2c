import type { Generated } from 'kysely'

// The tables as statements see them, on every dialect: column names and value types.

export interface RecordsTable {
  readonly seq: Generated<number>
  readonly kind: string
  readonly id: string
  readonly workspace_id: string
  readonly version: number
  readonly grp: string | null
  readonly name: string | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly used_at: number | null
  readonly body: string
}

export interface AuditTable {
  readonly workspace_id: string
  readonly place: number
  readonly id: string
  readonly event: string
  readonly actor_key_id: string | null
  readonly actor_name: string | null
  readonly subject_type: string
  readonly subject_id: string
  readonly at: number
  readonly request_id: string | null
  readonly ip: string | null
  readonly changes: string
  readonly previous_hash: string
  readonly hash: string
}

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

export interface UsageTable {
  readonly seq: number
  readonly id: string
  readonly workspace_id: string
  readonly key_id: string
  readonly at: number
  readonly model_asked: string
  readonly model: string
  readonly provider: string
  readonly credential: string
  readonly strategy: string
  readonly streamed: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly estimated: number
  readonly cost: number
  readonly byok_cost: number
  readonly result: string
  readonly code: string | null
  readonly attempts: number
  readonly duration_ms: number
  readonly first_content_ms: number | null
  readonly warnings: string
  readonly metadata: string | null
  readonly routing: string | null
  readonly tags: string | null
}

/** Every usage row id, on dialects that partition `usage`. */
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
  readonly records: RecordsTable
  readonly audit: AuditTable
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
