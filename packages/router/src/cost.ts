import type { RouterOffer } from './offer.ts'
import type { RunningAverage } from './running-average.ts'

/** Tokens that a request is expected to use. */
export interface TokenUse {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Expected remaining turns of the conversation, including this one; 1 if there is no known conversation. */
  readonly turns: number
  /** Tokens that each turn adds. */
  readonly turnGrowth: number
  /** Prompt tokens that the current offer has probably cached. Set before each estimate, because one input object serves all candidates. */
  cachedTokens: number
}

const usdPerMicrodollarToken = 1e-12
/** No provider caches shorter prompts. */
export const minCacheableTokens = 1_024

/** Prices in microdollars per million tokens: input, output, cache read, cache write. An array, because every estimate reads them. */
export type PriceVector = Float64Array

export const priceVector = ({ price: { input, output, cached, cacheWrite } }: RouterOffer): PriceVector =>
  Float64Array.of(input, output, cached ?? input, cacheWrite ?? input)

/** Tokens of a typical request. */
const typicalTokens = { input: 1_000, output: 300 }

/** Cost of a typical request in USD, given prices per million input and output tokens. */
export const typicalCost = (input: number, output: number): number =>
  (typicalTokens.input * input + typicalTokens.output * output) * usdPerMicrodollarToken

/**
 * Expected cost of a request in USD. `cacheHitShare`: the share of the expected cache hit that is actually hit. In a conversation, this is
 * the average cost per remaining turn if all of them use this offer, so that an offer with a cheap first turn and expensive later ones does
 * not look cheap.
 */
export function expectedCost(fees: PriceVector, use: TokenUse, { value: warmth }: RunningAverage): number {
  const { inputTokens, outputTokens, turns, turnGrowth, cachedTokens } = use
  const input = fees[0] as number
  const output = fees[1] as number
  const cached = fees[2] as number
  const cacheWrite = fees[3] as number
  const writing = turns > 1 && inputTokens >= minCacheableTokens ? cacheWrite : input
  const hit = Math.min(cachedTokens, inputTokens) * warmth
  const now = hit * cached + (inputTokens - hit) * writing
  const further = turns - 1
  const again = inputTokens + turnGrowth >= minCacheableTokens ? warmth * cached + (1 - warmth) * writing : writing
  // The number of further turns is geometric (memoryless), so the growth of their prompts sums up to this.
  const later = further * turnGrowth * writing + again * (further * inputTokens + turnGrowth * further * further)
  return ((now + later) / turns + outputTokens * output) * usdPerMicrodollarToken
}
