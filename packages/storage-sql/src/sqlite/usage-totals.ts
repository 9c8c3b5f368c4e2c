import type { TotalsQuery, UsageStore } from '@signalbox/storage'
import { createTotalsBuilder, intervalMs, type StoredTotal, type TotalsBuilder } from '@signalbox/storage/usage-totals'
import {
  hoursAround,
  intersectRanges,
  type SpanRange,
  type StoredSelection,
  spansIn,
  storedTotalsFor,
  type TimeRange,
  wholeHoursIn,
} from '../stored-totals.ts'
import type { Connection } from './connection.ts'
import type { Rollup } from './usage-rollup.ts'
import { toPlaced } from './usage-rows.ts'
import { filterValues, SELECT_UNROLLED, type UsageScan } from './usage-scan.ts'
import { query, type Row, type Rows, type Statement, statement } from './verb.ts'

const { hour: HOUR } = intervalMs
/** Stored totals that are read in one step, for each hour that the connection reads in one. */
const SPANS_PER_HOUR = 96
/** Uncounted rows that a query reads individually, which is less work than counting them first. */
const MAX_UNROLLED = 2_000

interface Parts {
  readonly rollup: Rollup
  readonly scan: UsageScan
}

const KNOWN_TIME = `
  SELECT (SELECT min(at) FROM usage WHERE workspace_id = ?1) AS firstRow, (SELECT max(at) FROM usage WHERE workspace_id = ?1) AS lastRow,
    (SELECT min(start) FROM usage_totals WHERE workspace_id = ?1 AND dimension = 'all' AND span = ${HOUR}) AS firstHour,
    (SELECT max(start) FROM usage_totals WHERE workspace_id = ?1 AND dimension = 'all' AND span = ${HOUR}) AS lastHour`
const STORED_TOTALS = `
  SELECT start, value, total FROM usage_totals
  WHERE workspace_id = ?1 AND dimension = ?2 AND span = ?3 AND start >= ?4 AND start < ?5`

/**
 * Computes totals from the stored ones of whole hours and days, and from rows for the rest: the partial hours at both ends, or everything
 * if filter and group name more than one of key, model, provider and tag.
 *
 * ```ts
 * const totals = sqliteTotals(connection, { rollup, scan })
 * await totals({ workspaceId: 'ws_1', from, to, interval: 'day', groupBy: 'model' })
 * ```
 */
export function sqliteTotals({ read, pause, hoursPerStep }: Connection, { rollup, scan }: Parts): UsageStore['totals'] {
  /** One read, because another process may count rows into the stored totals at any time. */
  const addStored = async (totals: TotalsBuilder, filter: TotalsQuery, selection: Selection): Promise<void> => {
    const statements = [storedStatement(filter, selection), statement(SELECT_UNROLLED, ...filterValues(filter))]
    const [stored = [], unrolled = []] = await read({ statements, answer: (rows: Rows) => rows })
    for (const { start, value, total } of stored) totals.addTotal(Number(start), String(value), JSON.parse(String(total)) as StoredTotal)
    for (const row of unrolled) totals.addRow(toPlaced(row))
  }

  return async filter => {
    const totals = createTotalsBuilder(filter)
    await rollup.catchUp(MAX_UNROLLED)
    const range = intersectRanges(
      filter,
      await read(query(statement(KNOWN_TIME, filter.workspaceId), ([row]) => hoursAround(timesIn(row)))),
    )
    if (range.from >= range.to) return []
    const selection = storedTotalsFor(filter)
    const whole = wholeHoursIn(range)
    const addRows = (stretch: TimeRange): Promise<void> => scan.each({ ...filter, ...stretch }, totals.addRow)
    if (selection === undefined) for (const stretch of await scan.stretchesOf({ ...filter, ...range })) await addRows(stretch)
    else if (whole.from >= whole.to) await addRows(range)
    else {
      await addRows({ from: range.from, to: whole.from })
      for (const { span, ...stretch } of spansIn(whole, filter.interval, hoursPerStep * SPANS_PER_HOUR)) {
        await addStored(totals, { ...filter, ...stretch }, { ...selection, span })
        await pause()
      }
      await addRows({ from: whole.to, to: range.to })
    }
    return totals.totals()
  }
}

/** The times of the first and the last row and hour; of an empty workspace none. */
const timesIn = (row: Row = {}): readonly number[] => Object.values(row).filter(at => typeof at === 'number')

type Selection = StoredSelection & Pick<SpanRange, 'span'>

function storedStatement({ workspaceId, from, to }: TotalsQuery, { dimension, value, span }: Selection): Statement {
  const values = [workspaceId, dimension, span, from, to]
  return value === undefined ? statement(STORED_TOTALS, ...values) : statement(`${STORED_TOTALS} AND value = ?6`, ...values, value)
}
