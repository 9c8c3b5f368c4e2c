import type { Awaitable } from './awaitable.ts'

// What processes that serve the same callers tell each other of routing, and how two tellings become one. Everything here
// merges: whatever comes twice, late or in another order, the outcome is the same. So a store may be as loose as it likes.

/** Optional: without it every process routes by what it has seen itself. Every verb is one atomic step and takes the time. */
export interface RoutingStore {
  /** Of each writer's offer the newest row is kept, for ten minutes; an older one changes nothing. */
  publish(rows: readonly OfferStatistics[], at: number): Awaitable<void>
  /** Leave these offers alone until then. The latest time wins. */
  pause(pauses: readonly OfferPause[], at: number): Awaitable<void>
  /**
   * What was published and paused since the cursor `after`, the asking writer's own rows left out. Without a cursor, or with one
   * that the store does not know: all that is kept. A row may come again, but none that changed is left out for good.
   */
  news(query: { readonly writer: string; readonly after?: string }, at: number): Awaitable<RoutingNews>
  /** Notes who has read the beginnings of conversations. Of an offer the newest note is kept, of a conversation the last few offers. */
  remember(notes: readonly ReaderNote[], at: number): Awaitable<void>
  /** Who read it within the last hour, the last first. */
  readers(key: string, at: number): Awaitable<readonly Reader[]>
}

/**
 * What one process has seen of one offer. Within an epoch all counts and sums only ever grow, so a reader takes the difference of
 * two rows, and one that is lost costs nothing.
 */
export interface OfferStatistics {
  /** The process: an id of its own. */
  readonly writer: string
  readonly offer: string
  /** Unix milliseconds at which it began to count. A later epoch stands for a count that began anew. */
  readonly epoch: number
  /** Grows with every publication in an epoch. */
  readonly version: number
  /** Unix milliseconds until which it has counted. */
  readonly at: number
  /** Attempts that brought content. */
  readonly answered: number
  /** Attempts that failed before content. */
  readonly failed: number
  /** Streams that came to their end. */
  readonly finished: number
  /** Attempts that broke after content. */
  readonly broken: number
  /** Waits for first content, the reading of the prompt left out: how many, and the sum and sum of squares of ln of their milliseconds. */
  readonly waits: number
  readonly lnWaits: number
  readonly lnWaitsSquared: number
  /** Answers whose speed was seen: how many, and the sum of ln of their tokens a second. */
  readonly speeds: number
  readonly lnSpeeds: number
}

export interface OfferPause {
  readonly offer: string
  /** Unix milliseconds. */
  readonly until: number
}

export interface RoutingNews {
  /** To be given as `after` the next time. */
  readonly cursor: string
  readonly statistics: readonly OfferStatistics[]
  /** Those that are not over. */
  readonly pauses: readonly OfferPause[]
}

/** An offer that has read the beginning of a conversation, and may still have it in a cache. */
export interface Reader {
  readonly offer: string
  /** Of the prompt. */
  readonly tokens: number
  /** Unix milliseconds. */
  readonly at: number
}

export interface ReaderNote extends Reader {
  /** A hash that tells neither the conversation nor its workspace, and differs between workspaces. */
  readonly key: string
}

/** Milliseconds for which a store keeps what is not said again. */
export const routingKeptMs = { statistics: 600_000, readers: 3_600_000 } as const
/** Of those that read a conversation, the last few. */
export const mostReaders = 3

/** Of two rows of one writer and offer. Two of the same version say the same. */
export const newerStatistics = (a: OfferStatistics, b: OfferStatistics): OfferStatistics =>
  b.epoch > a.epoch || (b.epoch === a.epoch && b.version > a.version) ? b : a

/**
 * Two snapshots as one, ordered by writer and offer: the order of merging, and how often, changes nothing.
 *
 * @example
 * const known = mergeStatistics(mine, await readTheirs())
 */
export function mergeStatistics(a: readonly OfferStatistics[], b: readonly OfferStatistics[]): readonly OfferStatistics[] {
  const newest = new Map<string, OfferStatistics>()
  for (const row of [...a, ...b]) {
    const place = statisticsKey(row)
    const before = newest.get(place)
    newest.set(place, before ? newerStatistics(before, row) : row)
  }
  return [...newest.values()].sort((one, other) => inOrder(one.writer, other.writer) || inOrder(one.offer, other.offer))
}

/** The same for no two pairs of writer and offer. */
export const statisticsKey = ({ writer, offer }: Pick<OfferStatistics, 'writer' | 'offer'>): string => `${writer.length} ${writer}${offer}`

/**
 * Two lists of the readers of one conversation as one: the newest note of each offer, the last first, and no more than
 * `mostReaders`. The order of merging, and how often, changes nothing.
 */
export function mergeReaders(a: readonly Reader[], b: readonly Reader[]): readonly Reader[] {
  const newest = new Map<string, Reader>()
  for (const reader of [...a, ...b]) {
    const before = newest.get(reader.offer)
    if (!before || lastFirst(reader, before) < 0) newest.set(reader.offer, reader)
  }
  return [...newest.values()].sort(lastFirst).slice(0, mostReaders)
}

/** Of equal times the longer prompt, then the offer's name: some order, but always the same. */
const lastFirst = (a: Reader, b: Reader): number => b.at - a.at || b.tokens - a.tokens || inOrder(a.offer, b.offer)

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
