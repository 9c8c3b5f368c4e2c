import { setImmediate } from 'node:timers/promises'
import { type Awaitable, faultOfUsage, intervalMs, type UsageQuery, type UsageRow, type UsageStore } from '@signalbox/storage'
import type { Connection } from './group.ts'
import { MATCHING, meetOf, sqliteReading, type UsageReading, valuesOf } from './usage-reading.ts'
import { type Rollup, sqliteRollup } from './usage-rollup.ts'
import { COLUMNS, toUsageRow, toValues } from './usage-rows.ts'
import { sqliteTotals } from './usage-totals.ts'

const FEW = 2_000
/** Rows deleted in one transaction. */
const DELETED = 1_000

/**
 * Usage rows in SQLite, and totals of whole hours and days beside them. Totals of whole hours count rows that were forgotten,
 * where no more than one of key, model and provider is named; all others are of the rows that are there.
 *
 * ```ts
 * await sqliteUsage(connection).totals({ workspaceId: 'ws_1', from, to, interval: 'day' })
 * ```
 */
export function sqliteUsage(connection: Connection): UsageStore {
  const { db, read, write } = connection
  const append = db.prepare(`INSERT INTO usage (${COLUMNS}) VALUES (${COLUMNS.replaceAll(/\w+/g, '?')}) ON CONFLICT (id) DO NOTHING`)
  const find = db.prepare(`SELECT ${COLUMNS} FROM usage WHERE id = ? AND workspace_id = ?`)
  const rollup = sqliteRollup(connection)
  const reading = sqliteReading(connection)
  return {
    append(row) {
      const fault = faultOfUsage(row)
      if (fault) return Promise.reject(fault)
      const values = toValues(row)
      const appended = write(() => {
        append.run(...values)
      })
      rollup.note()
      return appended
    },
    find: (workspaceId, id) =>
      read(() => {
        const row = find.get(id, workspaceId)
        return row && toUsageRow(row)
      }),
    totals: sqliteTotals(connection, { rollup, reading }),
    list: sqliteList(connection, { rollup, reading }),
    count: sqliteCount(connection, { rollup, reading }),
    forget: sqliteForget(connection, rollup),
  }
}

type List = UsageStore['list']

/** Pages of rows. With a filter, only hours that have what it names are looked into: those of a rare key are found as fast. */
function sqliteList({ db, read }: Connection, { rollup, reading }: { readonly rollup: Rollup; readonly reading: UsageReading }): List {
  const place = db.prepare('SELECT at, seq FROM usage WHERE id = ? AND workspace_id = ?')
  const page = db.prepare(
    `SELECT ${COLUMNS} FROM usage WHERE ${MATCHING} AND (at < :last OR seq < :seq) ORDER BY at DESC, seq DESC LIMIT :limit`,
  )
  const pageOf = (query: UsageQuery, { last, seq, limit }: { last: number; seq: number; limit: number }): Awaitable<readonly UsageRow[]> =>
    read(() => page.all({ ...valuesOf(query), last, seq, limit }).map(toUsageRow))

  return async ({ limit, after, ...query }) => {
    const found = after === undefined ? undefined : await read(() => place.get(after, query.workspaceId))
    if (limit <= 0 || (after !== undefined && !found)) return []
    const last = found ? Number(found.at) : Number.MAX_SAFE_INTEGER
    const seq = Number(found?.seq ?? 0)
    const range = meetOf(query, { from: query.from, to: last + 1 })
    if (!isFiltered(query)) return pageOf({ ...query, ...range }, { last, seq, limit })
    await rollup.catchUp(FEW)
    const rows: UsageRow[] = []
    const hours = await reading.hoursOf({ ...query, ...range })
    for (const start of hours.toReversed()) {
      const hour = meetOf(range, { from: start, to: start + intervalMs.hour })
      rows.push(...(await pageOf({ ...query, ...hour }, { last, seq, limit: limit - rows.length })))
      if (rows.length >= limit) break
      await setImmediate()
    }
    return rows
  }
}

const isFiltered = ({ keyId, model, provider }: UsageQuery): boolean => keyId !== undefined || model !== undefined || provider !== undefined

/** Without a filter the index alone is read; with one, the hours that have what it names. */
function sqliteCount(
  { db, read }: Connection,
  { rollup, reading }: { readonly rollup: Rollup; readonly reading: UsageReading },
): UsageStore['count'] {
  const all = db.prepare('SELECT count(*) AS rows FROM (SELECT 1 FROM usage WHERE workspace_id = ? AND at >= ? AND at < ? LIMIT ?)')
  const some = db.prepare(`SELECT count(*) AS rows FROM (SELECT 1 FROM usage WHERE ${MATCHING} LIMIT :most)`)
  return async ({ most, ...query }) => {
    if (most <= 0) return 0
    const { workspaceId, from, to } = query
    if (!isFiltered(query)) return read(() => Number(all.get(workspaceId, from, to, most)?.rows))
    await rollup.catchUp(FEW)
    let count = 0
    for (const start of await reading.hoursOf(query)) {
      const hour = meetOf(query, { from: start, to: start + intervalMs.hour })
      count += await read(() => Number(some.get({ ...valuesOf({ ...query, ...hour }), most: most - count })?.rows))
      if (count >= most) break
      await setImmediate()
    }
    return count
  }
}

/** Only what the kept totals count is deleted. */
function sqliteForget({ db, write }: Connection, rollup: Rollup): UsageStore['forget'] {
  const remove = db.prepare(`DELETE FROM usage WHERE seq IN (
    SELECT seq FROM usage WHERE workspace_id = ? AND at < ? AND seq <= (SELECT seq FROM usage_rolled) ORDER BY at, seq LIMIT ?)`)
  // The place of the newest row is given out again once it is deleted: the mark must not lie above it.
  const lower = db.prepare('UPDATE usage_rolled SET seq = min(seq, (SELECT coalesce(max(seq), 0) FROM usage))')
  const step = (workspaceId: string, before: number, most: number): Promise<number> =>
    write(() => {
      const { changes } = remove.run(workspaceId, before, most)
      if (changes > 0) lower.run()
      return Number(changes)
    })

  return async ({ workspaceId, before, most }) => {
    await rollup.catchUp(0)
    let gone = 0
    while (gone < most) {
      const asked = Math.min(DELETED, most - gone)
      const changes = await step(workspaceId, before, asked)
      gone += changes
      if (changes < asked) break
    }
    return gone
  }
}
