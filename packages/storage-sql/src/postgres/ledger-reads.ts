import type { LedgerEntry, LedgerStore } from '@signalbox/storage'
import { type EntryRow, ledgerReads } from '../statements/ledger.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { postgresReads } from './reads.ts'

/** Live holds, ordered by id. `await readPostgresHolds(connection)({ limit: 100 })` */
export function readPostgresHolds(connection: PostgresConnection): LedgerStore['holds'] {
  const reads = postgresReads(connection)
  const { holds } = ledgerReads(reads.queries)
  return async query =>
    (await reads.query(holds(query))).map(({ id, version, journal }) => ({
      id: String(id),
      version: toInteger(version),
      ...(typeof journal === 'string' && { journal }),
    }))
}

/** Account names in order. `await readPostgresAccounts(connection)({ prefix: 'budget:', limit: 100 })` */
export function readPostgresAccounts(connection: PostgresConnection): LedgerStore['accounts'] {
  const reads = postgresReads(connection)
  const { accounts } = ledgerReads(reads.queries)
  return async query => (await reads.query(accounts(query))).map(({ account }) => String(account))
}

/** Entries, newest first. `await readPostgresEntries(connection)('credit:me', { limit: 20 })` */
export function readPostgresEntries(connection: PostgresConnection): LedgerStore['entries'] {
  const reads = postgresReads(connection)
  const { entries } = ledgerReads(reads.queries)
  return async (account, query) => (await reads.query(entries(account, query))).map(toEntry)
}

function toEntry(row: SqlRow): LedgerEntry {
  const { id, account, kind, note } = row as unknown as EntryRow
  const sums = { amount: toInteger(row.amount), balanceAfter: toInteger(row.balance_after), at: toInteger(row.at) }
  return { id, account, kind, ...sums, ...(note !== null && { note }) }
}
