import type { UsageQuery, UsageRow, UsageStore } from '@signalbox/storage'
import { faultOfUsage } from '@signalbox/storage/faults'
import { intervalMs } from '@signalbox/storage/usage-totals'
import { intersectRanges, isFiltered } from '../stored-totals.ts'
import type { PostgresConnection } from './connection.ts'
import type { Months } from './months.ts'
import { toInteger } from './parameters.ts'
import { fromUsageColumns, usageParameters, usageParameterTypes } from './usage-columns.ts'
import type { UsageReader } from './usage-reader.ts'
import { postgresTotals } from './usage-totals.ts'

/** Uncounted rows that a query reads individually. */
const FEW_ROWS = 2_000
/** Rows deleted by one statement. */
const DELETED_ROWS = 5_000

/** The other parts that usage rows need. */
export interface UsageParts {
  readonly months: Months
  readonly reader: UsageReader
}

/**
 * Usage rows in PostgreSQL, with totals of whole hours and days next to them. Totals of whole hours include removed rows if at most one of
 * key, model, provider and tag is named; all others only count existing rows.
 */
export function postgresUsage(connection: PostgresConnection, { months, reader }: UsageParts): UsageStore {
  const { reads, statements, rollup } = reader
  const append = connection.batched({
    verb: 'usage.append',
    name: 'append_usage',
    types: usageParameterTypes,
    keyOf: (row: UsageRow) => row.id,
    prepare: rows => months.open('usage', rows),
    toValues: usageParameters,
    toAnswers: (_, rows) => rows.map(() => undefined),
  })
  return {
    async append(row) {
      const fault = faultOfUsage(row)
      if (fault) throw fault
      const appended = append(ownRow(row))
      rollup.note()
      await appended
    },
    async find(workspaceId, id) {
      const [row] = await reads.fixed(statements.find, [id, workspaceId])
      return row && fromUsageColumns(row)
    },
    totals: postgresTotals(connection, reader),
    list: postgresUsageList(reader),
    count: postgresUsageCount(reader),
    forget: postgresForget(connection, reader),
  }
}

/** A copy that the caller cannot change while the row waits for a batch. `append(ownRow(row))` */
export const ownRow = (row: UsageRow): UsageRow => ({
  ...row,
  warnings: [...row.warnings],
  ...(row.metadata && { metadata: { ...row.metadata } }),
  ...(row.tags && { tags: [...row.tags] }),
})

/** Pages of rows. With a filter, only hours with matching rows are read, so that rows of a rare key are found as fast. */
function postgresUsageList({ reads, statements, rollup, hoursOf }: UsageReader): UsageStore['list'] {
  type Place = { readonly last: number; readonly seq: number; readonly limit: number }
  const pageOf = async (query: UsageQuery, place: Place): Promise<readonly UsageRow[]> =>
    (await reads.query(statements.page(query, place))).map(fromUsageColumns)

  return async ({ limit, after, ...query }) => {
    const [found] = after === undefined ? [] : await reads.fixed(statements.placeOf, [after, query.workspaceId])
    if (limit <= 0 || (after !== undefined && !found)) return []
    const last = found ? toInteger(found.at) : Number.MAX_SAFE_INTEGER
    const seq = toInteger(found?.seq ?? 0)
    const range = intersectRanges(query, { from: query.from, to: last + 1 })
    if (!isFiltered(query)) return pageOf({ ...query, ...range }, { last, seq, limit })
    await rollup.catchUp(FEW_ROWS)
    const rows: UsageRow[] = []
    for (const start of (await hoursOf({ ...query, ...range })).toReversed()) {
      const hour = intersectRanges(range, { from: start, to: start + intervalMs.hour })
      rows.push(...(await pageOf({ ...query, ...hour }, { last, seq, limit: limit - rows.length })))
      if (rows.length >= limit) break
    }
    return rows
  }
}

/** Reads only the index without a filter, and the hours that have matching rows with one. */
function postgresUsageCount({ reads, statements, rollup, hoursOf }: UsageReader): UsageStore['count'] {
  const countOf = async (query: UsageQuery, limit: number): Promise<number> =>
    toInteger((await reads.query(statements.count(query, limit)))[0]?.rows ?? 0)
  return async ({ limit, ...query }) => {
    if (limit <= 0) return 0
    if (!isFiltered(query)) return countOf(query, limit)
    await rollup.catchUp(FEW_ROWS)
    let count = 0
    for (const start of await hoursOf(query)) {
      count += await countOf({ ...query, ...intersectRanges(query, { from: start, to: start + intervalMs.hour }) }, limit - count)
      if (count >= limit) break
    }
    return count
  }
}

/** Deletes only rows that the stored totals count. */
function postgresForget(connection: PostgresConnection, { rollup }: UsageReader): UsageStore['forget'] {
  const forget = connection.caller('usage.forget', 'forget_usage', ['text', 'bigint', 'bigint'])
  const dropMonths = connection.caller('usage.forget', 'drop_usage_months', ['bigint', 'boolean'])
  return async ({ workspaceId, before, limit }) => {
    await rollup.catchUp(0)
    let gone = 0
    while (gone < limit) {
      const rowLimit = Math.min(DELETED_ROWS, limit - gone)
      const removed = toInteger(await forget([workspaceId, before, rowLimit]))
      gone += removed
      if (removed < rowLimit) break
    }
    // A month without rows in any workspace. The rows are gone, whether or not the partition can be dropped now.
    if (gone > 0) await dropMonths([before, 'true']).catch(() => undefined)
    return gone
  }
}
