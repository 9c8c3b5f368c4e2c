import { type Bins, binOf } from './bins.ts'
import type { TotalsQuery, UsageRow, UsageTotal } from './usage.ts'

// How rows become totals, once for every store: what is counted of a row must not depend on who keeps it.

/** What of a row counts. */
export type TalliedRow = Omit<UsageRow, 'id' | 'workspaceId' | 'modelAsked' | 'strategy' | 'streamed' | 'estimated' | 'code' | 'warnings'>

/** A total that grows. */
export interface Tally {
  addRow(row: TalliedRow): void
  addTotal(total: UsageTotal): void
  /** A copy of what has been added so far. */
  total(): UsageTotal
}

/** Totals by interval and group that grow. */
export interface Tallies {
  addRow(row: TalliedRow): void
  /** What was counted from the time `at` on, all within one interval, and of one group. */
  addTotal(at: number, group: string, total: UsageTotal): void
  /** In the order of the intervals, then of the groups' names. */
  totals(): readonly UsageTotal[]
}

const counts: Readonly<Record<Exclude<keyof UsageTotal, 'start' | 'group' | keyof typeof distributions>, (row: TalliedRow) => number>> = {
  requests: () => 1,
  errors: row => Number(row.result === 'error'),
  rateLimited: row => Number(row.result === 'rate_limited'),
  abandoned: row => Number(row.result === 'abandoned'),
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

const distributions = {
  durations: (row: TalliedRow): number | undefined => (isAnswered(row) ? row.durationMs : undefined),
  firstContents: (row: TalliedRow): number | undefined => row.firstContentMs,
  speeds: speedOf,
}

const isAnswered = ({ result }: TalliedRow): boolean => result === 'ok' || result === 'incomplete'

function speedOf(row: TalliedRow): number | undefined {
  if (!isAnswered(row) || row.firstContentMs === undefined) return undefined
  const streamedMs = row.durationMs - row.firstContentMs
  return streamedMs > 0 && row.outputTokens > 0 ? (row.outputTokens * 1000) / streamedMs : undefined
}

const countNames = Object.keys(counts) as (keyof typeof counts)[]
const binNames = Object.keys(distributions) as (keyof typeof distributions)[]

/** An empty total to add to. `const tally = makeTally(); tally.addRow(row); tally.total().cost` */
export function makeTally(): Tally {
  const sums = Object.fromEntries(countNames.map(name => [name, 0])) as Record<keyof typeof counts, number>
  const bins = { durations: new Map<number, number>(), firstContents: new Map<number, number>(), speeds: new Map<number, number>() }
  const count = (name: keyof typeof bins, bin: number, times: number): void => {
    bins[name].set(bin, (bins[name].get(bin) ?? 0) + times)
  }
  return {
    addRow(row) {
      for (const name of countNames) sums[name] += counts[name](row)
      for (const name of binNames) {
        const value = distributions[name](row)
        if (value !== undefined) count(name, binOf(value), 1)
      }
    },
    addTotal(total) {
      for (const name of countNames) sums[name] += total[name]
      for (const name of binNames) for (const [bin, times] of total[name]) count(name, bin, times)
    },
    total: () => ({
      ...sums,
      durations: sorted(bins.durations),
      firstContents: sorted(bins.firstContents),
      speeds: sorted(bins.speeds),
    }),
  }
}

const sorted = (bins: ReadonlyMap<number, number>): Bins => [...bins].sort(([a], [b]) => a - b)

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
    addRow: row => tallyOf(row.at, groupOf(row)).addRow(row),
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
