import { type Bins, binOf } from './bins.ts'
import type { TotalsQuery, UsageRow, UsageTotal } from './usage.ts'

// How rows become totals, once for every store: what is counted of a row must not depend on who keeps it.

/** What of a row counts. */
export type TalliedRow = Omit<UsageRow, 'id' | 'workspaceId' | 'modelAsked' | 'strategy' | 'streamed' | 'estimated' | 'code' | 'warnings'>

/** A total as stores keep it: the bins and their counts in one flat list, in turn, which takes half the time to read and write. */
export type KeptTotal = Readonly<Record<CountName, number>> & Readonly<Record<BinName, readonly number[]>>

/** What one row adds to any total: what it counts for, and the bins that it falls into. */
export interface Reading {
  readonly counts: readonly number[]
  readonly bins: readonly (number | undefined)[]
}

/** A total that grows. */
export interface Tally {
  add(reading: Reading): void
  addTotal(total: KeptTotal): void
  /** What has been added so far, until the next is. */
  kept(): KeptTotal
  total(): UsageTotal
}

/** Totals by interval and group that grow. */
export interface Tallies {
  addRow(row: TalliedRow): void
  /** What was counted from the time `at` on, all within one interval, and of one group. */
  addTotal(at: number, group: string, total: KeptTotal): void
  /** In the order of the intervals, then of the groups' names. */
  totals(): readonly UsageTotal[]
}

type BinName = 'durations' | 'firstContents' | 'speeds'
type CountName = Exclude<keyof UsageTotal, 'start' | 'group' | BinName>

const counts: Readonly<Record<CountName, (row: TalliedRow) => number>> = {
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

const distributions: Readonly<Record<BinName, (row: TalliedRow) => number | undefined>> = {
  durations: row => (isAnswered(row) ? row.durationMs : undefined),
  firstContents: row => row.firstContentMs,
  speeds: speedOf,
}

const isAnswered = ({ result }: TalliedRow): boolean => result === 'ok' || result === 'incomplete'

function speedOf(row: TalliedRow): number | undefined {
  if (!isAnswered(row) || row.firstContentMs === undefined) return undefined
  const streamedMs = row.durationMs - row.firstContentMs
  return streamedMs > 0 && row.outputTokens > 0 ? (row.outputTokens * 1000) / streamedMs : undefined
}

const countNames = Object.keys(counts) as CountName[]
const binNames = Object.keys(distributions) as BinName[]
const readCounts = Object.values(counts)
const readValues = Object.values(distributions)

/** Reads a row once, however many totals it counts in. `tally.add(readingOf(row))` */
export const readingOf = (row: TalliedRow): Reading => ({
  counts: readCounts.map(read => read(row)),
  bins: readValues.map(read => {
    const value = read(row)
    return value === undefined ? undefined : binOf(value)
  }),
})

/** An empty total to add to. `const tally = makeTally(); tally.add(readingOf(row)); tally.total().cost` */
export function makeTally(): Tally {
  const sums = countNames.map(() => 0)
  const bins: Record<BinName, number[]> = { durations: [], firstContents: [], speeds: [] }
  return {
    add(reading) {
      addUp(sums, reading.counts)
      for (let index = 0; index < binNames.length; index++) {
        const [name, bin] = [binNames[index], reading.bins[index]]
        if (name !== undefined && bin !== undefined) countIn(bins[name], bin)
      }
    },
    addTotal(total) {
      addUp(
        sums,
        // A total that was kept before there was such a count.
        countNames.map(name => total[name] ?? 0),
      )
      for (const name of binNames) bins[name] = merged(bins[name], total[name])
    },
    kept: () => ({ ...named(sums), ...bins }),
    total: () => ({
      ...named(sums),
      durations: pairsOf(bins.durations),
      firstContents: pairsOf(bins.firstContents),
      speeds: pairsOf(bins.speeds),
    }),
  }
}

function addUp(sums: number[], more: readonly number[]): void {
  for (let at = 0; at < sums.length; at++) sums[at] = Number(sums[at]) + Number(more[at])
}

const named = (sums: readonly number[]): Record<CountName, number> =>
  Object.fromEntries(countNames.map((name, at) => [name, Number(sums[at])])) as Record<CountName, number>

/** One more in a bin of a flat list. */
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

function merged(one: readonly number[], other: readonly number[]): number[] {
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

const pairsOf = (flat: readonly number[]): Bins =>
  Array.from({ length: flat.length / 2 }, (_, n) => [Number(flat[2 * n]), Number(flat[2 * n + 1])])

/** Milliseconds of the intervals that totals can be asked for, all of UTC. */
export const intervalMs = { hour: 3_600_000, day: 86_400_000 } as const

/** The begin of the stretch of time that holds `at`. `startOf(at, intervalMs.hour)` */
export const startOf = (at: number, span: number): number => Math.floor(at / span) * span

const groups: Readonly<Record<'all' | NonNullable<TotalsQuery['groupBy']>, (row: TalliedRow) => string>> = {
  all: () => '',
  key: row => row.keyId,
  model: row => row.model,
  provider: row => row.provider,
}

/** Nothing yet, by interval and group as asked for. `const tallies = makeTallies({ interval: 'day', groupBy: 'model' })` */
export function makeTallies({ interval, groupBy }: Pick<TotalsQuery, 'interval' | 'groupBy'>): Tallies {
  const found = new Map<number, Map<string, Tally>>()
  const groupOf = groups[groupBy ?? 'all']
  const tallyOf = (at: number, group: string): Tally => {
    const start = interval === undefined ? 0 : startOf(at, intervalMs[interval])
    const ofStart = found.get(start) ?? new Map<string, Tally>()
    const tally = ofStart.get(group) ?? makeTally()
    found.set(start, ofStart)
    ofStart.set(group, tally)
    return tally
  }
  return {
    addRow: row => tallyOf(row.at, groupOf(row)).add(readingOf(row)),
    addTotal: (at, group, total) => tallyOf(at, groupBy === undefined ? '' : group).addTotal(total),
    totals: () =>
      [...found]
        .sort(([a], [b]) => a - b)
        .flatMap(([start, ofStart]) =>
          [...ofStart]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([group, tally]) => ({ ...(interval && { start }), ...(groupBy && { group }), ...tally.total() })),
        ),
  }
}
