import type { RouterOffer } from './port.ts'

/** What a request is expected to use. */
export interface Use {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Turns that its conversation still has, this one included; 1: it has none, or nobody knows of it. */
  readonly turns: number
}

const usd = 1e-12

/**
 * USD for a request of which so many tokens are probably warm. In a conversation the turns to come are reckoned in, at the rate
 * that this offer would give them: who is cheap once and dear ever after is not cheap.
 */
export function expectedCost(
  { price }: RouterOffer,
  use: Use,
  { warm, warmth }: { readonly warm: number; readonly warmth: number },
): number {
  const { inputTokens, outputTokens, turns } = use
  const cached = price.cached ?? price.input
  const writing = turns > 1 ? (price.cache_write ?? price.input) : price.input
  const hit = Math.min(warm, inputTokens) * warmth
  const now = hit * cached + (inputTokens - hit) * writing
  if (turns <= 1) return (now + outputTokens * price.output) * usd
  const later = inputTokens * (warmth * cached + (1 - warmth) * writing)
  return ((now + (turns - 1) * later) / turns + outputTokens * price.output) * usd
}
