import { LRUCache } from 'lru-cache'
import { tuning } from './constants.ts'
import { minCacheableTokens } from './cost.ts'
import { makeRunningAverage, updateAverage } from './running-average.ts'

const { maxTurns, requestDecay } = tuning.conversations

// Tracks which offers have read the beginning of a conversation: their prompt caches probably still hold it, at about a tenth of the price.

export interface CachedPrompt {
  readonly offerId: string
  /** Prompt tokens that the offer has read. */
  readonly tokens: number
  /** Monotonic milliseconds. */
  readonly at: number
}

export interface CacheAffinity {
  /** Offers that have read the conversation, the latest first. */
  holders(key: string): readonly CachedPrompt[]
  /** Whether this process has counted a turn of the conversation or recorded a reader. */
  has(key: string): boolean
  /** Counts a request of the conversation, to learn how many turns conversations have and how much each turn adds. */
  countTurn(key: string, inputTokens: number): void
  recordRead(key: string, warm: CachedPrompt): void
  /** Expected remaining turns of a conversation, including this one: 1 to 12. */
  expectedTurns(): number
  /** Expected tokens that each turn adds. */
  expectedGrowth(): number
}

const maxConversations = 50_000
/** Offers remembered for each conversation. */
const maxHolders = 3
/** Priors before any conversation was observed, and how many requests they count for. */
const { priorOpenings, priorRequests, priorTurnGrowth, turnGrowthWeight } = tuning.conversations
const maxTurnGrowth = 20_000
const noHolders: readonly CachedPrompt[] = []

export function makeCacheAffinity(): CacheAffinity {
  const readers = new LRUCache<string, readonly CachedPrompt[]>({ maxSize: maxConversations, sizeCalculation: () => 1 })
  let [first, all] = [priorOpenings, priorRequests]
  const growth = makeRunningAverage(priorTurnGrowth)
  return {
    holders: key => readers.get(key) ?? noHolders,
    has: key => readers.has(key),
    countTurn(key, inputTokens) {
      const known = readers.get(key)
      first = first * requestDecay + (known ? 0 : 1)
      all = all * requestDecay + 1
      const [last] = known ?? noHolders
      if (last && inputTokens > last.tokens) updateAverage(growth, Math.min(inputTokens - last.tokens, maxTurnGrowth), turnGrowthWeight)
      if (!known) readers.set(key, noHolders)
    },
    recordRead(key, warm) {
      if (warm.tokens < minCacheableTokens) return
      const others = (readers.get(key) ?? noHolders).filter(({ offerId }) => offerId !== warm.offerId)
      readers.set(key, [warm, ...others].slice(0, maxHolders))
    },
    expectedGrowth: () => growth.value,
    expectedTurns: () => Math.min(maxTurns, Math.max(1, all / Math.max(1, first))),
  }
}
