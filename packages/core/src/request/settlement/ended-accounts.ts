import type { LedgerStore } from '@signalbox/storage'
import { dayMs } from '../../protocol/time.ts'

// Each period of a budget has an account of its own, and so has each session with a sum. Nothing reads them once they are over.

/** Days from the date in the name of an account to its end: of a period, or the date on which a session expires. */
const lengths: ReadonlyMap<string | undefined, number> = new Map([
  ['day', 1],
  ['week', 7],
  ['month', 31],
  ['session', 1],
])
/** Of a budget whose name does not tell its period. */
const longest = 31
/** Days for which an account stays after its end: settlements may come late, from the spool or of a process that ended. */
const keptDays = 7

/**
 * `budget:app:user:u_42:month:2026-03-01` and the like of groups, `budget:app:session:<id>:2026-03-10`, and `budget:<id>:2026-03-01` of a
 * record. No part holds a colon of its own.
 */
const dated = /^budget:[^:]+(?::(?:user|group):[^:]*:(day|week|month)(?:\+byok)?|:(session):[^:]+)?:(\d{4}-\d{2}-\d{2})$/

/**
 * Whether an account of a budget or a session has been over for a week, by its name. Accounts in total never are.
 *
 * @example hasEnded('budget:app:user:u_42:month:2026-03-01', Date.UTC(2026, 3, 9)) // true
 */
export function hasEnded(account: string, now: number): boolean {
  const [, period, session, date = ''] = dated.exec(account) ?? []
  const length = lengths.get(period ?? session) ?? longest
  return Date.parse(date) + (length + keptDays) * dayMs < now
}

const pageSize = 1_000
/** Pages of one look: the store is not kept busy by it. */
const maxPages = 5

/**
 * Removes the accounts that have ended, from a place in the order of their names on. Returns where the next look goes on; undefined: it
 * has seen all of them.
 */
export async function forgetEnded(
  ledger: Pick<LedgerStore, 'accounts' | 'forget'>,
  { now, after }: { readonly now: number; readonly after: string | undefined },
): Promise<string | undefined> {
  let place = after
  for (let pages = 0; pages < maxPages; pages++) {
    const names = await ledger.accounts({ prefix: 'budget:', limit: pageSize, ...(place !== undefined && { after: place }) })
    const ended = names.filter(name => hasEnded(name, now))
    if (ended.length > 0) await ledger.forget(ended)
    if (names.length < pageSize) return undefined
    place = names.at(-1)
  }
  return place
}
