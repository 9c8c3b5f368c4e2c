import type { Awaitable } from './awaitable.ts'

export interface LedgerStore {
  /**
   * Holds on every account, or on none. The same `id` twice is one hold, and answers as the first did. A hold ends by `settle`
   * alone: no clock frees it. One without accounts sets nothing aside and only carries its journal.
   */
  reserve(hold: HoldRequest): Awaitable<HoldRefusal | undefined>
  /** Raises the version of each hold, and replaces its journal where one is given. Unknown ids are ignored. */
  renew(holds: readonly HoldRenewal[]): Awaitable<void>
  /**
   * Adds to a hold, on every account named or on none; also raises its version. An account that the hold did not name joins it.
   * A hold that is not live cannot grow: refused with nothing available on its first account.
   */
  extend(extension: HoldExtension): Awaitable<HoldRefusal | undefined>
  /** Live holds in the order of their ids, after one of them or from the beginning. */
  holds(query: HoldQuery): Awaitable<readonly LiveHold[]>
  /**
   * Ends a hold and writes an entry of the true amount for each account named (an account not named pays nothing; none
   * named: a release). The true amount may pass the hold: what was used is owed. The same `id` twice does nothing the
   * second time; an `id` that was never held is charged all the same, once. It is never refused: a balance and a sum of what was
   * spent that would pass `maxSum` stay there, while the entry says the true amount.
   */
  settle(settlement: Settlement): Awaitable<void>
  /**
   * Money in, or a correction. The same `id` twice for one account is one entry. Refused with a RangeError where the balance, or
   * all that was ever credited, would pass `maxSum`; a correction back towards 0 never is.
   */
  credit(entry: CreditEntry): Awaitable<void>
  balance(account: string): Awaitable<Balance>
  /** Newest first. */
  entries(account: string, query: EntryQuery): Awaitable<readonly LedgerEntry[]>
}

export interface HoldRequest {
  readonly id: string
  /** On every account that does not say otherwise. */
  readonly amount: number
  readonly accounts: readonly AccountHold[]
  readonly at: number
  /** Text about the hold, which `holds` gives back. Called only by stores that outlive the process, within the step itself. */
  readonly journal?: () => string
}
export interface HoldRenewal {
  readonly id: string
  /** As in `HoldRequest`; absent: the journal stays as it is. */
  readonly journal?: () => string
}
export interface HoldExtension {
  readonly id: string
  readonly accounts: readonly Required<AccountHold>[]
}
export interface HoldQuery {
  /** Only holds after this id, whether or not it is still there. */
  readonly after?: string
  readonly limit: number
}
export interface LiveHold {
  readonly id: string
  /** Grows whenever the hold is renewed or extended: one that stands still belongs to a process that is gone. */
  readonly version: number
  /** Absent where there is none, and in stores that do not outlive the process. */
  readonly journal?: string
}
export interface AccountHold {
  readonly account: string
  /** The account's balance less its live holds may not fall below this. `-Infinity`: refuses only holds that together pass `maxSum`. */
  readonly floor: number
  /** Where it is not the amount of the whole hold. */
  readonly amount?: number
}
export interface HoldRefusal {
  readonly account: string
  /** What the account could still hold. */
  readonly available: number
}
export interface Settlement {
  readonly id: string
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  readonly at: number
}
export interface CreditEntry {
  readonly id: string
  readonly account: string
  /** Above 0. An adjustment may be below 0, and may take an account below 0. */
  readonly amount: number
  readonly at: number
  /** Default: `credit`. An adjustment counts as money in, whichever its sign. */
  readonly kind?: 'credit' | 'adjustment'
  readonly note?: string
}
export interface Balance {
  /** Credit less what was spent. */
  readonly balance: number
  /** Set aside by live holds. */
  readonly held: number
  readonly credited: number
  readonly spent: number
}
export interface EntryQuery {
  readonly limit: number
  /** Goes on before the entry of this id; one that is not there has nothing before it. */
  readonly before?: string
  /** `from` included, `to` not. */
  readonly from?: number
  readonly to?: number
  /** Only entries of this id. */
  readonly id?: string
}
export interface LedgerEntry {
  /** Of usage: the request's. Else as it was given. */
  readonly id: string
  readonly account: string
  readonly kind: 'credit' | 'usage' | 'adjustment'
  /** Credit above 0, usage below or at 0. */
  readonly amount: number
  readonly balanceAfter: number
  readonly at: number
  readonly note?: string
}
