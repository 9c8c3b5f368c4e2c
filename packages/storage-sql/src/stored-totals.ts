import type { TotalsQuery, UsageQuery } from '@signalbox/storage'
import { type CountedRow, createTotalBuilder, figuresOf, intervalMs, startOf, type TotalBuilder } from '@signalbox/storage/usage-totals'

// Totals of whole hours and days are stored beside the rows, so that a query for a month does not read a million of them. What they are
// of, and which of them answer a query, is the same on every dialect.

const { hour: HOUR, day: DAY } = intervalMs

/** What a stored total is of: a whole workspace, a key, a model, a provider or a tag. */
export type Dimension = 'all' | 'key' | 'model' | 'provider' | 'tag'

/** For each dimension, the filter of a query and the value or values of a row. */
export const dimensions: readonly {
  readonly name: Dimension
  readonly wantedBy: (query: UsageQuery) => string | undefined
  readonly ofRow: (row: CountedRow) => string | readonly string[]
}[] = [
  { name: 'all', wantedBy: () => undefined, ofRow: () => '' },
  { name: 'key', wantedBy: query => query.keyId, ofRow: row => row.keyId },
  { name: 'model', wantedBy: query => query.model, ofRow: row => row.model },
  { name: 'provider', wantedBy: query => query.provider, ofRow: row => row.provider },
  { name: 'tag', wantedBy: query => query.tag, ofRow: ({ tags = [] }) => tags },
]

/** Whether a query names a key, a model, a provider or a tag. */
export const isFiltered = (query: UsageQuery): boolean => dimensions.some(({ wantedBy }) => wantedBy(query) !== undefined)

/** Which stored totals answer a query; without `value`, those of all values. */
export interface StoredSelection {
  readonly dimension: Dimension
  readonly value?: string
}

/** The stored totals that answer a query, if there are any. */
export function storedTotalsFor(query: TotalsQuery): StoredSelection | undefined {
  const named = dimensions.filter(({ name, wantedBy }) => name === query.groupBy || wantedBy(query) !== undefined)
  if (named.length > 1) return undefined
  const [only] = named
  const value = only?.wantedBy(query)
  return { dimension: only?.name ?? 'all', ...(value !== undefined && { value }) }
}

/** A range of Unix milliseconds; `from` is included, `to` is not. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** The intersection of two ranges. `intersectRanges({ from, to }, hour)` */
export const intersectRanges = (one: TimeRange, other: TimeRange): TimeRange => ({
  from: Math.max(one.from, other.from),
  to: Math.min(one.to, other.to),
})

/** The whole hours within a range. */
export const wholeHoursIn = ({ from, to }: TimeRange): TimeRange => ({ from: 0 - startOf(0 - from, HOUR), to: startOf(to, HOUR) })

/** The whole hours that contain some times. */
export const hoursAround = (times: readonly number[]): TimeRange => {
  const hours = times.map(at => startOf(at, HOUR))
  return { from: Math.min(...hours), to: Math.max(...hours) + HOUR }
}

/** A range whose totals are stored by the hour or the day. */
export type SpanRange = TimeRange & { readonly span: number }

/** Whole days, and hours at both ends, in pieces of at most `maxSpans` of them. */
export function spansIn({ from, to }: TimeRange, interval: TotalsQuery['interval'], maxSpans: number): readonly SpanRange[] {
  const days = { from: 0 - startOf(0 - from, DAY), to: startOf(to, DAY) }
  const cut = (range: TimeRange, span: number): readonly SpanRange[] => cutRange(range, span, maxSpans)
  if (interval === 'hour' || days.from >= days.to) return cut({ from, to }, HOUR)
  return [...cut({ from, to: days.from }, HOUR), ...cut(days, DAY), ...cut({ from: days.to, to }, HOUR)]
}

function cutRange({ from, to }: TimeRange, span: number, maxSpans: number): readonly SpanRange[] {
  const step = span * maxSpans
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, n) => ({
    from: from + n * step,
    to: Math.min(to, from + (n + 1) * step),
    span,
  }))
}

/** A total of an hour or a day under construction, and what it is of. */
export interface TotalCell {
  readonly workspaceId: string
  readonly dimension: Dimension
  readonly value: string
  readonly span: number
  readonly start: number
  readonly builder: TotalBuilder
}

/** Builds hours from rows and days from hours, so that each row is read once for each dimension. */
export function cellsOf(rows: readonly (CountedRow & { readonly workspaceId: string })[]): readonly TotalCell[] {
  const hours = makeCells(HOUR)
  for (const row of rows) {
    const figures = figuresOf(row)
    const values = hours.of(row.workspaceId, row.at)
    for (let at = 0; at < dimensions.length; at++) {
      const value = dimensions[at]?.ofRow(row) ?? ''
      if (typeof value === 'string') values[at]?.(value).add(figures)
      else for (const each of value) values[at]?.(each).add(figures)
    }
  }
  const days = makeCells(DAY)
  for (const { workspaceId, dimension, value, start, builder } of hours.all) {
    const at = dimensions.findIndex(({ name }) => name === dimension)
    days.of(workspaceId, start)[at]?.(value).addTotal(builder.stored())
  }
  return [...hours.all, ...days.all]
}

type BuilderOf = (value: string) => TotalBuilder

/** Cells by workspace, then start, then dimension and value: most rows find theirs without allocating. */
function makeCells(span: number) {
  const all: TotalCell[] = []
  const known = new Map<string, Map<number, readonly BuilderOf[]>>()
  const open = (workspaceId: string, start: number): readonly BuilderOf[] =>
    dimensions.map(({ name: dimension }) => {
      const totals = new Map<string, TotalBuilder>()
      return value => {
        const found = totals.get(value)
        if (found) return found
        const builder = createTotalBuilder()
        totals.set(value, builder)
        all.push({ workspaceId, dimension, value, span, start, builder })
        return builder
      }
    })
  const startsOf = (workspaceId: string): Map<number, readonly BuilderOf[]> => {
    const starts = known.get(workspaceId) ?? new Map<number, readonly BuilderOf[]>()
    known.set(workspaceId, starts)
    return starts
  }
  return {
    all: all as readonly TotalCell[],
    /** For each dimension, a function from a value to its total. */
    of(workspaceId: string, at: number): readonly BuilderOf[] {
      const start = startOf(at, span)
      const starts = startsOf(workspaceId)
      const values = starts.get(start) ?? open(workspaceId, start)
      starts.set(start, values)
      return values
    },
  }
}
