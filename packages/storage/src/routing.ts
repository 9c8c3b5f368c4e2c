import type { Awaitable } from './awaitable.ts'

// Routing state that processes share. All of it can be merged: the result is the same if it arrives twice, late or in another order, so a
// store needs neither ordering nor exactly-once delivery.

/** Routing state shared by the processes of a gateway. Optional: without it each process routes by its own observations. */
export interface RoutingStore {
  /** Keeps the newest row per writer and offer for ten minutes; an older one changes nothing. */
  publish(rows: readonly OfferStatistics[], at: number): Awaitable<void>
  /** Pauses offers until a time; the latest time wins. */
  pause(pauses: readonly OfferPause[], at: number): Awaitable<void>
  /**
   * What other writers published and paused since the cursor `after`. Without a cursor, or with an unknown one, everything that is kept. A
   * row may be returned again, but no change is omitted permanently.
   */
  news(query: { readonly writer: string; readonly after?: string }, at: number): Awaitable<RoutingNews>
  /** Records which offers have read a conversation. Keeps the newest note per offer, and the last few offers per conversation. */
  remember(notes: readonly ReaderNote[], at: number): Awaitable<void>
  /** The offers that read a conversation in the last hour, the latest first. */
  readers(key: string, at: number): Awaitable<readonly Reader[]>
}

/**
 * What one process has observed of one offer. Within an epoch all counts and sums only grow, so a reader uses the difference of two rows,
 * and a lost row costs nothing.
 */
export interface OfferStatistics {
  /** The id of the process. */
  readonly writer: string
  readonly offer: string
  /** Unix milliseconds when counting began. A later epoch starts from 0. */
  readonly epoch: number
  /** Incremented by every publication within an epoch. */
  readonly version: number
  /** Unix milliseconds up to which outcomes are counted. */
  readonly at: number
  /** Attempts that returned content. */
  readonly answered: number
  /** Attempts that failed before content. */
  readonly failed: number
  /** Streams that ended normally. */
  readonly finished: number
  /** Attempts that broke after content. */
  readonly broken: number
  /** Waits for first content without prompt processing: the count, and the sum and sum of squares of ln(milliseconds). */
  readonly waits: number
  readonly lnWaits: number
  readonly lnWaitsSquared: number
  /** Responses with a measured speed: the count, and the sum of ln(tokens per second). */
  readonly speeds: number
  readonly lnSpeeds: number
}

/** An offer that must not be called until a time. */
export interface OfferPause {
  readonly offer: string
  /** Unix milliseconds. */
  readonly until: number
}

/** Changes since a cursor. */
export interface RoutingNews {
  /** Pass it as `after` of the next call. */
  readonly cursor: string
  readonly statistics: readonly OfferStatistics[]
  /** Pauses that are not over. */
  readonly pauses: readonly OfferPause[]
}

/** An offer that has read a conversation and may still have it in its prompt cache. */
export interface Reader {
  readonly offer: string
  /** Prompt tokens. */
  readonly tokens: number
  /** Unix milliseconds. */
  readonly at: number
}

/** A note that an offer has read a conversation. */
export interface ReaderNote extends Reader {
  /** A hash of the conversation that differs between workspaces and reveals neither. */
  readonly key: string
}

/** How long a store keeps unrenewed statistics and readers, in milliseconds. */
export const routingRetentionMs = { statistics: 600_000, readers: 3_600_000 } as const
/** Readers kept per conversation. */
export const maxReaders = 3

/** The newer of two rows of one writer and offer. Rows of the same version are equal. */
export const newerStatistics = (a: OfferStatistics, b: OfferStatistics): OfferStatistics =>
  b.epoch > a.epoch || (b.epoch === a.epoch && b.version > a.version) ? b : a

/**
 * Merges two snapshots of statistics, ordered by writer and offer. Neither the order nor the number of merges changes the outcome.
 *
 * @example
 * const known = mergeStatistics(mine, await readTheirs())
 */
export function mergeStatistics(a: readonly OfferStatistics[], b: readonly OfferStatistics[]): readonly OfferStatistics[] {
  const newest = new Map<string, OfferStatistics>()
  for (const row of [...a, ...b]) {
    const key = statisticsKey(row)
    const before = newest.get(key)
    newest.set(key, before ? newerStatistics(before, row) : row)
  }
  return [...newest.values()].sort((one, other) => compareText(one.writer, other.writer) || compareText(one.offer, other.offer))
}

/** A key that is unique for each pair of writer and offer. */
export const statisticsKey = ({ writer, offer }: Pick<OfferStatistics, 'writer' | 'offer'>): string => `${writer.length} ${writer}${offer}`

/**
 * Merges two lists of a conversation's readers: the newest note per offer, the latest first, at most `maxReaders`. Neither the order nor
 * the number of merges changes the outcome.
 */
export function mergeReaders(a: readonly Reader[], b: readonly Reader[]): readonly Reader[] {
  const newest = new Map<string, Reader>()
  for (const reader of [...a, ...b]) {
    const before = newest.get(reader.offer)
    if (!before || lastFirst(reader, before) < 0) newest.set(reader.offer, reader)
  }
  return [...newest.values()].sort(lastFirst).slice(0, maxReaders)
}

/** A total order: at equal times the longer prompt comes first, then the offer's name decides. */
const lastFirst = (a: Reader, b: Reader): number => b.at - a.at || b.tokens - a.tokens || compareText(a.offer, b.offer)

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
