import type { DatabaseSync } from 'node:sqlite'
import {
  type Balance,
  faultOfCredit,
  faultOfHold,
  faultOfSettlement,
  type HoldRefusal,
  type HoldRequest,
  type LedgerEntry,
  type LedgerStore,
  type Settlement,
} from '@signalbox/storage'
import type { Connection } from './group.ts'

interface Hold {
  readonly amount: number
  /** JSON: a list of account names. */
  readonly accounts: string
}

/** Reserves between two searches for holds that ran out: where nobody is ever refused, nobody else looks. */
const SWEEP_EVERY = 1_000

/** Balances, holds and entries in SQLite. `await sqliteLedger(connection).balance('credit:me', at)` */
export function sqliteLedger({ db, read, write }: Connection): LedgerStore {
  const sql = prepare(db)
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
      return fault ? Promise.reject(fault) : write(() => settle(sql, settlement))
    },
    credit(entry) {
      const fault = faultOfCredit(entry)
      return fault ? Promise.reject(fault) : write(() => credit(sql, entry))
    },
    balance: (account, at) =>
      read(() => {
        const row = sql.balance.get(at, account) as { [key in keyof Balance]: number } | undefined
        return row ? { ...row } : { balance: 0, held: 0, credited: 0, spent: 0 }
      }),
    entries: (account, { limit, before }) =>
      read(() => {
        const seq = before === undefined ? Number.MAX_SAFE_INTEGER : sql.seqOf.get(before, account)?.seq
        // A cursor that is unknown has nothing before it.
        if (typeof seq !== 'number') return []
        return sql.entries.all(account, seq, Math.max(0, limit)) as unknown as LedgerEntry[]
      }),
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
    hold: db.prepare('INSERT INTO holds (id, amount, accounts, expires_at) VALUES (?, ?, ?, ?)'),
    held: db.prepare('SELECT amount, accounts FROM holds WHERE id = ?'),
    unhold: db.prepare('DELETE FROM holds WHERE id = ?'),
    lapse: db.prepare('DELETE FROM holds WHERE expires_at <= ? RETURNING amount, accounts'),
    move: db.prepare('INSERT INTO movements (id, kind, credited_account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    charge: db.prepare(`
      INSERT INTO accounts (account, balance, held, credited, spent) VALUES (?, ?, 0, 0, ?)
      ON CONFLICT (account) DO UPDATE SET balance = balance + excluded.balance, held = held - ?, spent = spent + excluded.spent`),
    credit: db.prepare(`
      INSERT INTO accounts (account, balance, held, credited, spent) VALUES (?, ?, 0, ?, 0)
      ON CONFLICT (account) DO UPDATE SET balance = balance + excluded.balance, credited = credited + excluded.credited`),
    entry: db.prepare(`
      INSERT INTO entries (account, seq, id, kind, amount, balance_after, at)
      SELECT account, ?, ?, ?, ?, balance, ? FROM accounts WHERE account = ?`),
    balance: db.prepare(`
      SELECT balance, credited, spent, held - coalesce((
        SELECT sum(amount) FROM holds, json_each(holds.accounts) AS named
        WHERE expires_at <= ? AND named.value = accounts.account), 0) AS held
      FROM accounts WHERE account = ?`),
    seqOf: db.prepare(`
      SELECT min(movements.seq) AS seq FROM movements JOIN entries ON entries.seq = movements.seq
      WHERE movements.id = ? AND entries.account = ?`),
    entries: db.prepare(`
      SELECT id, account, kind, amount, balance_after AS balanceAfter, at FROM entries
      WHERE account = ? AND seq < ? ORDER BY seq DESC LIMIT ?`),
  }
}

function reserve(sql: Sql, hold: HoldRequest): HoldRefusal | undefined {
  const known = sql.knownUntil.get(hold.id, hold.id)
  if (known) {
    if (Number(known.until) > hold.at) return undefined
    lapse(sql, hold.at)
  }
  for (const [index, wanted] of hold.accounts.entries()) {
    if (setAside(sql, hold, wanted)) continue
    for (const { account } of hold.accounts.slice(0, index)) sql.free.run(hold.amount, account)
    return { account: wanted.account, available: Math.max(0, freeOf(sql, wanted.account) - wanted.floor) }
  }
  sql.hold.run(hold.id, hold.amount, JSON.stringify(hold.accounts.map(({ account }) => account)), hold.expiresAt)
  return undefined
}

function setAside(sql: Sql, { amount, at }: HoldRequest, { account, floor }: HoldRequest['accounts'][number]): boolean {
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
  const over = sql.lapse.all(at) as unknown as readonly Hold[]
  for (const { amount, accounts } of over) for (const account of namesIn(accounts)) sql.free.run(amount, account)
}

const namesIn = (accounts: string): readonly string[] => JSON.parse(accounts)

function settle(sql: Sql, { id, amounts, at }: Settlement): void {
  const { changes, lastInsertRowid: seq } = sql.move.run(id, 'usage', '')
  if (changes === 0) return
  const hold = sql.held.get(id) as unknown as Hold | undefined
  if (hold) sql.unhold.run(id)
  const heldBy = hold ? namesIn(hold.accounts) : []
  for (const account of heldBy) if (!Object.hasOwn(amounts, account)) sql.free.run(hold?.amount ?? 0, account)
  for (const account of Object.keys(amounts)) {
    const amount = amounts[account] ?? 0
    const freed = heldBy.includes(account) ? (hold?.amount ?? 0) : 0
    sql.charge.run(account, 0 - amount, amount, freed)
    sql.entry.run(seq, id, 'usage', 0 - amount, at, account)
  }
}

function credit(sql: Sql, { id, account, amount, at }: { id: string; account: string; amount: number; at: number }): void {
  const { changes, lastInsertRowid: seq } = sql.move.run(id, 'credit', account)
  if (changes === 0) return
  sql.credit.run(account, amount, amount)
  sql.entry.run(seq, id, 'credit', amount, at, account)
}
