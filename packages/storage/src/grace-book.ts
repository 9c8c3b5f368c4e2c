import type { AccountHold, HoldExtension, HoldRequest, Settlement } from './ledger.ts'

// The holds that a process decides by itself while the database is away, and what may be overspent by them.
//
// An account is exposed to what was held on it here, less what a settlement showed to be too much. Its exposure ends only once the
// database has all of it and admits a new hold on the account: an account with a floor is then at its floor or above. So one process
// overspends an account by its cap at most, however often the database goes away, and a new process begins with nothing known.

/** Microdollars that holds of one process may come to while the database is away. */
export interface GraceCaps {
  /** All accounts together. */
  readonly maxPerProcess: number
  /** One account without a floor: postpaid credit. */
  readonly maxPerAccount: number
  /** One account with a floor: prepaid credit, a budget. */
  readonly maxPerLimitedAccount: number
}

/** Bounds of what is remembered. Beyond them an account counts as unknown, and a request is not let through. */
const bookLimits = { maxAccounts: 20_000, maxHolds: 10_000 } as const

/** A hold that the database does not have, or whose settlement it does not have. */
export interface BookEntry {
  readonly request: HoldRequest | undefined
  /** Microdollars by account. */
  readonly amounts: Map<string, number>
  /** Placed in the database after the outage. */
  isPlaced: boolean
  isSettled: boolean
  /** Resolves once the database has answered whether it placed the hold. */
  placing: Promise<unknown> | undefined
}

interface BookAccount {
  /** Microdollars. */
  exposed: number
  /** Entries that name it. */
  entries: number
  /** The database admitted a hold on it, with its floor, after all that was exposed before. */
  isCovered: boolean
}

/** The holds of one process during outages. */
export interface GraceBook {
  /** Holds whose settlement, or themselves, the database does not have. */
  size(): number
  /** Microdollars of them. */
  amount(): number
  entry(id: string): BookEntry | undefined
  /** Requests under way whose holds are not in the database. */
  unplaced(): readonly (readonly [id: string, entry: BookEntry])[]
  /** Of two that are equal, nothing was written between them. */
  mark(): number
  /** The database has admitted a hold that was asked for at `mark`: it covers accounts of which it has everything. */
  cover(hold: HoldRequest, mark: number): void
  /** The database has refused a hold on the account: it is at its floor. */
  uncover(account: string): void
  /** Holds all amounts, or none. The same id twice is one hold. */
  admit(hold: HoldRequest): boolean
  /** Adds to a hold, whether it is here or in the database. */
  extend(extension: HoldExtension): boolean
  /** The true cost is known: what was held beyond it is free again. Of a hold that is in the database too, only its part here counts. */
  spend(entry: BookEntry, settlement: Settlement): void
  /** The database has the settlement. */
  written(id: string, entry: BookEntry): void
}

interface BookState {
  readonly caps: GraceCaps
  readonly accounts: Map<string, BookAccount>
  readonly entries: Map<string, BookEntry>
  /** Microdollars of all entries. */
  total: number
  changes: number
}

/** A book without entries. `graceBook(caps).admit(hold)` */
export function graceBook(caps: GraceCaps): GraceBook {
  const book: BookState = { caps, accounts: new Map(), entries: new Map(), total: 0, changes: 0 }
  const { accounts, entries } = book
  return {
    size: () => entries.size,
    amount: () => book.total,
    entry: id => entries.get(id),
    unplaced: () => [...entries].filter(([, { request, isPlaced, isSettled }]) => request && !isPlaced && !isSettled),
    mark: () => book.changes,
    cover(hold, mark) {
      for (const each of hold.accounts) coverAccount(book, each, mark)
    },
    uncover(name) {
      const account = accounts.get(name)
      if (account) account.isCovered = false
    },
    admit: hold => entries.has(hold.id) || addAll(book, hold.id, { request: hold, more: hold.accounts, usual: hold.amount }),
    extend: ({ id, accounts: more }) => addAll(book, id, { request: undefined, more, usual: 0 }),
    spend(entry, { id, amounts }) {
      if (entry.isSettled) return
      entry.isSettled = true
      recount(book, entry, () => {
        for (const [name, held] of entry.amounts) {
          const cost = Object.hasOwn(amounts, name) ? (amounts[name] ?? 0) : 0
          const owed = entry.request ? cost : Math.min(held, cost)
          entry.amounts.set(name, owed)
          const account = accounts.get(name)
          if (account) account.exposed += owed - held
        }
      })
      if (largest(entry.amounts.values()) === 0) removeEntry(book, id, entry)
    },
    written: (id, entry) => removeEntry(book, id, entry),
  }
}

