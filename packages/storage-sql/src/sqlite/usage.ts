import type { UsageQuery, UsageRow, UsageStore } from '@signalbox/storage'
import { andThen } from '@signalbox/storage/awaitable'
import { faultOfUsage } from '@signalbox/storage/faults'
import { usageColumns } from '../columns.ts'
import { intersectRanges, isFiltered } from '../stored-totals.ts'
import type { Connection } from './connection.ts'
import type { Rollup } from './usage-rollup.ts'
import { USAGE_COLUMNS } from './usage-rows.ts'
import { filterValues, MATCH_PARAMETERS, sqliteUsageScan, USAGE_MATCHES, type UsageScan } from './usage-scan.ts'
import { sqliteTotals } from './usage-totals.ts'
import { command, query, type Statement, statement, type Verb } from './verb.ts'

/** Uncounted rows that a query reads individually. */
const FEW = 2_000
/** Rows deleted in one transaction. */
const DELETED = 1_000

/**
 * Usage rows in SQLite, with totals of whole hours and days next to them. Totals of whole hours include removed rows if at most one of key,
 * model, provider and tag is named; all others only count existing rows.
 *
 * ```ts
 * await sqliteUsage(connection, sqliteRollup(connection)).totals({ workspaceId: 'ws_1', from, to, interval: 'day' })
 * ```
 */
export function sqliteUsage(connection: Connection, rollup: Rollup): UsageStore {
  const { read, write } = connection
  const parts = { rollup, scan: sqliteUsageScan(connection) }
  return {
    append(row) {
      const fault = faultOfUsage(row)
      if (fault) return Promise.reject(fault)
      return andThen(write(command(appendRow(row))), () => parts.rollup.note(row.id))
    },
    find: (workspaceId, id) => read(query(statement(FIND_ROW, id, workspaceId), ([row]) => row && usageColumns.rowOf(row))),
    totals: sqliteTotals(connection, parts),
    list: sqliteList(connection, parts),
    count: sqliteCount(connection, parts),
    forget: sqliteForget(connection, parts.rollup),
  }
}

const APPEND = `
  INSERT INTO usage (${USAGE_COLUMNS}) VALUES (${usageColumns.names.map((_, n) => `?${n + 1}`)}) ON CONFLICT (id) DO NOTHING`

/** Appends a row, once. `command(appendRow(row))` */
export const appendRow = (row: UsageRow): Statement => statement(APPEND, ...usageColumns.valuesOf(row))

const FIND_ROW = `SELECT ${USAGE_COLUMNS} FROM usage WHERE id = ?1 AND workspace_id = ?2`

interface Parts {
  readonly rollup: Rollup
  readonly scan: UsageScan
}

const PLACE = 'SELECT at, seq FROM usage WHERE id = ?1 AND workspace_id = ?2'
const [LAST, SEQ, LIMIT] = [1, 2, 3].map(more => `?${MATCH_PARAMETERS + more}`)
const PAGE = `
  SELECT ${USAGE_COLUMNS} FROM usage WHERE ${USAGE_MATCHES} AND (at < ${LAST} OR seq < ${SEQ}) ORDER BY at DESC, seq DESC LIMIT ${LIMIT}`

/** Pages of rows. With a filter, only hours with matching rows are read, so that rows of a rare key are found as fast. */
function sqliteList({ read, pause }: Connection, { rollup, scan }: Parts): UsageStore['list'] {
  const pageOf = (filter: UsageQuery, { last, seq, limit }: { last: number; seq: number; limit: number }): Verb<readonly UsageRow[]> =>
    query(statement(PAGE, ...filterValues(filter), last, seq, limit), rows => rows.map(row => usageColumns.rowOf(row)))

  return async ({ limit, after, ...filter }) => {
    const found = after === undefined ? undefined : await read(query(statement(PLACE, after, filter.workspaceId), ([row]) => row))
    if (limit <= 0 || (after !== undefined && !found)) return []
    const last = found ? Number(found.at) : Number.MAX_SAFE_INTEGER
    const seq = Number(found?.seq ?? 0)
    const range = intersectRanges(filter, { from: filter.from, to: last + 1 })
    if (!isFiltered(filter)) return read(pageOf({ ...filter, ...range }, { last, seq, limit }))
    await rollup.catchUp(FEW)
    const rows: UsageRow[] = []
    const stretches = await scan.stretchesOf({ ...filter, ...range })
    for (const stretch of stretches.toReversed()) {
      rows.push(...(await read(pageOf({ ...filter, ...stretch }, { last, seq, limit: limit - rows.length }))))
      if (rows.length >= limit) break
      await pause()
    }
    return rows
  }
}

const COUNT_ALL = 'SELECT count(*) AS rows FROM (SELECT 1 FROM usage WHERE workspace_id = ?1 AND at >= ?2 AND at < ?3 LIMIT ?4)'
const COUNT_SOME = `SELECT count(*) AS rows FROM (SELECT 1 FROM usage WHERE ${USAGE_MATCHES} LIMIT ?${MATCH_PARAMETERS + 1})`

/** Counts rows. Without a filter only the index is read, with one only the hours with matching rows. */
function sqliteCount({ read, pause }: Connection, { rollup, scan }: Parts): UsageStore['count'] {
  return async ({ limit, ...filter }) => {
    if (limit <= 0) return 0
    const { workspaceId, from, to } = filter
    if (!isFiltered(filter)) return read(query(statement(COUNT_ALL, workspaceId, from, to, limit), ([row]) => Number(row?.rows)))
    await rollup.catchUp(FEW)
    let count = 0
    for (const stretch of await scan.stretchesOf(filter)) {
      const some = statement(COUNT_SOME, ...filterValues({ ...filter, ...stretch }), limit - count)
      count += await read(query(some, ([row]) => Number(row?.rows)))
      if (count >= limit) break
      await pause()
    }
    return count
  }
}

/** Deletes only rows that the stored totals count. */
const FORGET = `
  DELETE FROM usage WHERE seq IN (
    SELECT seq FROM usage WHERE workspace_id = ?1 AND at < ?2 AND seq <= (SELECT seq FROM usage_rolled) ORDER BY at, seq LIMIT ?3)
  RETURNING 1 AS gone`
/** SQLite reuses the number of the newest row once it is deleted, so the mark must not be above it. */
const LOWER_MARK = 'UPDATE usage_rolled SET seq = min(seq, (SELECT coalesce(max(seq), 0) FROM usage)), version = version + 1'

function sqliteForget({ write }: Connection, rollup: Rollup): UsageStore['forget'] {
  return async ({ workspaceId, before, limit }) => {
    await rollup.catchUp(0)
    let gone = 0
    while (gone < limit) {
      const most = Math.min(DELETED, limit - gone)
      const statements = [statement(FORGET, workspaceId, before, most), statement(LOWER_MARK)]
      const removed = await write({ statements, answer: ([rows = []]) => rows.length })
      gone += removed
      if (removed < most) break
    }
    return gone
  }
}
