import type { RouterOffer } from './port.ts'
import type { Average } from './speed.ts'

/** What a request is expected to use. */
export interface Use {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Turns that its conversation still has, this one included; 1: it has none, or nobody knows of it. */
  readonly turns: number
  /** Tokens that each turn adds. */
  readonly growth: number
  /** Tokens of the prompt that whoever is looked at has probably read: set before each look, since a look is all that happens in between. */
  warm: number
}

const usd = 1e-12
/** Shorter prompts are kept by no provider. */
export const leastCached = 1_024

/**
 * Microdollars per million tokens: input, output, read from a cache, and written to one. Prices are written down in many shapes,
 * and every request asks everyone for them.
 */
export type Fees = Float64Array

export const feesOf = ({ price: { input, output, cached, cache_write } }: RouterOffer): Fees =>
  Float64Array.of(input, output, cached ?? input, cache_write ?? input)

/** Tokens of a typical request. */
const typical = { input: 1_000, output: 300 }

/** USD, by what a million tokens of each cost. */
export const typicalCost = (input: number, output: number): number => (typical.input * input + typical.output * output) * usd

/**
 * USD for a request of which so many tokens are probably warm. `warmth`: the share of those that really are. In a conversation it
 * is what a turn costs on average from now to its end, if it stays here: who is cheap once and dear ever after is not cheap.
 */
export function expectedCost(fees: Fees, use: Use, { value: warmth }: Average): number {
  const { inputTokens, outputTokens, turns, growth, warm } = use
  const input = fees[0] as number
  const output = fees[1] as number
  const cached = fees[2] as number
  const cacheWrite = fees[3] as number
  const writing = turns > 1 && inputTokens >= leastCached ? cacheWrite : input
  const hit = Math.min(warm, inputTokens) * warmth
  const now = hit * cached + (inputTokens - hit) * writing
  const further = turns - 1
  const again = inputTokens + growth >= leastCached ? warmth * cached + (1 - warmth) * writing : writing
  // The number of further turns has no memory, so their lengths sum up to this.
  const later = further * growth * writing + again * (further * inputTokens + growth * further * further)
  return ((now + later) / turns + outputTokens * output) * usd
}
