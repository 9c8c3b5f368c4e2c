import type { DatabaseSync } from 'node:sqlite'
import { type Balance, type CreditEntry, faultOfSums, type LedgerEntry, maxSum } from '@signalbox/storage'

/** What writes into the books; runs within a transaction of the caller's. */
export interface Booking {
  /**
   * `known`: one of this id is there for the account already, and nothing has changed. An error: the account's sums have no room for it,
   * and what the transaction did so far has to be undone.
   */
  credit(entry: CreditEntry): 'booked' | 'known' | RangeError
  /** The settlement's place in the order of all entries. Nothing: it is settled already. */
  begin(id: string): number | undefined
  /** Takes a true amount from an account, and lets go of what was held for it. */
  charge(usage: Usage): void
}

interface Usage {
  readonly seq: number
  readonly id: string
  readonly account: string
  readonly amount: number
  readonly freed: number
  readonly at: number
}

/** How long an entry's hour is, in milliseconds. */
export const HOUR_MS = 3_600_000

/**
 * A column as a number of JavaScript: reading a larger one throws, and versions before this one let sums pass `maxSum`. Such a sum is
 * told as `maxSum`.
 */
export const bounded = (column: string): string => `max(${-maxSum}, min(${maxSum}, ${column}))`

/** The writing half of the ledger. `makeBooking(db).credit({ id: 'gift', account: 'credit:me', amount: 5_000_000, at })` */
export function makeBooking(db: DatabaseSync): Booking {
  const move = db.prepare('INSERT INTO movements (id, kind, credited_account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const charge = db.prepare(`
    INSERT INTO accounts (account, balance, held, credited, spent) VALUES (?, ?, 0, 0, ?)
    ON CONFLICT (account) DO UPDATE SET
      balance = max(${-maxSum}, balance + excluded.balance), held = held - ?, spent = min(${maxSum}, spent + excluded.spent)`)
  const sums = db.prepare(`SELECT ${bounded('balance')} AS balance, ${bounded('credited')} AS credited FROM accounts WHERE account = ?`)
  const credit = db.prepare(`
    INSERT INTO accounts (account, balance, held, credited, spent) VALUES (?, ?, 0, ?, 0)
    ON CONFLICT (account) DO UPDATE SET balance = balance + excluded.balance, credited = credited + excluded.credited`)
  const entry = db.prepare(`
    INSERT INTO entries (account, seq, id, kind, amount, balance_after, at, note)
    SELECT account, ?, ?, ?, ?, balance, ?, ? FROM accounts WHERE account = ?`)
  const hour = db.prepare(`
    INSERT INTO entry_hours (account, hour, first_seq, last_seq) VALUES (?, ?, ?, ?)
    ON CONFLICT (account, hour) DO UPDATE SET last_seq = excluded.last_seq`)

  const write = (seq: number, { id, kind, amount, at, note, account }: Omit<LedgerEntry, 'balanceAfter'>): void => {
    entry.run(seq, id, kind, amount, at, note ?? null, account)
    hour.run(account, Math.trunc(at / HOUR_MS), seq, seq)
  }
  /** An adjustment shares its ids with the credits: a correction sent as either is booked once. */
  const moveOnce = (id: string, kind: 'credit' | 'usage', creditedAccount: string): number | undefined => {
    const { changes, lastInsertRowid } = move.run(id, kind, creditedAccount)
    return changes === 0 ? undefined : Number(lastInsertRowid)
  }

  return {
    credit({ kind = 'credit', ...given }) {
      const seq = moveOnce(given.id, 'credit', given.account)
      if (seq === undefined) return 'known'
      const account = sums.get(given.account) as Pick<Balance, 'balance' | 'credited'> | undefined
      const fault = account && faultOfSums(account, given)
      if (fault) return fault
      credit.run(given.account, given.amount, given.amount)
      write(seq, { ...given, kind })
      return 'booked'
    },
    begin: id => moveOnce(id, 'usage', ''),
    charge({ seq, id, account, amount, freed, at }) {
      charge.run(account, 0 - amount, amount, freed)
      write(seq, { id, kind: 'usage', amount: 0 - amount, at, account })
    },
  }
}
