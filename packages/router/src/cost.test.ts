import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectedCost, priceVector, type TokenUse, typicalCost } from './cost.ts'
import { makeRunningAverage } from './running-average.ts'

const priceOf = { input: 1_000_000, output: 4_000_000, cached: 100_000, cacheWrite: 1_250_000 }
const fees = priceVector({ id: 'alder', price: priceOf })
/** USD per token. */
const usd = { input: 1e-6, output: 4e-6, cached: 1e-7, write: 1.25e-6 }
const use = (given: Partial<TokenUse>): TokenUse => ({
  inputTokens: 2_000,
  outputTokens: 100,
  turns: 1,
  turnGrowth: 0,
  cachedTokens: 0,
  ...given,
})
const cost = (given: Partial<TokenUse>, warmth = 1) => expectedCost(fees, use(given), makeRunningAverage(warmth))

test('a typical request has a thousand input tokens and three hundred output tokens', () => {
  expect(typicalCost(1_000_000, 0)).toBeCloseTo(0.001, 12)
  expect(typicalCost(0, 1_000_000)).toBeCloseTo(0.0003, 12)
})

test('a single request costs its tokens, with expected cache hits weighted by the learned hit share', () => {
  expect(cost({})).toBeCloseTo(2_000 * usd.input + 100 * usd.output, 12)
  expect(cost({ cachedTokens: 1_500 })).toBeCloseTo(500 * usd.input + 1_500 * usd.cached + 100 * usd.output, 12)
  expect(cost({ cachedTokens: 9_000 }, 0.5)).toBeCloseTo(1_000 * usd.input + 1_000 * usd.cached + 100 * usd.output, 12)
})

test('without cache prices, cached tokens cost the input price', () => {
  const plain = priceVector({ id: 'birch', price: { input: 3, output: 5 } })
  expect([...plain]).toEqual([3, 5, 3, 3])
})

test('a turn of a conversation costs the average of its turns, each reading the previous prompt from the cache', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_100, max: 50_000 }), fc.integer({ min: 0, max: 3_000 }), (inputTokens, turnGrowth) => {
      // Two turns: one further turn, whose length is memoryless.
      const now = inputTokens * usd.write
      const later = turnGrowth * usd.write + (inputTokens + turnGrowth) * usd.cached
      expect(cost({ turns: 2, inputTokens, turnGrowth })).toBeCloseTo((now + later) / 2 + 100 * usd.output, 10)
    }),
  )
})

test('a prompt that is too short to be cached is neither written to a cache nor read from one', () => {
  expect(cost({ turns: 2, inputTokens: 1_023 })).toBeCloseTo(1_023 * usd.input + 100 * usd.output, 12)
  expect(cost({ turns: 2, inputTokens: 1_024 })).toBeCloseTo((1_024 * (usd.write + usd.cached)) / 2 + 100 * usd.output, 12)
  expect(cost({ turns: 2, inputTokens: 1_000, turnGrowth: 24 })).toBeCloseTo(
    (1_024 * usd.input + 1_024 * usd.cached) / 2 + 100 * usd.output,
    12,
  )
})

test('the longer a conversation is, the more a cheap cache is worth', () => {
  const saved = (turns: number) => cost({ turns, turnGrowth: 300 }, 0) - cost({ turns, turnGrowth: 300 }, 1)
  expect(saved(8)).toBeGreaterThan(saved(4))
  expect(saved(4)).toBeGreaterThan(saved(2))
})
