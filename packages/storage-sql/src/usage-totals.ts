import { setImmediate } from 'node:timers/promises'
import { intervalMs, type KeptTotal, makeTallies, startOf, type Tallies, type TotalsQuery, type UsageStore } from '@signalbox/storage'
import type { Connection } from './group.ts'
import { meetOf, type Stretch, TALLIED_UNROLLED, type UsageReading, valuesOf } from './usage-reading.ts'
import { type Dimension, dimensions, type Rollup } from './usage-rollup.ts'
import { toPlaced } from './usage-rows.ts'

const { hour: HOUR, day: DAY } = intervalMs
/** Kept totals read at once are those of so many hours or days. */
const SPANS = 96
/** So many rows that are not in the kept totals yet are read as they are: less work than to write. */
const FEW = 2_000

interface Parts {
  readonly rollup: Rollup
  readonly reading: UsageReading
}

/**
 * Totals out of those that are kept of whole hours and days, and out of rows for the rest: the hours at both ends that are
 * not whole, and everything where filter and group name more than one of key, model and provider.
 *
 * ```ts
 * const totals = sqliteTotals(connection, { rollup, reading })
 * await totals({ workspaceId: 'ws_1', from, to, interval: 'day', groupBy: 'model' })
 * ```
 */
export function sqliteTotals({ db, read }: Connection, { rollup, reading }: Parts): UsageStore['totals'] {
  const cells = 'SELECT start, value, total FROM usage_totals WHERE workspace_id = :workspace AND dimension = :dimension AND span = :span'
  const ofAll = db.prepare(`${cells} AND start >= :from AND start < :to`)
  const ofOne = db.prepare(`${cells} AND start >= :from AND start < :to AND value = :value`)
  const unrolled = db.prepare(TALLIED_UNROLLED)
  const ends = db.prepare(`SELECT (SELECT min(at) FROM usage WHERE workspace_id = :workspace) AS firstRow,
    (SELECT max(at) FROM usage WHERE workspace_id = :workspace) AS lastRow,
    (SELECT min(start) FROM usage_totals WHERE workspace_id = :workspace AND dimension = 'all' AND span = ${HOUR}) AS firstHour,
    (SELECT max(start) FROM usage_totals WHERE workspace_id = :workspace AND dimension = 'all' AND span = ${HOUR}) AS lastHour`)

  /** The whole hours in which the workspace has anything at all. */
  const knownTime = (workspace: string): Stretch => {
    const { firstRow, lastRow, firstHour, lastHour } = ends.get({ workspace }) ?? {}
    const known = [firstRow, lastRow, firstHour, lastHour].flatMap(at => (typeof at === 'number' ? [startOf(at, HOUR)] : []))
    return { from: Math.min(...known), to: Math.max(...known) + HOUR }
  }

  /** One moment's view of both, since another process may count rows into the kept totals at any time. */
  const addKept = (tallies: Tallies, query: TotalsQuery, { span, ...of }: Kept): void => {
    const { workspaceId: workspace, from, to } = query
    db.exec('BEGIN')
    try {
      const value = of.value === undefined ? {} : { value: of.value }
      const found = (of.value === undefined ? ofAll : ofOne).all({ workspace, dimension: of.dimension, span, from, to, ...value })
      for (const { start, value: group, total } of found)
        tallies.addTotal(Number(start), String(group), JSON.parse(String(total)) as KeptTotal)
      for (const row of unrolled.all(valuesOf(query))) tallies.addRow(toPlaced(row))
    } finally {
      db.exec('COMMIT')
    }
  }

  return async query => {
    const tallies = makeTallies(query)
    await rollup.catchUp(FEW)
    const range = meetOf(query, await read(() => knownTime(query.workspaceId)))
    if (range.from >= range.to) return []
    const of = keptFor(query)
    const whole = { from: 0 - startOf(0 - range.from, HOUR), to: startOf(range.to, HOUR) }
    const addRows = (stretch: Stretch): Promise<void> => reading.each({ ...query, ...stretch }, tallies.addRow)
    if (of === undefined) {
      const hours = await reading.hoursOf({ ...query, ...range })
      for (const start of hours) await addRows(meetOf(range, { from: start, to: start + HOUR }))
    } else if (whole.from >= whole.to) await addRows(range)
    else {
      await addRows({ from: range.from, to: whole.from })
      for (const { span, ...stretch } of piecesOf(whole, query.interval)) {
        await read(() => addKept(tallies, { ...query, ...stretch }, { ...of, span }))
        await setImmediate()
      }
      await addRows({ from: whole.to, to: range.to })
    }
    return tallies.totals()
  }
}

interface Kept {
  readonly dimension: Dimension
  readonly value?: string
  readonly span: number
}

/** The kept totals that answer a query, if any do. */
function keptFor(query: TotalsQuery): Omit<Kept, 'span'> | undefined {
  const named = dimensions.filter(({ name, wantedBy }) => name === query.groupBy || wantedBy(query) !== undefined)
  if (named.length > 1) return undefined
  const [only] = named
  const value = only?.wantedBy(query)
  return { dimension: only?.name ?? 'all', ...(value !== undefined && { value }) }
}

/** Days where they are whole, hours at both ends, each not too many at once. */
function piecesOf({ from, to }: Stretch, interval: TotalsQuery['interval']): readonly (Stretch & { readonly span: number })[] {
  const days = { from: 0 - startOf(0 - from, DAY), to: startOf(to, DAY) }
  if (interval === 'hour' || days.from >= days.to) return cut({ from, to }, HOUR)
  return [...cut({ from, to: days.from }, HOUR), ...cut(days, DAY), ...cut({ from: days.to, to }, HOUR)]
}

function cut({ from, to }: Stretch, span: number): readonly (Stretch & { readonly span: number })[] {
  const pieces = Math.max(0, Math.ceil((to - from) / (span * SPANS)))
  return Array.from({ length: pieces }, (_, n) => {
    const begin = from + n * span * SPANS
    return { from: begin, to: Math.min(to, begin + span * SPANS), span }
  })
}
