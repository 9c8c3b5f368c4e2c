import type { Balance, CreditEntry, LedgerEntry, LedgerStore, Storage } from '@signalbox/storage'
import { faultOfCredit, faultOfExtension, faultOfHold, faultOfSettlement, faultOfSums, maxSum } from '@signalbox/storage/faults'
import type { AccountHold, HoldRefusal } from '@signalbox/storage/ledger'
import type { SettlementStores } from '@signalbox/storage/settlement'
import { createRecentIds, type RecentIds } from './recent-ids.ts'

/** The sums of an account that a credit changes. */
export type CreditSums = Pick<Balance, 'balance' | 'credited'>

export interface MemoryLedgerOptions {
  readonly maxEntries: number
  readonly maxIds: number
}

interface LedgerAccount {
  balance: number
  held: number
  credited: number
  spent: number
  entries: LedgerEntry[]
}
interface AccountAmount {
  readonly account: string
  amount: number
}

/** A ledger with the synchronous methods that `records.commit` needs, because nothing may run between its steps. */
export interface MemoryLedger extends LedgerStore {
  hasCredit(account: string, id: string): boolean
  sumsOf(account: string): CreditSums
  /** Adds a credit without checks. */
  creditNow(entry: CreditEntry): void
}

/** The state of a ledger. */
interface Books {
  readonly accounts: Map<string, LedgerAccount>
  readonly holds: Map<string, { version: number; readonly accounts: AccountAmount[] }>
  readonly settled: RecentIds
  readonly credits: RecentIds
  readonly maxEntries: number
}

/** Balances, holds and entries. `memoryLedger({ maxEntries: 100, maxIds: 1_000 }).balance('credit:me')` */
export function memoryLedger({ maxEntries, maxIds }: MemoryLedgerOptions): MemoryLedger {
  const books: Books = {
    accounts: new Map(),
    holds: new Map(),
    settled: createRecentIds(maxIds),
    credits: createRecentIds(maxIds),
    maxEntries,
  }
  return { ...holdVerbs(books), ...settlementVerbs(books), ...creditVerbs(books), ...readVerbs(books), ...accountLists(books.accounts) }
}

function openAccount({ accounts }: Books, name: string): LedgerAccount {
  const known = accounts.get(name)
  if (known) return known
  const account = { balance: 0, held: 0, credited: 0, spent: 0, entries: [] }
  accounts.set(name, account)
  return account
}

type NewEntry = Omit<LedgerEntry, 'account' | 'balanceAfter'>

/** Records a change of the balance. `account`: the account with this name. */
function write(
  { maxEntries }: Books,
  name: string,
  { account, entry }: { readonly account: LedgerAccount; readonly entry: NewEntry },
): void {
  account.balance = Math.max(-maxSum, account.balance + entry.amount)
  account.entries.push({ ...entry, account: name, balanceAfter: account.balance })
  // Trimmed once it is a quarter too long, which is cheaper than a shift per entry.
  if (account.entries.length > maxEntries * 1.25) account.entries = account.entries.slice(-maxEntries)
}

/** The first account that cannot cover its part of a hold. */
function holdRefusal({ accounts: known }: Books, accounts: readonly AccountHold[], usual: number): HoldRefusal | undefined {
  for (const { account, floor, amount = usual } of accounts) {
    const { balance, held } = known.get(account) ?? { balance: 0, held: 0 }
    const available = Math.min(balance - held - floor, maxSum - held)
    if (available < amount) return { account, available: Math.max(0, available) }
  }
  return undefined
}

function holdVerbs(books: Books): Pick<MemoryLedger, 'reserve' | 'renew' | 'extend' | 'holds'> {
  const { holds, settled } = books
  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      if (fault) throw fault
      if (holds.has(hold.id) || settled.has(hold.id)) return undefined
      const refusal = holdRefusal(books, hold.accounts, hold.amount)
      if (refusal) return refusal
      const held = hold.accounts.map(({ account, amount = hold.amount }) => ({ account, amount }))
      for (const { account, amount } of held) openAccount(books, account).held += amount
      holds.set(hold.id, { version: 1, accounts: held })
      return undefined
    },
    renew(renewals) {
      for (const { id } of renewals) {
        const hold = holds.get(id)
        if (hold) hold.version++
      }
    },
    extend(extension) {
      const fault = faultOfExtension(extension)
      if (fault) throw fault
      const { id, accounts } = extension
      const hold = holds.get(id)
      const [first] = accounts
      if (!hold) return first && { account: first.account, available: 0 }
      const refusal = holdRefusal(books, accounts, 0)
      if (refusal) return refusal
      for (const { account, amount } of accounts) {
        openAccount(books, account).held += amount
        const held = hold.accounts.find(each => each.account === account)
        if (held) held.amount += amount
        else hold.accounts.push({ account, amount })
      }
      hold.version++
      return undefined
    },
    holds({ after, limit }) {
      const ids = [...holds.keys()].filter(id => after === undefined || id > after).sort()
      return ids.slice(0, Math.max(0, limit)).map(id => ({ id, version: holds.get(id)?.version ?? 0 }))
    },
  }
}

