import type { LedgerEntry, LedgerStore } from '@signalbox/storage'
import { afterPrefix } from '../after-prefix.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { allOfConditions, postgresReads, SqlValues } from './reads.ts'

/** Milliseconds of the hours that index entries. */
const ENTRY_HOUR_MS = 3_600_000

/** Reads holds by id, account names in order, and entries, newest first. `await ledgerReads(connection).holds({ limit: 100 })` */
export function ledgerReads(connection: PostgresConnection): Pick<LedgerStore, 'holds' | 'accounts' | 'entries'> {
  const { schema } = connection
  const { query } = postgresReads(connection)
  return {
    async holds({ after, limit }) {
      const text = `SELECT id, version, journal FROM ${schema}.holds WHERE $1::text IS NULL OR id > $1 ORDER BY id LIMIT $2`
      const rows = await query({ text, values: [after ?? null, Math.max(0, limit)] })
      return rows.map(({ id, version, journal }) => ({
        id: String(id),
        version: toInteger(version),
        ...(typeof journal === 'string' && { journal }),
      }))
    },
    async accounts({ prefix, after, limit }) {
      const text = `SELECT account FROM ${schema}.accounts
        WHERE account >= $1 AND account < $2 AND ($3::text IS NULL OR account > $3) ORDER BY account LIMIT $4`
      const rows = await query({ text, values: [prefix, afterPrefix(prefix), after ?? null, Math.max(0, limit)] })
      return rows.map(({ account }) => String(account))
    },
    /** An unknown id returns nothing. */
    async entries(account, { id, before, from, to, limit }) {
      const values = new SqlValues()
      const name = values.add(account)
      // The range that can hold entries of a time: a list of last year's does not read all of this year's.
      const hours = allOfConditions([
        `h.account = ${name}`,
        from !== undefined && `h.hour >= ${values.add(Math.trunc(from / ENTRY_HOUR_MS))}`,
        to !== undefined && `h.hour <= ${values.add(Math.trunc(to / ENTRY_HOUR_MS))}`,
      ])
      const where = allOfConditions([
        `e.account = ${name}`,
        id !== undefined && `e.seq IN (SELECT m.seq FROM ${schema}.movements m WHERE m.id = ${values.add(id)})`,
        before !== undefined &&
          `e.seq < (SELECT min(m.seq) FROM ${schema}.movements m JOIN ${schema}.entries c ON c.seq = m.seq
            WHERE m.id = ${values.add(before)} AND c.account = ${name})`,
        from !== undefined && `e.at >= ${values.add(from)}`,
        to !== undefined && `e.at < ${values.add(to)}`,
        (from !== undefined || to !== undefined) &&
          `e.seq >= (SELECT min(h.first_seq) FROM ${schema}.entry_hours h WHERE ${hours})
            AND e.seq <= (SELECT max(h.last_seq) FROM ${schema}.entry_hours h WHERE ${hours})`,
      ])
      const text = `SELECT e.id, e.account, e.kind, e.amount, e.balance_after, e.at, e.note FROM ${schema}.entries e
        WHERE ${where} ORDER BY e.seq DESC LIMIT ${values.add(Math.max(0, limit))}`
      return (await query({ text, values: values.list })).map(toEntry)
    },
  }
}

function toEntry(row: SqlRow): LedgerEntry {
  const { id, account, kind, note } = row as unknown as Pick<LedgerEntry, 'id' | 'account' | 'kind'> & { readonly note: string | null }
  const sums = { amount: toInteger(row.amount), balanceAfter: toInteger(row.balance_after), at: toInteger(row.at) }
  return { id, account, kind, ...sums, ...(note !== null && { note }) }
}
