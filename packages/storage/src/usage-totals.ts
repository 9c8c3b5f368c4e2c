import { binOf, type Histogram } from './histogram.ts'
import type { TotalsQuery, UsageRow, UsageTotal } from './usage.ts'

// How usage rows become totals, shared by all stores so that totals do not depend on the store.

// A month of a busy workspace is a million rows, too many to read for each view. Latencies are counts in bins that are 5 % wider each, so a
// quantile of any sum is off by at most 2.5 %. Rows deleted after their retention still count: spending does not change with the log.

/** The fields of a usage row that totals depend on. */
export type CountedRow = Omit<UsageRow, 'id' | 'workspaceId' | 'modelAsked' | 'strategy' | 'streamed' | 'estimated' | 'code' | 'warnings'>

/** A stored total. Histograms are flat lists of bin, count, bin, count, which are read and written in half the time. */
export type StoredTotal = Readonly<Record<CountName, number>> & Readonly<Record<BinName, readonly number[]>>

/** What one row adds to a total: its counts, and the bins of its values. */
export interface RowFigures {
  readonly counts: readonly number[]
  readonly bins: readonly (number | undefined)[]
}

/** A total under construction. */
export interface TotalBuilder {
  add(figures: RowFigures): void
  addTotal(total: StoredTotal): void
  /** The sum so far, valid until the next `add`. */
  stored(): StoredTotal
  total(): UsageTotal
}

/** Totals by interval and group under construction. */
export interface TotalsBuilder {
  addRow(row: CountedRow): void
  /** Adds a stored total whose rows all belong to the interval of `at` and to one group. */
  addTotal(at: number, group: string, total: StoredTotal): void
  /** Ordered by interval, then by group name. */
  totals(): readonly UsageTotal[]
}

type BinName = 'durations' | 'firstContents' | 'speeds'
type CountName = Exclude<keyof UsageTotal, 'start' | 'group' | BinName>

const countReaders: Readonly<Record<CountName, (row: CountedRow) => number>> = {
  requests: () => 1,
  errors: row => Number(row.result === 'error'),
  rateLimited: row => Number(row.result === 'rate_limited'),
  abandoned: row => Number(row.result === 'abandoned'),
  interrupted: row => Number(row.result === 'interrupted'),
  fallbacks: row => Number(row.attempts > 1),
  inputTokens: row => row.inputTokens,
  outputTokens: row => row.outputTokens,
  cachedTokens: row => row.cachedTokens,
  cacheWriteTokens: row => row.cacheWriteTokens,
  reasoningTokens: row => row.reasoningTokens,
  cost: row => row.cost,
  byokRequests: row => Number(row.credential === 'workspace'),
  byokCost: row => row.byokCost,
}

const distributions: Readonly<Record<BinName, (row: CountedRow) => number | undefined>> = {
  durations: row => (isAnswered(row) ? row.durationMs : undefined),
  firstContents: row => row.firstContentMs,
  speeds: speedOf,
}

const isAnswered = ({ result }: CountedRow): boolean => result === 'ok' || result === 'incomplete'

function speedOf(row: CountedRow): number | undefined {
  if (!isAnswered(row) || row.firstContentMs === undefined) return undefined
  const streamedMs = row.durationMs - row.firstContentMs
  return streamedMs > 0 && row.outputTokens > 0 ? (row.outputTokens * 1000) / streamedMs : undefined
}

const countNames = Object.keys(countReaders) as CountName[]
const binNames = Object.keys(distributions) as BinName[]
const readCounts = Object.values(countReaders)
const readValues = Object.values(distributions)

/** Computes what a row adds, once for all totals that include it. `builder.add(figuresOf(row))` */
export const figuresOf = (row: CountedRow): RowFigures => ({
  counts: readCounts.map(read => read(row)),
  bins: readValues.map(read => {
    const value = read(row)
    return value === undefined ? undefined : binOf(value)
  }),
})

/** Creates an empty total. `const builder = createTotalBuilder(); builder.add(figuresOf(row)); builder.total().cost` */
export function createTotalBuilder(): TotalBuilder {
  const sums = countNames.map(() => 0)
  const bins: Record<BinName, number[]> = { durations: [], firstContents: [], speeds: [] }
  return {
    add(figures) {
      addUp(sums, figures.counts)
      for (let index = 0; index < binNames.length; index++) {
        const [name, bin] = [binNames[index], figures.bins[index]]
        if (name !== undefined && bin !== undefined) countIn(bins[name], bin)
      }
    },
    addTotal(total) {
      addUp(
        sums,
        // A stored total may predate a count.
        countNames.map(name => total[name] ?? 0),
      )
      for (const name of binNames) bins[name] = mergeFlat(bins[name], total[name])
    },
    stored: () => ({ ...namedSums(sums), ...bins }),
    total: () => ({
      ...namedSums(sums),
      durations: pairsOf(bins.durations),
      firstContents: pairsOf(bins.firstContents),
      speeds: pairsOf(bins.speeds),
    }),
  }
}