function settlementVerbs(books: Books): Pick<MemoryLedger, 'settle'> {
  const { holds, settled } = books
  return {
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      if (fault) throw fault
      const { id, amounts, at } = settlement
      const hold = holds.get(id)
      // A live hold cannot have been settled, and looking up a settled id is slow.
      if (!hold && settled.has(id)) return
      settled.add(id)
      holds.delete(id)
      for (const { account, amount } of hold?.accounts ?? []) openAccount(books, account).held -= amount
      for (const name of Object.keys(amounts)) {
        const amount = amounts[name] ?? 0
        const account = openAccount(books, name)
        account.spent = Math.min(maxSum, account.spent + amount)
        write(books, name, { account, entry: { id, kind: 'usage', amount: 0 - amount, at } })
      }
    },
  }
}

/** Settles requests in one synchronous step. `memorySettle({ ledger, usage, counters })(settlement)` */
export const memorySettle =
  ({ ledger, usage, counters }: SettlementStores): Storage['settle'] =>
  ({ row, amounts, slotKeys, at }) => {
    let refused: { readonly error: unknown } | undefined
    try {
      void usage.append(row)
    } catch (error) {
      refused = { error }
    }
    for (const key of slotKeys) void counters.leave(key, row.id)
    void ledger.settle({ id: row.id, amounts, at })
    if (refused) throw refused.error
  }

const creditId = (name: string, id: string): string => `${id.length} ${id}${name}`

function creditVerbs(books: Books): Pick<MemoryLedger, 'credit' | 'hasCredit' | 'sumsOf' | 'creditNow'> {
  const { accounts, credits } = books
  const hasCredit = (name: string, id: string): boolean => credits.has(creditId(name, id))
  const creditNow = ({ id, account: name, amount, at, kind = 'credit', note }: CreditEntry): void => {
    credits.add(creditId(name, id))
    const account = openAccount(books, name)
    account.credited += amount
    write(books, name, { account, entry: { id, kind, amount, at, ...(note !== undefined && { note }) } })
  }
  const sumsOf = (name: string): CreditSums => {
    const { balance, credited } = accounts.get(name) ?? { balance: 0, credited: 0 }
    return { balance, credited }
  }
  return {
    credit(entry) {
      const fault = faultOfCredit(entry)
      if (fault) throw fault
      if (hasCredit(entry.account, entry.id)) return
      const passing = faultOfSums(sumsOf(entry.account), entry)
      if (passing) throw passing
      creditNow(entry)
    },
    hasCredit,
    sumsOf,
    creditNow,
  }
}

function readVerbs({ accounts, maxEntries }: Books): Pick<MemoryLedger, 'balance' | 'entries'> {
  return {
    balance(name) {
      const { balance, held, credited, spent } = accounts.get(name) ?? { balance: 0, held: 0, credited: 0, spent: 0 }
      return { balance, held, credited, spent }
    },
    entries(name, { limit, before, from, to, id }) {
      const kept = accounts.get(name)?.entries.slice(-maxEntries) ?? []
      const end = before === undefined ? kept.length : kept.findIndex(entry => entry.id === before)
      // An unknown id returns nothing.
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

/** Lists accounts and removes them. */
function accountLists(accounts: Map<string, LedgerAccount>): Pick<LedgerStore, 'accounts' | 'forget'> {
  // The names when their first page was read, so that they are not sorted again for each page.
  let sorted: readonly string[] | undefined
  return {
    accounts({ prefix, after, limit }) {
      if (after === undefined || !sorted) sorted = [...accounts.keys()].sort()
      const page: string[] = []
      for (const name of sorted) {
        if (page.length >= limit) return page
        if (name.startsWith(prefix) && (after === undefined || name > after) && accounts.has(name)) page.push(name)
      }
      sorted = undefined
      return page
    },
    forget(names) {
      let gone = 0
      for (const name of names) if (accounts.get(name)?.held === 0 && accounts.delete(name)) gone += 1
      return gone
    },
  }
}
