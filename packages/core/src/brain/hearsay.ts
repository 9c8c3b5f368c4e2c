import type { OfferStatistics, Reader, RoutingNews } from '@signalbox/storage'
import { countNames } from './counts.ts'

// What comes from a store that others write to, other versions of us among them. One number that is none would stay in what is
// believed for good, and one of another world would outlive everything true, so that such rows are taken for not told.

/** More than anything that is counted or summed, and than any moment. */
const most = 1e15
/** More tokens than any prompt has. */
const mostTokens = 1e9
/** Nobody is left alone for longer, so that no pause of years stands in the way of those to come. */
const longestPauseMs = 600_000

const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= most

const isSound = (row: OfferStatistics): boolean =>
  isAmount(row.epoch) && isAmount(row.version) && isAmount(row.at) && countNames.every(name => isAmount(row[name]))

/** What of the news can be. `at`: Unix milliseconds. */
export function soundNews({ cursor, statistics, pauses }: RoutingNews, at: number): RoutingNews {
  return {
    cursor,
    statistics: statistics.filter(isSound),
    pauses: pauses.filter(({ until }) => isAmount(until)).map(pause => ({ ...pause, until: Math.min(pause.until, at + longestPauseMs) })),
  }
}

export const soundReaders = (readers: readonly Reader[]): readonly Reader[] =>
  readers.filter(({ tokens, at }) => isAmount(tokens) && tokens <= mostTokens && isAmount(at))
