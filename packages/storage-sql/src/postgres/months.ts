import type { PostgresConnection } from './connection.ts'

// Partitions of `usage` and `audit` by month. They are made before the first row of a month is written, and the one after it at the
// same time, by whichever process comes first. A row whose month has none is kept in the default partition.

/** The partitions that this process knows of. */
export interface Months {
  /** Makes the partitions of rows that are about to be written; undefined if all are known. It does not fail. */
  open(table: 'usage' | 'audit', rows: readonly { readonly at: number }[]): Promise<void> | undefined
}

/** Partitions are made for rows of so many milliseconds before and after now: others are rare, and each partition costs every query. */
const PAST_MS = 800 * 86_400_000
const FUTURE_MS = 40 * 86_400_000

/** Creates the knowledge of one connection. `await createMonths(connection).open('usage', rows)` */
export function createMonths(connection: PostgresConnection): Months {
  const openMonth = connection.caller('usage.partition', 'open_month', ['text', 'bigint'])
  const known = new Set<string>()

  const openFor = async (table: 'usage' | 'audit', month: number): Promise<void> => {
    try {
      for (const at of [month, monthAfter(month)]) await openMonth([table, at])
      known.add(`${table} ${month}`)
    } catch {
      // The rows go to the default partition, and the next batch tries again.
    }
  }

  return {
    open(table, rows) {
      let wanted: Set<number> | undefined
      for (const { at } of rows) {
        const month = monthOf(at)
        if (month === undefined || known.has(`${table} ${month}`)) continue
        wanted ??= new Set()
        wanted.add(month)
      }
      return wanted && Promise.all([...wanted].map(month => openFor(table, month))).then(() => undefined)
    },
  }
}

/** The start of a month in UTC; undefined if the time is too far from now. */
function monthOf(at: number): number | undefined {
  const now = Date.now()
  if (at < now - PAST_MS || at > now + FUTURE_MS) return undefined
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

const monthAfter = (month: number): number => {
  const date = new Date(month)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
