import type { AccountHold, HoldExtension, HoldRequest, Settlement } from './ledger.ts'

// The holds that a process admits on its own while the database is unavailable, and the limit of what they may overspend.
//
// The exposure of an account is the sum of the holds admitted here, reduced to the true cost when a request settles. It ends only when the
// database has all of these holds and settlements and admits a new hold on the account: an account with a floor is then at or above its
// floor. So one process overspends an account by at most its cap, however many outages there are. A new process knows no accounts.

/** Maximum microdollars of holds that one process admits while the database is unavailable. */
export interface GraceCaps {
  /** All accounts together. */
  readonly maxPerProcess: number
  /** One account without a floor, such as postpaid credit. */
  readonly maxPerAccount: number
  /** One account with a floor, such as prepaid credit or a budget. */
  readonly maxPerLimitedAccount: number
}

/** Memory bounds. Accounts beyond them count as unknown, and their requests are refused. */
const exposureLimits = { maxAccounts: 20_000, maxHolds: 10_000 } as const

/** A hold that is missing in the database, or whose settlement is. */
export interface ExposureEntry {
  readonly request: HoldRequest | undefined
  /** Microdollars by account. */
  readonly amounts: Map<string, number>
  /** Whether it was placed in the database after the outage. */
  isPlaced: boolean
  isSettled: boolean
  /** Resolves once the database has placed the hold or failed to. */
  placing: Promise<unknown> | undefined
}

interface ExposedAccount {
  /** Microdollars. */
  exposed: number
  /** Number of entries with an amount on this account. */
  entries: number
  /** Whether the database admitted a hold on the account, with its floor, after receiving all earlier exposure. */
  isCovered: boolean
}

/** The holds of one process during outages. */
export interface OutageExposure {
  /** Number of holds for which the database lacks the hold or its settlement. */
  size(): number
  /** Microdollars of these holds. */
  amount(): number
  entry(id: string): ExposureEntry | undefined
  /** Requests under way whose holds are not in the database. */
  unplaced(): readonly (readonly [id: string, entry: ExposureEntry])[]
  /** A version: equal marks mean that nothing was written in between. */
  mark(): number
  /** Records that the database admitted a hold requested at `mark`: accounts without open exposure are marked as covered. */
  cover(hold: HoldRequest, mark: number): void
  /** Records that the database refused a hold on the account, which is at its floor. */
  uncover(account: string): void
  /** Holds all amounts, or none. The same id twice is one hold. */
  admit(hold: HoldRequest): boolean
  /** Adds to a hold, whether it is here or in the database. */
  extend(extension: HoldExtension): boolean
  /** Records the true cost and releases the rest of the hold. For a hold that is also in the database, only the part held here counts. */
  spend(entry: ExposureEntry, settlement: Settlement): void
  /** Records that the database has the settlement. */
  written(id: string, entry: ExposureEntry): void
}

interface ExposureState {
  readonly caps: GraceCaps
  readonly accounts: Map<string, ExposedAccount>
  readonly entries: Map<string, ExposureEntry>
  /** Microdollars of all entries. */
  total: number
  changes: number
}

/** Creates an empty exposure. `outageExposure(caps).admit(hold)` */
export function outageExposure(caps: GraceCaps): OutageExposure {
  const exposure: ExposureState = { caps, accounts: new Map(), entries: new Map(), total: 0, changes: 0 }
  const { accounts, entries } = exposure
  return {
    size: () => entries.size,
    amount: () => exposure.total,
    entry: id => entries.get(id),
    unplaced: () => [...entries].filter(([, { request, isPlaced, isSettled }]) => request && !isPlaced && !isSettled),
    mark: () => exposure.changes,
    cover(hold, mark) {
      for (const each of hold.accounts) coverAccount(exposure, each, mark)
    },
    uncover(name) {
      const account = accounts.get(name)
      if (account) account.isCovered = false
    },
    admit: hold => entries.has(hold.id) || addAll(exposure, hold.id, { request: hold, more: hold.accounts, usual: hold.amount }),
    extend: ({ id, accounts: more }) => addAll(exposure, id, { request: undefined, more, usual: 0 }),
    spend(entry, { id, amounts }) {
      if (entry.isSettled) return
      entry.isSettled = true
      recount(exposure, entry, () => {
        for (const [name, held] of entry.amounts) {
          const cost = Object.hasOwn(amounts, name) ? (amounts[name] ?? 0) : 0
          const owed = entry.request ? cost : Math.min(held, cost)
          entry.amounts.set(name, owed)
          const account = accounts.get(name)
          if (account) account.exposed += owed - held
        }
      })
      if (largest(entry.amounts.values()) === 0) removeEntry(exposure, id, entry)
    },
    written: (id, entry) => removeEntry(exposure, id, entry),
  }
}

