import type { Awaitable } from './awaitable.ts'

/** Accounts of money in microdollars: holds before a request, settlements after it, credit, and the entries of all of them. */
export interface LedgerStore {
  /**
   * Sets money aside on every account, or on none. The same `id` twice is one hold, and answers as the first did; one that is settled
   * already, or at the same moment, sets nothing aside. A hold ends only by `settle`: no clock frees it. One without accounts sets nothing aside and only carries its journal.
   */
  reserve(hold: HoldRequest): Awaitable<HoldRefusal | undefined>
  /**
   * Raises the version of each hold, and replaces its journal if one is given. Unknown ids are ignored. With no holds it changes
   * nothing, and fails where holds could not be renewed now: while they cannot be, one that stands still may be alive.
   */
  renew(holds: readonly HoldRenewal[]): Awaitable<void>
  /**
   * Adds to a hold, on every account named or on none, and raises its version. An account that the hold did not name joins it.
   * A hold that is not live cannot be extended: it is refused with nothing available on its first account.
   */
  extend(extension: HoldExtension): Awaitable<HoldRefusal | undefined>
  /** Live holds in the order of their ids. */
  holds(query: HoldQuery): Awaitable<readonly LiveHold[]>
  /**
   * Ends a hold and writes an entry of the true amount for each account named. An account that is not named pays nothing; if none
   * is, the hold is released. The true amount may exceed the hold: what was used is owed. The same `id` twice does nothing the
   * second time; an `id` that was never held is charged too, once. It is never refused: a balance or a sum spent that would exceed
   * `maxSum` stays there, while the entry has the true amount.
   */
  settle(settlement: Settlement): Awaitable<void>
  /**
   * Adds money to an account, or corrects it. The same `id` twice for one account is one entry. Fails with a RangeError if the
   * balance, or the sum ever credited, would exceed `maxSum`; a correction towards 0 never does.
   */
  credit(entry: CreditEntry): Awaitable<void>
  /** The sums of an account; all are 0 for an unknown one. */
  balance(account: string): Awaitable<Balance>
  /** Newest first. */
  entries(account: string, query: EntryQuery): Awaitable<readonly LedgerEntry[]>
  /** Names of accounts in one order, page by page. One that is opened meanwhile may be missing. */
  accounts(query: AccountQuery): Awaitable<readonly string[]>
  /**
   * Removes accounts that nothing is held on, with their entries; returns how many. Unknown ones are ignored. What was settled stays
   * settled: its id charges nothing a second time. One that is charged later begins anew at 0.
   */
  forget(accounts: readonly string[]): Awaitable<number>
}

/** Money to set aside before a request. */
export interface HoldRequest {
  readonly id: string
  /** Microdollars on every account that names no amount of its own. */
  readonly amount: number
  readonly accounts: readonly AccountHold[]
  readonly at: number
  /** Text about the request, which `holds` returns. Called only by stores that outlive the process, within the step itself. */
  readonly journal?: () => string
}
/** Shows that the request of a hold is still alive. */
export interface HoldRenewal {
  readonly id: string
  /** As in `HoldRequest`; absent: the journal stays as it is. */
  readonly journal?: () => string
}
/** More money to set aside for a hold. */
export interface HoldExtension {
  readonly id: string
  readonly accounts: readonly Required<AccountHold>[]
}
/** One page of names of accounts. */
export interface AccountQuery {
  /** What the names begin with, 1 character or more. */
  readonly prefix: string
  /** The last name of the page before, which need not exist any more. */
  readonly after?: string
  readonly limit: number
}
/** One page of live holds. */
export interface HoldQuery {
  /** Only holds after this id, which need not exist any more. */
  readonly after?: string
  readonly limit: number
}
/** A hold that is not settled. */
export interface LiveHold {
  readonly id: string
  /** Grows whenever the hold is renewed or extended: one that stands still belongs to a process that has ended. */
  readonly version: number
  /** Absent if there is none, and in stores that do not outlive the process. */
  readonly journal?: string
}
/** The part of a hold on one account. */
export interface AccountHold {
  readonly account: string
  /** The account's balance less its live holds may not fall below this. `-Infinity` refuses only holds that together exceed `maxSum`. */
  readonly floor: number
  /** Microdollars. Default: the amount of the hold. */
  readonly amount?: number
}
/** The first account that cannot cover a hold. */
export interface HoldRefusal {
  readonly account: string
  /** Microdollars that the account could still hold. */
  readonly available: number
}
/** The true cost of a request. */
export interface Settlement {
  readonly id: string
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  readonly at: number
}
/** Money that comes into an account, or a correction. */
export interface CreditEntry {
  readonly id: string
  readonly account: string
  /** Microdollars above 0. An adjustment may be below 0, and may take an account below 0. */
  readonly amount: number
  readonly at: number
  /** An adjustment counts as credit, whichever its sign. Default: `credit`. */
  readonly kind?: 'credit' | 'adjustment'
  readonly note?: string
}
/** The sums of an account in microdollars. */
export interface Balance {
  /** Credited less spent. */
  readonly balance: number
  /** Set aside by live holds. */
  readonly held: number
  readonly credited: number
  readonly spent: number
}
/** One page of an account's entries. */
export interface EntryQuery {
  readonly limit: number
  /** Continues before the entry of this id. Nothing comes before an unknown id. */
  readonly before?: string
  /** Unix milliseconds; `from` is included, `to` is not. */
  readonly from?: number
  readonly to?: number
  /** Only entries of this id. */
  readonly id?: string
}
/** One change of an account's balance. */
export interface LedgerEntry {
  /** The request's id for usage, else the id of the credit. */
  readonly id: string
  readonly account: string
  readonly kind: 'credit' | 'usage' | 'adjustment'
  /** Microdollars: credit is above 0, usage at or below 0. */
  readonly amount: number
  readonly balanceAfter: number
  readonly at: number
  readonly note?: string
}
