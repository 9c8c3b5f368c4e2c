import { leastCached, type TrueOffer } from './world.ts'

export interface Consumed {
  readonly input: number
  /** Cached part of the input. */
  readonly cached: number
  readonly output: number
  /** Whether it belongs to a conversation: uncached input is then written to the cache. */
  readonly keyed: boolean
}

/** The cost of a response in USD. */
export function bill({ price }: TrueOffer, { input, cached, output, keyed }: Consumed): number {
  const fresh = keyed && input >= leastCached ? (price.cacheWrite ?? price.input) : price.input
  return ((input - cached) * fresh + cached * (price.cached ?? price.input) + output * price.output) / 1e12
}
