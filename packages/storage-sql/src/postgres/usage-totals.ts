import { setImmediate } from 'node:timers/promises'
import type { UsageQuery, UsageStore } from '@signalbox/storage'
import { createTotalsBuilder, intervalMs, type StoredTotal, type TotalsBuilder } from '@signalbox/storage/usage-totals'
import { hoursAround, intersectRanges, spansIn, storedTotalsFor, type TimeRange, wholeHoursIn } from '../stored-totals.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { SqlValues } from './reads.ts'
import { toNumberedRow } from './usage-columns.ts'
import type { UsageReader } from './usage-reader.ts'
import type { StoredTotalsQuery } from './usage-statements.ts'

const { hour: HOUR } = intervalMs
/** Hours or days whose stored totals are read in one statement. */
const SPANS_PER_READ = 96
/** Uncounted rows that a query reads individually, which is less work than counting them first. */
const MAX_UNROLLED = 2_000

/**
 * Computes totals from the stored ones of whole hours and days, and from rows for the rest: the partial hours at both ends, or everything
 * if filter and group name more than one of key, model, provider and tag.
 */
export function postgresTotals(connection: PostgresConnection, reader: UsageReader): UsageStore['totals'] {
  const { schema } = connection
  const { statements, rollup } = reader
  const hour = `FROM ${schema}.usage_totals t WHERE t.workspace_id = $1 AND t.dimension = 'all' AND t.span = ${HOUR}`
  const ends = `SELECT (SELECT min(u.at) FROM ${schema}.usage u WHERE u.workspace_id = $1) AS first_row,
    (SELECT max(u.at) FROM ${schema}.usage u WHERE u.workspace_id = $1) AS last_row,
    (SELECT min(t.start) ${hour}) AS first_hour, (SELECT max(t.start) ${hour}) AS last_hour`

  /** The whole hours in which the workspace has anything at all. */
  const knownTime = async (workspaceId: string): Promise<TimeRange> => {
    const [row] = await connection.run('report', { text: ends, values: [workspaceId] })
    return hoursAround(Object.values(row ?? {}).flatMap(at => (at === null ? [] : [toInteger(at)])))
  }

  /** Both in one statement, to see the same state, because another process may update the stored totals at any time. */
  const addStored = async (totals: TotalsBuilder, query: UsageQuery, of: StoredTotalsQuery): Promise<void> => {
    const values = new SqlValues()
    const text = `SELECT start, value, total, NULL::json AS counted FROM (${statements.stored(of, values)}) c
      UNION ALL SELECT 0, '', '', row_to_json(r) FROM (${statements.unrolled(query, values)}) r`
    for (const row of await connection.run('report', { text, values: values.list })) {
      if (row.counted === null) totals.addTotal(toInteger(row.start), String(row.value), JSON.parse(String(row.total)) as StoredTotal)
      else totals.addRow(toNumberedRow(row.counted as Record<string, unknown>))
    }
  }

  return async query => {
    const totals = createTotalsBuilder(query)
    await rollup.catchUp(MAX_UNROLLED)
    const range = intersectRanges(query, await knownTime(query.workspaceId))
    if (range.from >= range.to) return []
    const of = storedTotalsFor(query)
    const whole = wholeHoursIn(range)
    const addRows = (stretch: TimeRange): Promise<void> => reader.each({ ...query, ...stretch }, row => totals.addRow(row))
    if (of === undefined) {
      for (const start of await reader.hoursOf({ ...query, ...range }))
        await addRows(intersectRanges(range, { from: start, to: start + HOUR }))
    } else if (whole.from >= whole.to) await addRows(range)
    else {
      await addRows({ from: range.from, to: whole.from })
      for (const piece of spansIn(whole, query.interval, SPANS_PER_READ)) {
        await addStored(totals, { ...query, from: piece.from, to: piece.to }, { workspaceId: query.workspaceId, ...of, ...piece })
        await setImmediate()
      }
      await addRows({ from: whole.to, to: range.to })
    }
    return totals.totals()
  }
}
