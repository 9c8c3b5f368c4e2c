import type { PostgresConnection } from './connection.ts'

// Monthly partitions of `usage` and `audit`. The first process that writes a row of a month creates its partition and the next one. A row
// of a month without a partition goes to the default partition.

/** The partitions known to this process. */
export interface Months {
  /** Creates the partitions for rows about to be written; undefined if all are known. Never fails. */
  open(table: 'usage' | 'audit', rows: readonly { readonly at: number }[]): Promise<void> | undefined
}

/** Partitions are only created for rows this many milliseconds before and after now. Other rows are rare, and each partition slows down every query. */
const PAST_MS = 800 * 86_400_000
const FUTURE_MS = 40 * 86_400_000

/** Milliseconds until the creation of a partition is retried. A long read, such as a backup, may block it. */
const RETRY_MS = 60_000

/** Tracks the partitions of one connection. `await createMonths(connection).open('usage', rows)` */
export function createMonths(connection: PostgresConnection): Months {
  const openMonth = connection.caller('usage.partition', 'open_month', ['text', 'bigint'])
  /** Until when a partition is not requested again, in monotonic milliseconds. */
  const known = new Map<string, number>()
  const isDue = (table: string, month: number): boolean => (known.get(`${table} ${month}`) ?? 0) < performance.now()

  /** Rows of a month without a partition go to the default partition. */
  const openFor = async (table: 'usage' | 'audit', month: number): Promise<void> => {
    for (const at of [month, monthAfter(month)]) {
      if (!isDue(table, at)) continue
      const isOpen = await openMonth([table, at]).then(
        () => true,
        () => false,
      )
      known.set(`${table} ${at}`, isOpen ? Number.POSITIVE_INFINITY : performance.now() + RETRY_MS)
    }
  }

  return {
    open(table, rows) {
      let wanted: Set<number> | undefined
      for (const { at } of rows) {
        const month = monthOf(at)
        if (month === undefined || !(isDue(table, month) || isDue(table, monthAfter(month)))) continue
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
