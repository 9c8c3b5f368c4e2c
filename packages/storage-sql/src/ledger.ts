import type { DatabaseSync } from 'node:sqlite'
import {
  type AccountHold,
  type Balance,
  faultOfCredit,
  faultOfHold,
  faultOfSettlement,
  type HoldRefusal,
  type HoldRequest,
  type LedgerStore,
  type Settlement,
} from '@signalbox/storage'
import { type Booking, makeBooking } from './booking.ts'
import { readEntries } from './entries.ts'
import type { Connection } from './group.ts'

interface Hold {
  /** JSON: a list of pairs, an account and its amount. */
  readonly accounts: string
}
type Held = readonly (readonly [account: string, amount: number])[]

/** Reserves between two searches for holds that ran out: where nobody is ever refused, nobody else looks. */
const SWEEP_EVERY = 1_000

/** Balances, holds and entries in SQLite. `await sqliteLedger(connection).balance('credit:me', at)` */
export function sqliteLedger({ db, read, write }: Connection): LedgerStore {
  const sql = prepare(db)
  const booking = makeBooking(db)
  const entriesOf = readEntries(db)
  let reserves = 0
  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      if (fault) return Promise.reject(fault)
      const sweeps = ++reserves % SWEEP_EVERY === 0
      return write(() => {
        if (sweeps) lapse(sql, hold.at)
        return reserve(sql, hold)
      })
    },
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      return fault ? Promise.reject(fault) : write(() => settle({ sql, booking }, settlement))
    },
    credit(entry) {
      const fault = faultOfCredit(entry)
      if (fault) return Promise.reject(fault)
      return write(() => {
        booking.credit(entry)
      })
    },
    balance: (account, at) =>
      read(() => {
        const row = sql.balance.get(at, account) as { [key in keyof Balance]: number } | undefined
        return row ? { ...row } : { balance: 0, held: 0, credited: 0, spent: 0 }
      }),
    entries: (account, query) => read(() => entriesOf(account, query)),
  }
}

type Sql = ReturnType<typeof prepare>

function prepare(db: DatabaseSync) {
  return {
    // Until when an id is known: what was settled, for ever.
    knownUntil: db.prepare(`
      SELECT expires_at AS until FROM holds WHERE id = ? UNION ALL
      SELECT ${Number.MAX_SAFE_INTEGER} FROM movements WHERE id = ? AND kind = 'usage' AND credited_account = '' LIMIT 1`),
    open: db.prepare('INSERT INTO accounts (account, balance, held, credited, spent) VALUES (?, 0, 0, 0, 0) ON CONFLICT DO NOTHING'),
    // One statement decides and holds. Holds that ran out still count here: only a refusal has to look for them.
    aside: db.prepare('UPDATE accounts SET held = held + ? WHERE account = ? AND balance - held - ? >= ?'),
    account: db.prepare('SELECT balance - held AS free FROM accounts WHERE account = ?'),
    free: db.prepare('UPDATE accounts SET held = held - ? WHERE account = ?'),
    hold: db.prepare('INSERT INTO holds (id, accounts, expires_at) VALUES (?, ?, ?)'),
    held: db.prepare('SELECT accounts FROM holds WHERE id = ?'),
    unhold: db.prepare('DELETE FROM holds WHERE id = ?'),
    lapse: db.prepare('DELETE FROM holds WHERE expires_at <= ? RETURNING accounts'),
    balance: db.prepare(`
      SELECT balance, credited, spent, held - coalesce((
        SELECT sum(json_extract(pair.value, '$[1]')) FROM holds, json_each(holds.accounts) AS pair
        WHERE expires_at <= ? AND json_extract(pair.value, '$[0]') = accounts.account), 0) AS held
      FROM accounts WHERE account = ?`),
  }
}

function reserve(sql: Sql, hold: HoldRequest): HoldRefusal | undefined {
  const known = sql.knownUntil.get(hold.id, hold.id)
  if (known) {
    if (Number(known.until) > hold.at) return undefined
    lapse(sql, hold.at)
  }
  const held: (readonly [string, number])[] = []
  for (const { account, floor, amount = hold.amount } of hold.accounts) {
    if (!setAside(sql, { account, floor, amount }, hold.at)) {
      free(sql, held)
      return { account, available: Math.max(0, freeOf(sql, account) - floor) }
    }
    held.push([account, amount])
  }
  sql.hold.run(hold.id, JSON.stringify(held), hold.expiresAt)
  return undefined
}

function setAside(sql: Sql, { account, floor, amount }: Required<AccountHold>, at: number): boolean {
  const tryIt = (): boolean => sql.aside.run(amount, account, amount, floor).changes === 1
  if (tryIt()) return true
  // Refused, or new, or full of holds that ran out: make sure of the first before saying so.
  lapse(sql, at)
  if (freeOf(sql, account) - amount < floor) return false
  sql.open.run(account)
  return tryIt()
}

const freeOf = (sql: Sql, account: string): number => Number(sql.account.get(account)?.free ?? 0)

/** Forgets the holds that ran out and gives back what they had set aside. */
function lapse(sql: Sql, at: number): void {
  for (const over of sql.lapse.all(at)) free(sql, heldIn(over as unknown as Hold))
}

function free(sql: Sql, held: Held): void {
  for (const [account, amount] of held) sql.free.run(amount, account)
}

const heldIn = ({ accounts }: Hold): Held => JSON.parse(accounts)

function settle({ sql, booking }: { readonly sql: Sql; readonly booking: Booking }, { id, amounts, at }: Settlement): void {
  const seq = booking.begin(id)
  if (seq === undefined) return
  const hold = sql.held.get(id) as unknown as Hold | undefined
  if (hold) sql.unhold.run(id)
  const held = new Map(hold && heldIn(hold))
  for (const account of Object.keys(amounts)) {
    booking.charge({ seq, id, account, amount: amounts[account] ?? 0, freed: held.get(account) ?? 0, at })
    held.delete(account)
  }
  free(sql, [...held])
}
