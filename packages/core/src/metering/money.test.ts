import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOf, saneUsage } from './money.ts'

const usage = { input_tokens: 1000, output_tokens: 500, cached_tokens: 400, cache_write_tokens: 100, reasoning_tokens: 20 }

test('each kind of token is charged at its own price, and the total is rounded up once', () => {
  const price = { input: 1_000_000, output: 2_000_000, cached: 100_000, cacheWrite: 1_250_000 }
  expect(costOf(price, usage)).toBe(500 + 40 + 125 + 1000)
  expect(costOf({ input: 1, output: 0 }, { ...usage, input_tokens: 1, cached_tokens: 0, cache_write_tokens: 0 })).toBe(1)
  expect(costOf({ input: 0, output: 0 }, usage)).toBe(0)
})

test('the tokens of further model calls are part of the same sum, which is rounded up once', () => {
  const none = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
  const step = { count: 1, input_tokens: 1, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 }
  const whole = { ...none, input_tokens: 2, output_tokens: 0 }
  expect(costOf({ input: 300_000, output: 0 }, { ...whole, extra_steps: step })).toBe(costOf({ input: 300_000, output: 0 }, whole))
})

test('without prices of their own, cache reads and writes cost as much as input', () => {
  expect(costOf({ input: 1_000_000, output: 0 }, usage)).toBe(1000)
})

test('for any reported usage, the cost is a safe integer of 0 or more, and parts do not exceed their totals', () => {
  const figure = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, -1, 1e15, Number.POSITIVE_INFINITY, 0.5))
  fc.assert(
    fc.property(
      fc.record({
        input_tokens: figure,
        output_tokens: figure,
        cached_tokens: figure,
        cache_write_tokens: figure,
        reasoning_tokens: figure,
      }),
      fc.integer({ min: 0, max: 500_000_000 }),
      (reported, price) => {
        const sane = saneUsage(reported)
        expect(sane.cached_tokens + sane.cache_write_tokens).toBeLessThanOrEqual(sane.input_tokens)
        expect(sane.reasoning_tokens).toBeLessThanOrEqual(sane.output_tokens)
        const cost = costOf({ input: price, output: price }, sane)
        expect(Number.isSafeInteger(cost) && cost >= 0).toBe(true)
      },
    ),
  )
})

test('consistent counts are unchanged, and others are marked as an estimate', () => {
  expect(saneUsage(usage)).toBe(usage)
  expect(saneUsage({ ...usage, cached_tokens: 5000 })).toMatchObject({ cached_tokens: 1000, cache_write_tokens: 0, estimated: true })
})

test('a cache write kept for an hour costs twice the input, or its own price', () => {
  const usage = {
    input_tokens: 1_000_000,
    cached_tokens: 0,
    cache_write_tokens: 1_000_000,
    cache_write_1h_tokens: 400_000,
    output_tokens: 0,
    reasoning_tokens: 0,
  }
  const price = { input: 3_000_000, cacheWrite: 3_750_000, output: 15_000_000 }
  expect(costOf(price, usage)).toBe(0.6 * 3_750_000 + 0.4 * 6_000_000)
  expect(costOf({ ...price, cacheWrite1h: 5_000_000 }, usage)).toBe(0.6 * 3_750_000 + 0.4 * 5_000_000)
})
