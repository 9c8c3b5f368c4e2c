// What a prompt adds to the wait: milliseconds per token that is not in a cache, by a regression that forgets.

export interface Reading {
  tokens: number
  milliseconds: number
  squares: number
  products: number
  weight: number
}

/** Milliseconds per token where nothing is known, and how firmly: the square of the tokens that it weighs as. */
const usual = 0.03
const firmness = 3e6 * 5
const mostPerToken = 2
const keep = 0.98

export const makeReading = (): Reading => ({ tokens: 0, milliseconds: 0, squares: 0, products: 0, weight: 0 })

export function perToken({ tokens, milliseconds, squares, products, weight }: Reading): number {
  if (weight === 0) return usual
  const spread = Math.max(0, squares - (tokens * tokens) / weight)
  const together = products - (tokens * milliseconds) / weight
  return Math.min(mostPerToken, Math.max(0, (together + firmness * usual) / (spread + firmness)))
}

export function observeReading(reading: Reading, tokens: number, milliseconds: number): void {
  reading.tokens = reading.tokens * keep + tokens
  reading.milliseconds = reading.milliseconds * keep + milliseconds
  reading.squares = reading.squares * keep + tokens * tokens
  reading.products = reading.products * keep + tokens * milliseconds
  reading.weight = reading.weight * keep + 1
}