function coverAccount({ accounts, caps, changes }: ExposureState, { account: name, floor }: AccountHold, mark: number): void {
  const account = accounts.get(name)
  if (!account && (floor === Number.NEGATIVE_INFINITY || caps.maxPerLimitedAccount === 0)) return
  if (account?.isCovered && account.exposed === 0) return
  if ((account?.entries ?? 0) > 0 || changes !== mark) return
  Object.assign(openAccount(accounts, name), { exposed: 0, isCovered: true })
}

function openAccount(accounts: Map<string, ExposedAccount>, name: string): ExposedAccount {
  const known = accounts.get(name)
  if (known) return known
  if (accounts.size >= exposureLimits.maxAccounts) forgetOne(accounts)
  const account = { exposed: 0, entries: 0, isCovered: false }
  accounts.set(name, account)
  return account
}

interface Addition {
  /** Undefined if the hold already exists and is extended. */
  readonly request: HoldRequest | undefined
  readonly more: readonly AccountHold[]
  /** Microdollars for an account without its own amount. */
  readonly usual: number
}

/** Adds to all accounts, or to none. */
function addAll(exposure: ExposureState, id: string, { request, more, usual }: Addition): boolean {
  const { entries, caps } = exposure
  const amountOf = ({ amount = usual }: AccountHold): number => amount
  const known = entries.get(id)
  if (!known && entries.size >= exposureLimits.maxHolds) return false
  if (!more.every(each => hasRoom(exposure, each, amountOf(each)))) return false
  if (exposure.total + largest(more.map(amountOf)) > caps.maxPerProcess) return false
  const entry = known ?? { request, amounts: new Map(), isPlaced: false, isSettled: false, placing: undefined }
  entries.set(id, entry)
  recount(exposure, entry, () => {
    for (const each of more) {
      const amount = amountOf(each)
      const account = openAccount(exposure.accounts, each.account)
      account.exposed += amount
      if (!entry.amounts.has(each.account)) account.entries += 1
      entry.amounts.set(each.account, (entry.amounts.get(each.account) ?? 0) + amount)
    }
  })
  return true
}

function hasRoom({ accounts, caps }: ExposureState, { account: name, floor }: AccountHold, amount: number): boolean {
  if (amount === 0) return true
  const account = accounts.get(name)
  const isLimited = floor !== Number.NEGATIVE_INFINITY
  if (isLimited && !account?.isCovered) return false
  return (account?.exposed ?? 0) + amount <= (isLimited ? caps.maxPerLimitedAccount : caps.maxPerAccount)
}

/** A request sets the same money aside on several accounts, so the process total counts only the largest amount. */
function recount(exposure: ExposureState, { amounts }: ExposureEntry, change: () => void): void {
  const before = largest(amounts.values())
  change()
  exposure.total += largest(amounts.values()) - before
  exposure.changes += 1
}

function removeEntry(exposure: ExposureState, id: string, entry: ExposureEntry): void {
  if (exposure.entries.get(id) !== entry) return
  exposure.entries.delete(id)
  for (const name of entry.amounts.keys()) {
    const account = exposure.accounts.get(name)
    if (account) account.entries -= 1
  }
  exposure.total -= largest(entry.amounts.values())
  exposure.changes += 1
}

const largest = (amounts: Iterable<number>): number => {
  let most = 0
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

/** Removes the oldest account without exposure. Unknown accounts are admitted less, never more. */
function forgetOne(accounts: Map<string, ExposedAccount>): void {
  for (const [name, { exposed, entries }] of accounts)
    if (exposed === 0 && entries === 0) {
      accounts.delete(name)
      return
    }
}
