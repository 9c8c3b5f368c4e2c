import { leastCached, type TrueOffer } from './world.ts'

export interface Consumed {
  readonly input: number
  /** Of the input. */
  readonly cached: number
  readonly output: number
  /** It belongs to a conversation: what is not read from the cache is written to it. */
  readonly keyed: boolean
}

/** What an answer costs in USD. */
export function bill({ price }: TrueOffer, { input, cached, output, keyed }: Consumed): number {
  const fresh = keyed && input >= leastCached ? (price.cache_write ?? price.input) : price.input
  return ((input - cached) * fresh + cached * (price.cached ?? price.input) + output * price.output) / 1e12
}
