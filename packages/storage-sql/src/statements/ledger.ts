import type { AccountQuery, EntryQuery, HoldQuery } from '@signalbox/storage/ledger'
import type { Compilable } from 'kysely'
import type { EntriesTable, HoldsTable } from '../schema.ts'
import type { Queries } from './compile.ts'

const entryColumns = ['entries.id', 'entries.account', 'entries.kind', 'amount', 'balance_after', 'at', 'note'] as const

/** The columns of an entry. */
export type EntryRow = Omit<EntriesTable, 'seq'>

/** Milliseconds of the hours that index entries. */
const ENTRY_HOUR_MS = 3_600_000

/** The first text after all texts with a prefix. */
export const afterPrefix = (prefix: string): string => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

/** Statements that read holds and entries. `ledgerReads(queries).holds({ limit: 100 })` */
export const ledgerReads = (queries: Queries) => ({
  /** Ordered by id. */
  holds({ after, limit }: HoldQuery): Compilable<HoldsTable> {
    const query = queries.selectFrom('holds').select(['id', 'version', 'journal']).orderBy('id').limit(Math.max(0, limit))
    return after === undefined ? query : query.where('id', '>', after)
  },
  /** Ordered by name. */
  accounts({ prefix, after, limit }: AccountQuery): Compilable<{ readonly account: string }> {
    const query = queries
      .selectFrom('accounts')
      .select('account')
      .where('account', '>=', prefix)
      .where('account', '<', afterPrefix(prefix))
      .orderBy('account')
      .limit(Math.max(0, limit))
    return after === undefined ? query : query.where('account', '>', after)
  },
  /** Newest first; an unknown id returns nothing. */
  entries(account: string, { id, before, from, to, limit }: EntryQuery): Compilable<EntryRow> {
    let query = queries.selectFrom('entries').select(entryColumns).where('account', '=', account)
    if (id !== undefined)
      query = query.where('seq', 'in', queries.selectFrom('movements').select('movements.seq').where('movements.id', '=', id))
    if (before !== undefined) {
      const cursor = queries
        .selectFrom('movements as moved')
        .innerJoin('entries as cursor', 'cursor.seq', 'moved.seq')
        .select(eb => eb.fn.min('moved.seq').as('seq'))
        .where('moved.id', '=', before)
        .where('cursor.account', '=', account)
      query = query.where('seq', '<', cursor)
    }
    if (from !== undefined || to !== undefined) {
      // The range that can hold entries of a time: a list of last year's does not read all of this year's.
      let hours = queries.selectFrom('entry_hours').where('entry_hours.account', '=', account)
      if (from !== undefined) {
        hours = hours.where('hour', '>=', Math.trunc(from / ENTRY_HOUR_MS))
        query = query.where('at', '>=', from)
      }
      if (to !== undefined) {
        hours = hours.where('hour', '<=', Math.trunc(to / ENTRY_HOUR_MS))
        query = query.where('at', '<', to)
      }
      query = query
        .where(
          'seq',
          '>=',
          hours.select(eb => eb.fn.min('first_seq').as('seq')),
        )
        .where(
          'seq',
          '<=',
          hours.select(eb => eb.fn.max('last_seq').as('seq')),
        )
    }
    return query.orderBy('seq', 'desc').limit(Math.max(0, limit))
  },
})
