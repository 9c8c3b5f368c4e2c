import { setImmediate } from 'node:timers/promises'
import type { TotalsQuery, UsageQuery, UsageStore } from '@signalbox/storage'
import { createTotalsBuilder, intervalMs, type StoredTotal, startOf, type TotalsBuilder } from '@signalbox/storage/usage-totals'
import type { CompiledQuery } from 'kysely'
import type { StoredTotalsQuery } from '../statements/usage.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { toNumberedRow } from './usage-columns.ts'
import { narrowRange, type UsageRange, type UsageReader } from './usage-reader.ts'
import { totalDimensions } from './usage-rollup.ts'

const { hour: HOUR, day: DAY } = intervalMs
/** Hours or days whose stored totals are read by one statement. */
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

  /** The range of whole hours in which the workspace has any rows. */
  const knownTime = async (workspaceId: string): Promise<UsageRange> => {
    const [row] = await connection.run('read', { text: ends, values: [workspaceId] })
    const known = Object.values(row ?? {}).flatMap(at => (at === null ? [] : [startOf(toInteger(at), HOUR)]))
    return { from: Math.min(...known), to: Math.max(...known) + HOUR }
  }

  /** Both in one statement, to see the same state, because another process may update the stored totals at any time. */
  const addStored = async (totals: TotalsBuilder, query: UsageQuery, of: StoredTotalsQuery): Promise<void> => {
    const cells = statements.stored(of).compile()
    const rows = statements.unrolled(query).compile()
    const text = `SELECT start, value, total, NULL::json AS counted FROM (${cells.sql}) c
      UNION ALL SELECT 0, '', '', row_to_json(r) FROM (${shiftParameters(rows, cells.parameters.length)}) r`
    for (const row of await connection.run('read', { text, values: [...cells.parameters, ...rows.parameters] })) {
      if (row.counted === null) totals.addTotal(toInteger(row.start), String(row.value), JSON.parse(String(row.total)) as StoredTotal)
      else totals.addRow(toNumberedRow(row.counted as Record<string, unknown>))
    }
  }

  return async query => {
    const totals = createTotalsBuilder(query)
    await rollup.catchUp(MAX_UNROLLED)
    const range = narrowRange(query, await knownTime(query.workspaceId))
    if (range.from >= range.to) return []
    const of = storedDimension(query)
    const whole = { from: 0 - startOf(0 - range.from, HOUR), to: startOf(range.to, HOUR) }
    const addRows = (stretch: UsageRange): Promise<void> => reader.each({ ...query, ...stretch }, row => totals.addRow(row))
    if (of === undefined) {
      for (const start of await reader.hoursOf({ ...query, ...range })) await addRows(narrowRange(range, { from: start, to: start + HOUR }))
    } else if (whole.from >= whole.to) await addRows(range)
    else {
      await addRows({ from: range.from, to: whole.from })
      for (const piece of piecesOfRange(whole, query.interval)) {
        await addStored(totals, { ...query, from: piece.from, to: piece.to }, { workspaceId: query.workspaceId, ...of, ...piece })
        await setImmediate()
      }
      await addRows({ from: whole.to, to: range.to })
    }
    return totals.totals()
  }
}

/** The text of a query whose parameters follow those of another. */
const shiftParameters = ({ sql }: CompiledQuery, by: number): string => sql.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + by}`)

/** The stored totals that answer a query, if any. */
function storedDimension(query: TotalsQuery): Pick<StoredTotalsQuery, 'dimension' | 'value'> | undefined {
  const named = totalDimensions.filter(({ name, wantedBy }) => name === query.groupBy || wantedBy(query) !== undefined)
  if (named.length > 1) return undefined
  const [only] = named
  const value = only?.wantedBy(query)
  return { dimension: only?.name ?? 'all', ...(value !== undefined && { value }) }
}

type SpanRange = UsageRange & { readonly span: number }

/** Splits a range into whole days, and hours at both ends, in steps of bounded size. */
function piecesOfRange({ from, to }: UsageRange, interval: TotalsQuery['interval']): readonly SpanRange[] {
  const days = { from: 0 - startOf(0 - from, DAY), to: startOf(to, DAY) }
  if (interval === 'hour' || days.from >= days.to) return cutRange({ from, to }, HOUR)
  return [...cutRange({ from, to: days.from }, HOUR), ...cutRange(days, DAY), ...cutRange({ from: days.to, to }, HOUR)]
}

function cutRange({ from, to }: UsageRange, span: number): readonly SpanRange[] {
  const step = span * SPANS_PER_READ
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, n) => ({
    from: from + n * step,
    to: Math.min(to, from + (n + 1) * step),
    span,
  }))
}
