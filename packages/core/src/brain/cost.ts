import type { RouterOffer } from './port.ts'

/** What a request is expected to use. */
export interface Use {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Turns that its conversation still has, this one included; 1: it has none, or nobody knows of it. */
  readonly turns: number
  /** Tokens that each turn adds. */
  readonly growth: number
}

const usd = 1e-12
/** Shorter prompts are kept by no provider. */
export const leastCached = 1_024

/**
 * USD for a request of which so many tokens are probably warm. In a conversation it is what a turn costs on average from now to
 * its end, if it stays here: who is cheap once and dear ever after is not cheap.
 */
export function expectedCost(
  { price }: RouterOffer,
  use: Use,
  { warm, warmth }: { readonly warm: number; readonly warmth: number },
): number {
  const { inputTokens, outputTokens, turns, growth } = use
  const cached = price.cached ?? price.input
  const writing = turns > 1 && inputTokens >= leastCached ? (price.cache_write ?? price.input) : price.input
  const hit = Math.min(warm, inputTokens) * warmth
  const now = hit * cached + (inputTokens - hit) * writing
  if (turns <= 1) return (now + outputTokens * price.output) * usd
  const further = turns - 1
  const again = inputTokens + growth >= leastCached ? warmth * cached + (1 - warmth) * writing : writing
  // The number of further turns has no memory, so their lengths sum up to this.
  const later = further * growth * writing + again * (further * inputTokens + growth * further * further)
  return ((now + later) / turns + outputTokens * price.output) * usd
}
