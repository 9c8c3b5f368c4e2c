import {
  type CreditEntry,
  faultOfCredit,
  faultOfHold,
  faultOfSettlement,
  type HoldRequest,
  type LedgerEntry,
  type LedgerStore,
} from '@signalbox/storage'
import { remember } from './remembered.ts'

export interface MemoryLedgerOptions {
  readonly maxEntries: number
  readonly maxIds: number
}

interface Account {
  balance: number
  /** Holds that ran out count here until someone looks; then they are let go. */
  held: number
  credited: number
  spent: number
  entries: LedgerEntry[]
}
interface Hold {
  readonly amount: number
  readonly accounts: HoldRequest['accounts']
  readonly expiresAt: number
}

/** The books, and what `records.commit` needs of them: at once, since nothing may come in between. */
export interface MemoryLedger extends LedgerStore {
  hasCredit(account: string, id: string): boolean
  creditNow(entry: CreditEntry): void
}

/** Reserves between two searches for holds that ran out: where nobody is ever refused, nobody else looks. */
const SWEEP_EVERY = 1_000

const done = Promise.resolve()
const admitted = Promise.resolve(undefined)

/** Balances, holds and entries. `await memoryLedger({ maxEntries: 100, maxIds: 1_000 }).balance('credit:me', at)` */
export function memoryLedger({ maxEntries, maxIds }: MemoryLedgerOptions): MemoryLedger {
  const accounts = new Map<string, Account>()
  const holds = new Map<string, Hold>()
  const settled = remember(maxIds)
  const credits = remember(maxIds)
  // No live hold ends before this, so a refusal need not search them all.
  let soonest = Number.POSITIVE_INFINITY
  let reserves = 0

  const open = (name: string): Account => {
    const known = accounts.get(name)
    if (known) return known
    const account = { balance: 0, held: 0, credited: 0, spent: 0, entries: [] }
    accounts.set(name, account)
    return account
  }
  const end = (id: string, hold: Hold): void => {
    holds.delete(id)
    for (const { account, amount = hold.amount } of hold.accounts) open(account).held -= amount
  }
  const lapse = (at: number): void => {
    if (!(at >= soonest)) return
    soonest = Number.POSITIVE_INFINITY
    for (const [id, hold] of holds)
      if (hold.expiresAt <= at) end(id, hold)
      else soonest = Math.min(soonest, hold.expiresAt)
  }
  const write = (name: string, account: Account, entry: Omit<LedgerEntry, 'account' | 'balanceAfter'>): void => {
    account.balance += entry.amount
    account.entries.push({ ...entry, account: name, balanceAfter: account.balance })
    // Cut in one go once a quarter too many are there: cheaper than shifting one out each time.
    if (account.entries.length > maxEntries * 1.25) account.entries = account.entries.slice(-maxEntries)
  }
  const availableTo = ({ account, floor }: HoldRequest['accounts'][number]): number => {
    const row = accounts.get(account)
    return (row ? row.balance - row.held : 0) - floor
  }

  const onceOf = (name: string, id: string): string => `${id.length} ${id}${name}`
  const hasCredit = (name: string, id: string): boolean => credits.has(onceOf(name, id))
  const creditNow = ({ id, account: name, amount, at, kind = 'credit', note }: CreditEntry): void => {
    credits.add(onceOf(name, id))
    const account = open(name)
    account.credited += amount
    write(name, account, { id, kind, amount, at, ...(note !== undefined && { note }) })
  }

  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      if (fault) return Promise.reject(fault)
      const known = holds.get(hold.id)
      if ((known && known.expiresAt > hold.at) || settled.has(hold.id)) return admitted
      if (known || ++reserves % SWEEP_EVERY === 0) lapse(hold.at)
      for (const wanted of hold.accounts) {
        const amount = wanted.amount ?? hold.amount
        if (availableTo(wanted) >= amount) continue
        lapse(hold.at)
        const available = availableTo(wanted)
        if (available < amount) return Promise.resolve({ account: wanted.account, available: Math.max(0, available) })
      }
      for (const { account, amount = hold.amount } of hold.accounts) open(account).held += amount
      holds.set(hold.id, { amount: hold.amount, accounts: hold.accounts.map(each => ({ ...each })), expiresAt: hold.expiresAt })
      if (hold.expiresAt < soonest) soonest = hold.expiresAt
      return admitted
    },
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      if (fault) return Promise.reject(fault)
      const { id, amounts, at } = settlement
      const hold = holds.get(id)
      // What is held cannot have been settled, and the many settled ids are slow to ask.
      if (!hold && settled.has(id)) return done
      settled.add(id)
      if (hold) end(id, hold)
      for (const name of Object.keys(amounts)) {
        const amount = amounts[name] ?? 0
        const account = open(name)
        account.spent += amount
        write(name, account, { id, kind: 'usage', amount: 0 - amount, at })
      }
      return done
    },
    credit(entry) {
      const fault = faultOfCredit(entry)
      if (fault) return Promise.reject(fault)
      if (!hasCredit(entry.account, entry.id)) creditNow(entry)
      return done
    },
    hasCredit,
    creditNow,
    async balance(name, at) {
      lapse(at)
      const { balance, held, credited, spent } = accounts.get(name) ?? { balance: 0, held: 0, credited: 0, spent: 0 }
      return { balance, held, credited, spent }
    },
    async entries(name, { limit, before, from, to, id }) {
      const kept = accounts.get(name)?.entries.slice(-maxEntries) ?? []
      const end = before === undefined ? kept.length : kept.findIndex(entry => entry.id === before)
      // A cursor that is unknown has nothing before it.
      return kept
        .slice(0, Math.max(0, end))
        .filter(
          entry => (id === undefined || entry.id === id) && (from === undefined || entry.at >= from) && (to === undefined || entry.at < to),
        )
        .slice(-Math.max(0, limit) || kept.length)
        .reverse()
        .map(entry => ({ ...entry }))
    },
  }
}
