import { dayMs } from '@signalbox/dialects/protocol'
import type { LedgerStore } from '@signalbox/storage'

// Each budget period has its own account, and so does each session with a spending limit. Nothing reads them once they have ended.

// The name of an account tells when it is over, so a store knows no periods. A settlement that comes later opens the account anew at 0, where
// it counts against nothing. Ids of settlements stay, so that none is charged twice.

/** Days from the date in an account's name to its end. For a session, the date is the day on which it expires. */
const lengths: ReadonlyMap<string | undefined, number> = new Map([
  ['day', 1],
  ['week', 7],
  ['month', 31],
  ['session', 1],
])
/** Used for budgets whose account name does not include the period. */
const longest = 31
/** Days for which an account is kept after its end, because settlements from a spool or of an ended process may be late. */
const keptDays = 7

/**
 * Matches `budget:app:user:u_42:month:2026-03-01` (or `group`), `budget:app:session:<id>:2026-03-10`, and `budget:<id>:2026-03-01` for a
 * budget record. No part contains a colon.
 */
const dated = /^budget:[^:]+(?::(?:user|group):[^:]*:(day|week|month)(?:\+byok)?|:(session):[^:]+)?:(\d{4}-\d{2}-\d{2})$/

/**
 * Whether the account of a budget or session ended more than a week ago, judged by its name. Accounts without a period never end.
 *
 * @example hasEnded('budget:app:user:u_42:month:2026-03-01', Date.UTC(2026, 3, 9)) // true
 */
export function hasEnded(account: string, now: number): boolean {
  const [, period, session, date = ''] = dated.exec(account) ?? []
  const length = lengths.get(period ?? session) ?? longest
  return Date.parse(date) + (length + keptDays) * dayMs < now
}

const pageSize = 1_000
/** Pages per run, to limit the load on the store. */
const maxPages = 5

/**
 * Removes ended accounts, in the order of their names, starting after `after`. Returns where the next run continues, or undefined if all
 * accounts have been checked.
 */
export async function forgetEnded(
  ledger: Pick<LedgerStore, 'accounts' | 'forget'>,
  { now, after }: { readonly now: number; readonly after: string | undefined },
): Promise<string | undefined> {
  let place = after
  for (let pages = 0; pages < maxPages; pages++) {
    const names = await ledger.accounts({ prefix: 'budget:', limit: pageSize, after: place })
    const ended = names.filter(name => hasEnded(name, now))
    if (ended.length > 0) await ledger.forget(ended)
    if (names.length < pageSize) return undefined
    place = names.at(-1)
  }
  return place
}
