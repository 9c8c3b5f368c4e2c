import type { LedgerEntry } from '@signalbox/storage'
import type { EntryQuery } from '@signalbox/storage/ledger'
import { clamped, HOUR_MS } from './ledger-sql.ts'
import { query, type Row, type Statement, type Value, type Verb } from './verb.ts'

const COLUMNS = `entries.id, account, entries.kind, amount, ${clamped('balance_after')} AS balanceAfter, at, note`
/** SQL for the number of the entry before which a page ends; null, which matches nothing, if it is unknown. */
const BEFORE = (before: string): string => `(
  SELECT min(movements.seq) FROM movements JOIN entries AS cursor ON cursor.seq = movements.seq
  WHERE movements.id = ${before} AND cursor.account = ?1)`
/** SQL for the bounds of the range that can contain entries of a time, so that a list of last year does not read all of this year. */
const STRETCH = (end: string, hours: readonly [string, string]): string =>
  `(SELECT ${end} FROM entry_hours WHERE account = ?1 AND hour >= ${hours[0]} AND hour <= ${hours[1]})`

/** Reads entries, newest first. */
export const entriesVerb = (account: string, filter: EntryQuery): Verb<readonly LedgerEntry[]> =>
  query(entriesStatement(account, filter), rows => rows.map(toEntry))

function entriesStatement(account: string, { id, before, from, to, limit }: EntryQuery): Statement {
  const values: Value[] = [account, Math.max(0, limit)]
  const parameter = (value: Value): string => `?${values.push(value)}`
  const matches = ['entries.account = ?1']
  if (before !== undefined) matches.push(`entries.seq < ${BEFORE(parameter(before))}`)
  if (from !== undefined || to !== undefined) {
    const [begin, end] = [from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER]
    const hours = [parameter(hourOf(begin)), parameter(hourOf(end))] as const
    matches.push(`entries.seq >= ${STRETCH('min(first_seq)', hours)}`, `entries.seq <= ${STRETCH('max(last_seq)', hours)}`)
    matches.push(`at >= ${parameter(begin)}`, `at < ${parameter(end)}`)
  }
  if (id !== undefined) matches.push(`movements.id = ${parameter(id)}`)
  const source = id === undefined ? 'entries' : 'movements JOIN entries ON entries.seq = movements.seq'
  return { sql: `SELECT ${COLUMNS} FROM ${source} WHERE ${matches.join(' AND ')} ORDER BY entries.seq DESC LIMIT ?2`, values }
}

const hourOf = (at: number): number => Math.trunc(at / HOUR_MS)

function toEntry(row: Row): LedgerEntry {
  const { note, ...entry } = row as unknown as LedgerEntry & { readonly note: string | null }
  return { ...entry, ...(note !== null && { note }) }
}
