import { tuning } from './constants.ts'

// What a prompt adds to the wait: milliseconds per token that is not in a cache, by a regression that forgets.

const { priorMsPerToken, priorMass, maxMsPerToken, decay } = tuning.prefill

export interface Reading {
  tokens: number
  milliseconds: number
  squares: number
  products: number
  weight: number
}

export const makeReading = (): Reading => ({ tokens: 0, milliseconds: 0, squares: 0, products: 0, weight: 0 })

export function perToken({ tokens, milliseconds, squares, products, weight }: Reading): number {
  if (weight === 0) return priorMsPerToken
  const spread = Math.max(0, squares - (tokens * tokens) / weight)
  const together = products - (tokens * milliseconds) / weight
  return Math.min(maxMsPerToken, Math.max(0, (together + priorMass * priorMsPerToken) / (spread + priorMass)))
}

export function observeReading(reading: Reading, tokens: number, milliseconds: number): void {
  reading.tokens = reading.tokens * decay + tokens
  reading.milliseconds = reading.milliseconds * decay + milliseconds
  reading.squares = reading.squares * decay + tokens * tokens
  reading.products = reading.products * decay + tokens * milliseconds
  reading.weight = reading.weight * decay + 1
}