function addUp(sums: number[], more: readonly number[]): void {
  for (let at = 0; at < sums.length; at++) sums[at] = Number(sums[at]) + Number(more[at])
}

const namedSums = (sums: readonly number[]): Record<CountName, number> =>
  Object.fromEntries(countNames.map((name, index) => [name, Number(sums[index])])) as Record<CountName, number>

/** Adds 1 to a bin of a flat list. */
function countIn(flat: number[], bin: number): void {
  let [low, high] = [0, flat.length / 2]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Number(flat[2 * middle]) < bin) low = middle + 1
    else high = middle
  }
  if (flat[2 * low] === bin) flat[2 * low + 1] = Number(flat[2 * low + 1]) + 1
  else flat.splice(2 * low, 0, bin, 1)
}

function mergeFlat(one: readonly number[], other: readonly number[]): number[] {
  const flat: number[] = []
  let at = 0
  for (let n = 0; n < other.length; n += 2) {
    const [bin, times] = [Number(other[n]), Number(other[n + 1])]
    for (; Number(one[at]) < bin; at += 2) flat.push(Number(one[at]), Number(one[at + 1]))
    const isIn = one[at] === bin
    flat.push(bin, times + (isIn ? Number(one[at + 1]) : 0))
    if (isIn) at += 2
  }
  for (; at < one.length; at++) flat.push(Number(one[at]))
  return flat
}

const pairsOf = (flat: readonly number[]): Histogram =>
  Array.from({ length: flat.length / 2 }, (_, n) => [Number(flat[2 * n]), Number(flat[2 * n + 1])])

/** Lengths of the intervals of totals in milliseconds. Intervals are in UTC. */
export const intervalMs = { hour: 3_600_000, day: 86_400_000 } as const

/** The start of the interval that contains `at`. `startOf(at, intervalMs.hour)` */
export const startOf = (at: number, span: number): number => Math.floor(at / span) * span

type GroupReader = (row: CountedRow, query: Pick<TotalsQuery, 'tag'>) => string | readonly string[]
const noTags: readonly string[] = []

const groups: Readonly<Record<'all' | NonNullable<TotalsQuery['groupBy']>, GroupReader>> = {
  all: () => '',
  key: row => row.keyId,
  model: row => row.model,
  provider: row => row.provider,
  tag: ({ tags = noTags }, { tag }) => tag ?? tags,
}

/** The parts of a query that determine how totals are built. */
type TotalsShape = Pick<TotalsQuery, 'interval' | 'groupBy' | 'groupPrefix' | 'tag' | 'top'>

/** Creates empty totals by interval and group. `const totals = createTotalsBuilder({ interval: 'day', groupBy: 'model' })` */
export function createTotalsBuilder(query: TotalsShape): TotalsBuilder {
  const { interval, groupBy, groupPrefix = '', top } = query
  const found = new Map<number, Map<string, TotalBuilder>>()
  const groupOf = groups[groupBy ?? 'all']
  const builderOf = (at: number, group: string): TotalBuilder => {
    const start = interval === undefined ? 0 : startOf(at, intervalMs[interval])
    const ofStart = found.get(start) ?? new Map<string, TotalBuilder>()
    const builder = ofStart.get(group) ?? createTotalBuilder()
    found.set(start, ofStart)
    ofStart.set(group, builder)
    if (top !== undefined && ofStart.size > 2 * maxGroups) keepLargest(ofStart, maxGroups)
    return builder
  }
  return {
    addRow(row) {
      const group = groupOf(row, query)
      const figures = figuresOf(row)
      for (const each of typeof group === 'string' ? [group] : group) if (each.startsWith(groupPrefix)) builderOf(row.at, each).add(figures)
    },
    addTotal(at, group, total) {
      const each = groupBy === undefined ? '' : group
      if (each.startsWith(groupPrefix)) builderOf(at, each).addTotal(total)
    },
    totals: () =>
      [...found]
        .sort(([a], [b]) => a - b)
        .flatMap(([start, ofStart]) =>
          [...(top === undefined ? ofStart : keepLargest(ofStart, top))]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([group, builder]) => ({ start: interval ? start : undefined, group: groupBy ? group : undefined, ...builder.total() })),
        ),
  }
}

/** Minimum number of groups that a query for the largest ones keeps while it runs. */
const maxGroups = 10_000

/** Removes all groups except those with the highest cost, then the most requests. */
function keepLargest(groups: Map<string, TotalBuilder>, count: number): Map<string, TotalBuilder> {
  const ranked = Array.from(groups, ([group, builder]) => ({ group, ...builder.stored() }))
  ranked.sort((a, b) => b.cost - a.cost || b.requests - a.requests || (a.group < b.group ? -1 : 1))
  for (const { group } of ranked.slice(Math.max(0, count))) groups.delete(group)
  return groups
}