function coverAccount({ accounts, caps, changes }: BookState, { account: name, floor }: AccountHold, mark: number): void {
  const account = accounts.get(name)
  if (!account && (floor === Number.NEGATIVE_INFINITY || caps.maxPerLimitedAccount === 0)) return
  if (account?.isCovered && account.exposed === 0) return
  if ((account?.entries ?? 0) > 0 || changes !== mark) return
  Object.assign(openAccount(accounts, name), { exposed: 0, isCovered: true })
}

function openAccount(accounts: Map<string, BookAccount>, name: string): BookAccount {
  const known = accounts.get(name)
  if (known) return known
  if (accounts.size >= bookLimits.maxAccounts) forgetOne(accounts)
  const account = { exposed: 0, entries: 0, isCovered: false }
  accounts.set(name, account)
  return account
}

interface Addition {
  /** Absent: more for a hold that is there already. */
  readonly request: HoldRequest | undefined
  readonly more: readonly AccountHold[]
  /** Microdollars on an account that names no amount. */
  readonly usual: number
}

/** Adds to all accounts, or to none. */
function addAll(book: BookState, id: string, { request, more, usual }: Addition): boolean {
  const { entries, caps } = book
  const amountOf = ({ amount = usual }: AccountHold): number => amount
  const known = entries.get(id)
  if (!known && entries.size >= bookLimits.maxHolds) return false
  if (!more.every(each => hasRoom(book, each, amountOf(each)))) return false
  if (book.total + largest(more.map(amountOf)) > caps.maxPerProcess) return false
  const entry = known ?? { request, amounts: new Map(), isPlaced: false, isSettled: false, placing: undefined }
  entries.set(id, entry)
  recount(book, entry, () => {
    for (const each of more) {
      const amount = amountOf(each)
      const account = openAccount(book.accounts, each.account)
      account.exposed += amount
      if (!entry.amounts.has(each.account)) account.entries += 1
      entry.amounts.set(each.account, (entry.amounts.get(each.account) ?? 0) + amount)
    }
  })
  return true
}

function hasRoom({ accounts, caps }: BookState, { account: name, floor }: AccountHold, amount: number): boolean {
  if (amount === 0) return true
  const account = accounts.get(name)
  const isLimited = floor !== Number.NEGATIVE_INFINITY
  if (isLimited && !account?.isCovered) return false
  return (account?.exposed ?? 0) + amount <= (isLimited ? caps.maxPerLimitedAccount : caps.maxPerAccount)
}

/** Holds of one request are the same money on each account: the process counts the largest. */
function recount(book: BookState, { amounts }: BookEntry, change: () => void): void {
  const before = largest(amounts.values())
  change()
  book.total += largest(amounts.values()) - before
  book.changes += 1
}

function removeEntry(book: BookState, id: string, entry: BookEntry): void {
  if (book.entries.get(id) !== entry) return
  book.entries.delete(id)
  for (const name of entry.amounts.keys()) {
    const account = book.accounts.get(name)
    if (account) account.entries -= 1
  }
  book.total -= largest(entry.amounts.values())
  book.changes += 1
}

const largest = (amounts: Iterable<number>): number => {
  let most = 0
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

/** The oldest account without exposure: as unknown, it is let through less than before. */
function forgetOne(accounts: Map<string, BookAccount>): void {
  for (const [name, { exposed, entries }] of accounts)
    if (exposed === 0 && entries === 0) {
      accounts.delete(name)
      return
    }
}
