import type { Awaitable } from './awaitable.ts'

/** Money accounts in microdollars: holds before a request, settlements after it, credit, and the entries of all of them. */
export interface LedgerStore {
  /**
   * Sets money aside on every account, or on none. Repeating an `id` returns the first result; an `id` that is already settled, or is
   * settled concurrently, sets nothing aside. A hold ends only by `settle`, never by time. A hold without accounts sets nothing aside and
   * only carries its journal.
   */
  reserve(hold: HoldRequest): Awaitable<HoldRefusal | undefined>
  /**
   * Raises the version of each hold, and replaces its journal if one is given. Unknown ids are ignored. With an empty list it changes
   * nothing, but fails if holds cannot be renewed now, in which case a hold that is not renewed may still be alive.
   */
  renew(holds: readonly HoldRenewal[]): Awaitable<void>
  /**
   * Adds to a hold, on every named account or on none, and raises its version. New accounts join the hold. A hold that is not live is
   * refused with nothing available on its first account.
   */
  extend(extension: HoldExtension): Awaitable<HoldRefusal | undefined>
  /** Live holds, ordered by id. */
  holds(query: HoldQuery): Awaitable<readonly LiveHold[]>
  /**
   * Ends a hold and writes an entry with the true amount for each named account. Accounts that are not named pay nothing; if none is, the
   * hold is released. The true amount may exceed the hold, because what was used is owed. Repeating an `id` does nothing; an `id` that was
   * never held is charged once. Never refuses: a balance or spent sum that would exceed `maxSum` stays there, while the entry has the true
   * amount.
   */
  settle(settlement: Settlement): Awaitable<void>
  /**
   * Adds money to an account, or corrects it. Repeating an `id` for the same account does nothing. Fails with a RangeError if the balance,
   * or the total ever credited, would exceed `maxSum`; a correction towards 0 never does.
   */
  credit(entry: CreditEntry): Awaitable<void>
  /** The sums of an account; all are 0 for an unknown one. */
  balance(account: string): Awaitable<Balance>
  /** Newest first. */
  entries(account: string, query: EntryQuery): Awaitable<readonly LedgerEntry[]>
  /** Names of accounts in a stable order, page by page. An account opened meanwhile may be missing. */
  accounts(query: AccountQuery): Awaitable<readonly string[]>
  /**
   * Removes accounts without holds, including their entries; returns how many. Unknown ones are ignored. Settled ids stay settled and
   * charge nothing again. An account that is charged later starts again at 0.
   */
  forget(accounts: readonly string[]): Awaitable<number>
}

/** Money to set aside before a request. */
export interface HoldRequest {
  readonly id: string
  /** Microdollars for every account without its own amount. */
  readonly amount: number
  readonly accounts: readonly AccountHold[]
  readonly at: number
  /** Returns text about the request, which `holds` returns. Only called by durable stores, within the step itself. */
  readonly journal?: () => string
}
/** Renews the hold of a running request. */
export interface HoldRenewal {
  readonly id: string
  /** As in `HoldRequest`. If undefined, the journal stays the same. */
  readonly journal?: () => string
}
/** More money to set aside for a hold. */
export interface HoldExtension {
  readonly id: string
  readonly accounts: readonly Required<AccountHold>[]
}
/** Selects one page of account names. */
export interface AccountQuery {
  /** Name prefix, at least 1 character. */
  readonly prefix: string
  /** The last name of the previous page, which may no longer exist. */
  readonly after?: string
  readonly limit: number
}
/** Selects one page of live holds. */
export interface HoldQuery {
  /** Only holds after this id, which may no longer exist. */
  readonly after?: string
  readonly limit: number
}
/** A hold that is not settled. */
export interface LiveHold {
  readonly id: string
  /** Raised whenever the hold is renewed or extended. If it stays the same, the process of the hold has ended. */
  readonly version: number
  /** Undefined if there is none, and in stores that are not durable. */
  readonly journal?: string
}
/** The part of a hold on one account. */
export interface AccountHold {
  readonly account: string
  /** The account's balance minus its live holds must not fall below this. `-Infinity` refuses only holds that together exceed `maxSum`. */
  readonly floor: number
  /** Microdollars. Default: the amount of the hold. */
  readonly amount?: number
}
/** The first account that cannot cover a hold. */
export interface HoldRefusal {
  readonly account: string
  /** Microdollars that the account could still set aside. */
  readonly available: number
}
/** The true cost of a request. */
export interface Settlement {
  readonly id: string
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  readonly at: number
}
/** A credit to an account, or a correction. */
export interface CreditEntry {
  readonly id: string
  readonly account: string
  /** Microdollars above 0. An adjustment may be negative, and may take an account below 0. */
  readonly amount: number
  readonly at: number
  /** Adjustments count as credit, whatever their sign. Default: `credit`. */
  readonly kind?: 'credit' | 'adjustment'
  readonly note?: string
}
/** The sums of an account in microdollars. */
export interface Balance {
  /** Credited minus spent. */
  readonly balance: number
  /** Set aside by live holds. */
  readonly held: number
  readonly credited: number
  readonly spent: number
}
/** Selects one page of an account's entries. */
export interface EntryQuery {
  readonly limit: number
  /** Continues before the entry with this id. An unknown id returns nothing. */
  readonly before?: string
  /** Unix milliseconds; `from` is inclusive, `to` is exclusive. */
  readonly from?: number
  readonly to?: number
  /** Only entries with this id. */
  readonly id?: string
}
/** One change of an account's balance. */
export interface LedgerEntry {
  /** The request id for usage, otherwise the id of the credit. */
  readonly id: string
  readonly account: string
  readonly kind: 'credit' | 'usage' | 'adjustment'
  /** Microdollars: credit is above 0, usage at or below 0. */
  readonly amount: number
  readonly balanceAfter: number
  readonly at: number
  readonly note?: string
}
