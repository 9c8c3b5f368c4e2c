import type { TotalsQuery, UsageStore } from '@signalbox/storage'
import { createTotalsBuilder, intervalMs, type StoredTotal, startOf, type TotalsBuilder } from '@signalbox/storage/usage-totals'
import type { Connection } from './connection.ts'
import { type Dimension, dimensions, type Rollup } from './usage-rollup.ts'
import { toPlaced } from './usage-rows.ts'
import { filterValues, intersectRanges, SELECT_UNROLLED, type TimeRange, type UsageScan } from './usage-scan.ts'
import { query, type Row, type Rows, type Statement, statement } from './verb.ts'

const { hour: HOUR, day: DAY } = intervalMs
/** Stored totals read per step, for each hour of the connection's step. */
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
  /** A single read, because another process may update the stored totals at any time. */
  const addStored = async (totals: TotalsBuilder, asked: TotalsQuery, selection: StoredSelection): Promise<void> => {
    const statements = [storedStatement(asked, selection), statement(SELECT_UNROLLED, ...filterValues(asked))]
    const [stored = [], unrolled = []] = await read({ statements, answer: (rows: Rows) => rows })
    for (const { start, value, total } of stored) totals.addTotal(Number(start), String(value), JSON.parse(String(total)) as StoredTotal)
    for (const row of unrolled) totals.addRow(toPlaced(row))
  }

  return async asked => {
    const totals = createTotalsBuilder(asked)
    await rollup.catchUp(MAX_UNROLLED)
    const range = intersectRanges(asked, await read(query(statement(KNOWN_TIME, asked.workspaceId), toKnownTime)))
    if (range.from >= range.to) return []
    const selection = storedTotalsFor(asked)
    const whole = { from: 0 - startOf(0 - range.from, HOUR), to: startOf(range.to, HOUR) }
    const addRows = (stretch: TimeRange): Promise<void> => scan.each({ ...asked, ...stretch }, totals.addRow)
    if (selection === undefined) for (const stretch of await scan.stretchesOf({ ...asked, ...range })) await addRows(stretch)
    else if (whole.from >= whole.to) await addRows(range)
    else {
      await addRows({ from: range.from, to: whole.from })
      for (const { span, ...stretch } of piecesOf(whole, asked.interval, hoursPerStep * SPANS_PER_HOUR)) {
        await addStored(totals, { ...asked, ...stretch }, { ...selection, span })
        await pause()
      }
      await addRows({ from: whole.to, to: range.to })
    }
    return totals.totals()
  }
}

/** The range of whole hours in which the workspace has any rows. */
function toKnownTime([row]: readonly Row[]): TimeRange {
  const known = Object.values(row ?? {}).flatMap(at => (typeof at === 'number' ? [startOf(at, HOUR)] : []))
  return { from: Math.min(...known), to: Math.max(...known) + HOUR }
}

interface StoredSelection {
  readonly dimension: Dimension
  readonly value?: string
  readonly span: number
}

function storedStatement({ workspaceId, from, to }: TotalsQuery, { dimension, value, span }: StoredSelection): Statement {
  const values = [workspaceId, dimension, span, from, to]
  return value === undefined ? statement(STORED_TOTALS, ...values) : statement(`${STORED_TOTALS} AND value = ?6`, ...values, value)
}

/** The stored totals that answer a query, if any. */
function storedTotalsFor(asked: TotalsQuery): Omit<StoredSelection, 'span'> | undefined {
  const named = dimensions.filter(({ name, wantedBy }) => name === asked.groupBy || wantedBy(asked) !== undefined)
  if (named.length > 1) return undefined
  const [only] = named
  const value = only?.wantedBy(asked)
  return { dimension: only?.name ?? 'all', ...(value !== undefined && { value }) }
}

type Piece = TimeRange & { readonly span: number }

/** Splits a range into whole days, and hours at both ends, in steps of limited size. */
function piecesOf({ from, to }: TimeRange, interval: TotalsQuery['interval'], most: number): readonly Piece[] {
  const days = { from: 0 - startOf(0 - from, DAY), to: startOf(to, DAY) }
  const cut = (range: TimeRange, span: number): readonly Piece[] => cutInto(range, span, most)
  if (interval === 'hour' || days.from >= days.to) return cut({ from, to }, HOUR)
  return [...cut({ from, to: days.from }, HOUR), ...cut(days, DAY), ...cut({ from: days.to, to }, HOUR)]
}

function cutInto({ from, to }: TimeRange, span: number, most: number): readonly Piece[] {
  const pieces = Math.max(0, Math.ceil((to - from) / (span * most)))
  return Array.from({ length: pieces }, (_, n) => {
    const begin = from + n * span * most
    return { from: begin, to: Math.min(to, begin + span * most), span }
  })
}
