import { tuning } from './constants.ts'

// Prefill latency: milliseconds per uncached prompt token, by linear regression with exponential forgetting.

const { priorMsPerToken, priorSquaredTokens, maxMsPerToken, observationDecay } = tuning.prefill

export interface PrefillLatency {
  tokens: number
  milliseconds: number
  squares: number
  products: number
  weight: number
}

export const makePrefillLatency = (): PrefillLatency => ({ tokens: 0, milliseconds: 0, squares: 0, products: 0, weight: 0 })

export function prefillMsPerToken({ tokens, milliseconds, squares, products, weight }: PrefillLatency): number {
  if (weight === 0) return priorMsPerToken
  const spread = Math.max(0, squares - (tokens * tokens) / weight)
  const together = products - (tokens * milliseconds) / weight
  return Math.min(maxMsPerToken, Math.max(0, (together + priorSquaredTokens * priorMsPerToken) / (spread + priorSquaredTokens)))
}

export function observePrefill(reading: PrefillLatency, tokens: number, milliseconds: number): void {
  reading.tokens = reading.tokens * observationDecay + tokens
  reading.milliseconds = reading.milliseconds * observationDecay + milliseconds
  reading.squares = reading.squares * observationDecay + tokens * tokens
  reading.products = reading.products * observationDecay + tokens * milliseconds
  reading.weight = reading.weight * observationDecay + 1
}
