import { createLru } from '../runtime/lru.ts'
import { tuning } from './constants.ts'
import { leastCached } from './cost.ts'
import { blend, makeAverage } from './speed.ts'

const { maxTurns, decay } = tuning.conversations

// Who has read the beginning of a conversation: its provider may still have it in a cache, where it costs a tenth.

export interface Warm {
  readonly id: string
  /** Tokens of the prompt that it has read. */
  readonly tokens: number
  /** Monotonic milliseconds. */
  readonly at: number
}

export interface Affinity {
  /** Last reader first; empty where nobody has. */
  of(key: string): readonly Warm[]
  /** A request of it was counted or read here. */
  has(key: string): boolean
  /** Counts a request of the conversation: how many turns to expect of one, and by how much a turn grows it, is learned. */
  turn(key: string, inputTokens: number): void
  read(key: string, warm: Warm): void
  /** Turns that a conversation still has, this one included: 1 to 12. */
  turns(): number
  /** Tokens by which a turn is longer than the one before. */
  growth(): number
}

const mostKeys = 50_000
/** Of those that read a conversation, the last few. */
const mostReaders = 3
/** What is believed of conversations before any was seen, and how long that counts. */
const { priorOpenings, priorRequests, priorGrowth, growthWeight } = tuning.conversations
const mostGrowth = 20_000
const none: readonly Warm[] = []

export function makeAffinity(): Affinity {
  const readers = createLru<readonly Warm[]>(mostKeys)
  let [first, all] = [priorOpenings, priorRequests]
  const growth = makeAverage(priorGrowth)
  return {
    of: key => readers.get(key) ?? none,
    has: key => readers.has(key),
    turn(key, inputTokens) {
      const known = readers.get(key)
      first = first * decay + (known ? 0 : 1)
      all = all * decay + 1
      const [last] = known ?? none
      if (last && inputTokens > last.tokens) blend(growth, Math.min(inputTokens - last.tokens, mostGrowth), growthWeight)
      if (!known) readers.set(key, none)
    },
    read(key, warm) {
      if (warm.tokens < leastCached) return
      const others = (readers.get(key) ?? none).filter(({ id }) => id !== warm.id)
      readers.set(key, [warm, ...others].slice(0, mostReaders))
    },
    growth: () => growth.value,
    turns: () => Math.min(maxTurns, Math.max(1, all / Math.max(1, first))),
  }
}
