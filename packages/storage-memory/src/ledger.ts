import type { Balance, CreditEntry, LedgerEntry, LedgerStore } from '@signalbox/storage'
import { faultOfCredit, faultOfExtension, faultOfHold, faultOfSettlement, faultOfSums, maxSum } from '@signalbox/storage/faults'
import type { AccountHold, HoldRefusal } from '@signalbox/storage/ledger'
import { createRecentIds } from './recent-ids.ts'

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
interface Hold {
  version: number
  readonly accounts: AccountAmount[]
}
interface AccountAmount {
  readonly account: string
  amount: number
}

/** A ledger with the synchronous methods that `records.commit` needs, because nothing may come between its steps. */
export interface MemoryLedger extends LedgerStore {
  hasCredit(account: string, id: string): boolean
  sumsOf(account: string): CreditSums
  /** Adds a credit without checks. */
  creditNow(entry: CreditEntry): void
}

/** Balances, holds and entries. `memoryLedger({ maxEntries: 100, maxIds: 1_000 }).balance('credit:me')` */
export function memoryLedger({ maxEntries, maxIds }: MemoryLedgerOptions): MemoryLedger {
  const accountByName = new Map<string, LedgerAccount>()
  const holds = new Map<string, Hold>()
  const settled = createRecentIds(maxIds)
  const credits = createRecentIds(maxIds)

  const open = (name: string): LedgerAccount => {
    const known = accountByName.get(name)
    if (known) return known
    const account = { balance: 0, held: 0, credited: 0, spent: 0, entries: [] }
    accountByName.set(name, account)
    return account
  }
  const end = (id: string, hold: Hold): void => {
    holds.delete(id)
    for (const { account, amount } of hold.accounts) open(account).held -= amount
  }
  const write = (name: string, account: LedgerAccount, entry: Omit<LedgerEntry, 'account' | 'balanceAfter'>): void => {
    account.balance = Math.max(-maxSum, account.balance + entry.amount)
    account.entries.push({ ...entry, account: name, balanceAfter: account.balance })
    // Trimmed in one step once it is a quarter too long: cheaper than one shift for each entry.
    if (account.entries.length > maxEntries * 1.25) account.entries = account.entries.slice(-maxEntries)
  }
  /** The first account that cannot cover its part of a hold. */
  const refusalOf = (accounts: readonly AccountHold[], usual: number): HoldRefusal | undefined => {
    for (const { account, floor, amount = usual } of accounts) {
      const { balance, held } = accountByName.get(account) ?? { balance: 0, held: 0 }
      const available = Math.min(balance - held - floor, maxSum - held)
      if (available < amount) return { account, available: Math.max(0, available) }
    }
    return undefined
  }

  const onceOf = (name: string, id: string): string => `${id.length} ${id}${name}`
  const hasCredit = (name: string, id: string): boolean => credits.has(onceOf(name, id))
  const creditNow = ({ id, account: name, amount, at, kind = 'credit', note }: CreditEntry): void => {
    credits.add(onceOf(name, id))
    const account = open(name)
    account.credited += amount
    write(name, account, { id, kind, amount, at, ...(note !== undefined && { note }) })
  }

  const sumsOf = (name: string): CreditSums => {
    const { balance, credited } = accountByName.get(name) ?? { balance: 0, credited: 0 }
    return { balance, credited }
  }

  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      if (fault) throw fault
      if (holds.has(hold.id) || settled.has(hold.id)) return undefined
      const refusal = refusalOf(hold.accounts, hold.amount)
      if (refusal) return refusal
      const held = hold.accounts.map(({ account, amount = hold.amount }) => ({ account, amount }))
      for (const { account, amount } of held) open(account).held += amount
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
      const refusal = refusalOf(accounts, 0)
      if (refusal) return refusal
      for (const { account, amount } of accounts) {
        open(account).held += amount
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
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      if (fault) throw fault
      const { id, amounts, at } = settlement
      const hold = holds.get(id)
      // A live hold cannot have been settled, and the lookup among many settled ids is slow.
      if (!hold && settled.has(id)) return
      settled.add(id)
      if (hold) end(id, hold)
      for (const name of Object.keys(amounts)) {
        const amount = amounts[name] ?? 0
        const account = open(name)
        account.spent = Math.min(maxSum, account.spent + amount)
        write(name, account, { id, kind: 'usage', amount: 0 - amount, at })
      }
    },
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
    balance(name) {
      const { balance, held, credited, spent } = accountByName.get(name) ?? { balance: 0, held: 0, credited: 0, spent: 0 }
      return { balance, held, credited, spent }
    },
    entries(name, { limit, before, from, to, id }) {
      const kept = accountByName.get(name)?.entries.slice(-maxEntries) ?? []
      const end = before === undefined ? kept.length : kept.findIndex(entry => entry.id === before)
      // Nothing comes before an unknown id.
      return kept
        .slice(0, Math.max(0, end))
        .filter(
          entry => (id === undefined || entry.id === id) && (from === undefined || entry.at >= from) && (to === undefined || entry.at < to),
        )
        .slice(-Math.max(0, limit) || kept.length)
        .reverse()
        .map(entry => ({ ...entry }))
    },
    ...accountLists(accountByName),
  }
}

/** Lists accounts and removes them. */
function accountLists(accounts: Map<string, LedgerAccount>): Pick<LedgerStore, 'accounts' | 'forget'> {
  // The names as they were when their first page was read, so that they are not sorted again for each.
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
