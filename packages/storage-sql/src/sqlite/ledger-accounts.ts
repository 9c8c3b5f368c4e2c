import type { LedgerStore } from '@signalbox/storage'
import type { AccountQuery } from '@signalbox/storage/ledger'
import { afterPrefix } from '../after-prefix.ts'
import type { Connection } from './connection.ts'
import * as sql from './ledger-sql.ts'
import { inParts, query, type Rows, statement, type Verb } from './verb.ts'

/** A page of names. `read(accountsVerb({ prefix: 'budget:', limit: 100 }))` */
export const accountsVerb = ({ prefix, after = '', limit }: AccountQuery): Verb<readonly string[]> =>
  query(statement(sql.ACCOUNT_NAMES, prefix, afterPrefix(prefix), after, Math.max(0, limit)), rows =>
    rows.map(({ account }) => String(account)),
  )

/** Accounts and entries removed by one transaction. */
const MAX_ACCOUNTS = 250
const MAX_ENTRIES = 2_000

/** Removes accounts, their entries first, in transactions that block others only briefly. `sqliteForget(connection)(['budget:b'])` */
export const sqliteForget =
  ({ write }: Pick<Connection, 'write'>): LedgerStore['forget'] =>
  async names => {
    const count = ([rows = []]: Rows): number => rows.length
    let gone = 0
    for (const part of inParts(names, MAX_ACCOUNTS)) {
      const list = JSON.stringify(part)
      for (let removed = MAX_ENTRIES; removed === MAX_ENTRIES; )
        removed = await write({ statements: [statement(sql.FORGET_ENTRIES, list, MAX_ENTRIES)], answer: count })
      // Entries that were added meanwhile are removed with the account.
      const rest = [sql.FORGET_REST, sql.FORGET_HOURS, sql.FORGET_ACCOUNTS].map(text => statement(text, list))
      gone += await write({ statements: rest, answer: rows => rows[2]?.length ?? 0 })
    }
    return gone
  }
