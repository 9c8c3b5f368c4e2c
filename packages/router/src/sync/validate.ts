import type { OfferStatistics, Reader, RoutingNews } from '@signalbox/storage/routing'
import { outcomeNames } from './outcome-counts.ts'

// Validates rows from a store, which other versions also write to. A single NaN would poison the learned state, and an out-of-range value
// would outlive all valid ones, so such rows are dropped.

/** Larger than any counter, sum or time. */
const maxAmount = 1e15
/** More tokens than any prompt has. */
const maxCachedTokens = 1e9
/** Longest pause in milliseconds, so that a wrong one cannot hide later pauses. */
const maxPauseMs = 600_000

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= maxAmount

const isValidRow = (row: OfferStatistics): boolean =>
  isAmount(row.epoch) && isAmount(row.version) && isAmount(row.at) && outcomeNames.every(name => isAmount(row[name]))

/** The valid part of the news. `at`: Unix milliseconds. */
export function validNews({ cursor, statistics, pauses }: RoutingNews, at: number): RoutingNews {
  return {
    cursor,
    statistics: statistics.filter(isValidRow),
    pauses: pauses.filter(({ until }) => isAmount(until)).map(pause => ({ ...pause, until: Math.min(pause.until, at + maxPauseMs) })),
  }
}

export const validReaders = (readers: readonly Reader[]): readonly Reader[] =>
  readers.filter(({ tokens, at }) => isAmount(tokens) && tokens <= maxCachedTokens && isAmount(at))
