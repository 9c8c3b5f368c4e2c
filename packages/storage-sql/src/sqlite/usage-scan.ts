import type { Awaitable, UsageQuery } from '@signalbox/storage'
import { intervalMs, startOf } from '@signalbox/storage/usage-totals'
import { dimensions, intersectRanges, type TimeRange } from '../stored-totals.ts'
import type { Connection } from './connection.ts'
import { COUNTED_COLUMNS, type PlacedRow, toPlaced } from './usage-rows.ts'
import { query, type Statement, statement, type Value } from './verb.ts'

// A month of a busy workspace has a million rows, so rows are read in pages, with a pause in between.

const { hour: HOUR } = intervalMs

/** SQL that matches the rows of a query with the parameters `filterValues`. Optional filters come first, then the time. */
export const USAGE_MATCHES = `workspace_id = ?1 AND (?2 IS NULL OR key_id = ?2) AND (?3 IS NULL OR model = ?3)
  AND (?4 IS NULL OR provider = ?4) AND at >= ?5 AND at < ?6
  AND (?7 IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?7))`
/** The number of the parameters of `USAGE_MATCHES`. */
export const MATCH_PARAMETERS = 7
/** SQL for matching rows that the stored totals do not count yet. */
const UNROLLED_ROWS = `usage NOT INDEXED WHERE seq > (SELECT seq FROM usage_rolled) AND ${USAGE_MATCHES}`
export const SELECT_UNROLLED = `SELECT ${COUNTED_COLUMNS} FROM ${UNROLLED_ROWS}`

/** The parameters of `USAGE_MATCHES`. `statement(sql, ...filterValues(query))` */
export const filterValues = ({ workspaceId, keyId, model, provider, tag, from, to }: UsageQuery): readonly Value[] => [
  ...[workspaceId, keyId ?? null, model ?? null, provider ?? null, from, to, tag ?? null],
]

const PAGE = 2_048

/** Reads many rows in small steps. */
export interface UsageScan {
  /** Ranges of at most `hoursPerStep` that cover all hours that may have matching rows, oldest first. */
  stretchesOf(query: UsageQuery): Awaitable<readonly TimeRange[]>
  /** Calls `onRow` with every matching row, oldest first. */
  each(query: UsageQuery, onRow: (row: PlacedRow) => void): Promise<void>
}

const UNROLLED_TIMES = `SELECT at FROM ${UNROLLED_ROWS}`
const KEPT_HOURS = `
  SELECT start FROM usage_totals WHERE workspace_id = ?1 AND dimension = ?2 AND span = ${HOUR} AND value = ?3
    AND start > ?4 - ${HOUR} AND start < ?5 AND start > (SELECT min(at) FROM usage WHERE workspace_id = ?1) - ${HOUR}`
const NEXT_PAGE = `
  SELECT ${COUNTED_COLUMNS} FROM usage WHERE ${USAGE_MATCHES} AND (at > ?5 OR seq > ?${MATCH_PARAMETERS + 1}) ORDER BY at, seq LIMIT ${PAGE}`

/** Prepares a scan of usage rows. `await sqliteUsageScan(connection).each(query, row => totals.addRow(row))` */
export function sqliteUsageScan({ read, pause, hoursPerStep }: Connection): UsageScan {
  return {
    stretchesOf: filter =>
      read({
        statements: hourStatements(filter),
        answer([unrolled = [], ...kept]) {
          const young = unrolled.map(({ at }) => startOf(Number(at), HOUR))
          const [first = [], ...others] = kept.map(rows => rows.map(({ start }) => Number(start)))
          const sets = others.map(hours => new Set(hours))
          const old = first.filter(hour => sets.every(hours => hours.has(hour)))
          return joinHours(
            [...new Set([...young, ...old])].sort((a, b) => a - b),
            hoursPerStep,
          ).map(range => intersectRanges(filter, range))
        },
      }),
    async each(filter, onRow) {
      let place = { from: filter.from, seq: -1 }
      for (;;) {
        const { from, seq } = place
        const page = statement(NEXT_PAGE, ...filterValues({ ...filter, from }), seq)
        const rows = await read(query(page, found => found.map(toPlaced)))
        for (const row of rows) onRow(row)
        const last = rows.at(-1)
        if (!last || rows.length < PAGE) return
        place = { from: last.at, seq: last.seq }
        await pause()
      }
    },
  }
}

/** Reads the times of rows that no total counts yet, and for each filter the hours with totals. */
function hourStatements(filter: UsageQuery): readonly Statement[] {
  const kept = dimensions.flatMap(({ name, wantedBy }) => {
    const value = wantedBy(filter)
    return value === undefined ? [] : [statement(KEPT_HOURS, filter.workspaceId, name, value, filter.from, filter.to)]
  })
  return [statement(UNROLLED_TIMES, ...filterValues(filter)), ...kept]
}

/** Joins consecutive hours into ranges of limited length. */
function joinHours(hours: readonly number[], most: number): readonly TimeRange[] {
  const ranges: { from: number; to: number }[] = []
  for (const hour of hours) {
    const last = ranges.at(-1)
    if (last?.to === hour && last.to - last.from < most * HOUR) last.to += HOUR
    else ranges.push({ from: hour, to: hour + HOUR })
  }
  return ranges
}
