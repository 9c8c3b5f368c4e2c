import { responsesClient } from '@signalbox/dialects'
import { requestPrice, soldOffer } from '@signalbox/dialects/common'
import type { Price, Rates, Usage } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { billUsage } from './bill-usage.ts'
import { estimateMaxCost } from './estimate.ts'
import { costOf, saneUsage, unpricedTools } from './money.ts'

const used = (input_tokens: number, output_tokens = 0): Usage => ({
  input_tokens,
  output_tokens,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
})

const price = {
  input: 2_000_000,
  output: 10_000_000,
  cached: 200_000,
  cacheWrite: 2_500_000,
  tiers: [
    { over: 200_000, input: 4_000_000, output: 15_000_000, cached: 400_000 },
    { over: 500_000, input: 8_000_000, output: 20_000_000 },
  ],
} satisfies Price

test('a prompt longer than a tier’s start pays that tier’s price for all tokens, output included', () => {
  expect(costOf(price, used(200_000, 1_000))).toBe(400_000 + 10_000)
  expect(costOf(price, used(200_001, 1_000))).toBe(Math.ceil(4 * 200_001) + 15_000)
  expect(costOf(price, used(500_001, 1_000))).toBe(8 * 500_001 + 20_000)
})

test('a tier has all rates of its own, and a missing one equals its input rate', () => {
  const cached = { ...used(300_000), cached_tokens: 100_000, cache_write_tokens: 100_000 }
  expect(costOf(price, cached)).toBe(4 * 100_000 + 0.4 * 100_000 + 4 * 100_000)
})

test('the bill follows the used tokens, not the expected ones', () => {
  const seen = { usage: used(150_000), characters: 9, outcome: { status: 'completed' } as const }
  expect(billUsage(seen, price, { input: 300_000 }).cost).toBe(2 * 150_000)
  expect(billUsage({ ...seen, usage: used(250_000) }, price, { input: 100 }).cost).toBe(4 * 250_000)
})

test('the hold uses the most expensive tier that the longest possible prompt reaches', () => {
  const { cached, cacheWrite, ...plain } = price
  const held = (max: number, contextWindow?: number): number =>
    estimateMaxCost({ price: plain, ...(contextWindow !== undefined && { contextWindow }) }, { likely: 100, max, output: 0 })
  expect(held(200_000)).toBe(2 * 200_000)
  expect(held(200_001)).toBe(4 * 200_001)
  expect(held(200_001, 150_000)).toBe(2 * 150_000)
  expect(held(Number.POSITIVE_INFINITY, 150_000)).toBe(2 * 150_000)
})

test('the hold includes one-hour cache writes if they have a price, up to the expected number', () => {
  const sold = { input: 1_000_000, output: 0, cacheWrite: 1_250_000 }
  const tokens = { likely: 1_000, max: 1_500, output: 0 }
  expect(estimateMaxCost({ price: sold }, tokens)).toBe(2_000)
  expect(estimateMaxCost({ price: { ...sold, cacheWrite1h: 1_800_000 } }, tokens)).toBe(1_875)
  expect(estimateMaxCost({ price: { input: 1_000_000, output: 0 } }, tokens)).toBe(1_500)
})

test('a tier that is cheaper than the base price makes no hold smaller', () => {
  const cheaper = { input: 10_000_000, output: 0, tiers: [{ over: 1_000, input: 1_000_000, output: 0 }] }
  expect(estimateMaxCost({ price: cheaper }, { likely: 900, max: 1_350, output: 0 })).toBeGreaterThanOrEqual(10 * 900)
})

test('the priority tier has no tiers for long prompts', () => {
  const offer = {
    provider: 'p',
    model: 'm',
    api: 'responses',
    price: { ...price, priority: { input: 6_000_000, output: 30_000_000 } },
  }
  const request = responsesClient.decodeRequest({ model: 'm', input: 'Hi', service_tier: 'priority' })
  const paid = requestPrice(soldOffer({ offer, provider: {} }), request)
  expect(paid && costOf(paid, used(600_000))).toBe(6 * 600_000)
})

const rate = fc.integer({ min: 0, max: 100_000_000 })
const dearness: fc.Arbitrary<Rates> = fc
  .record({ input: rate, output: rate, cached: fc.option(rate), cacheWrite: fc.option(rate), cacheWrite1h: fc.option(rate) })
  .map(({ input, output, ...rest }) => ({
    input,
    output,
    ...(rest.cached !== null && { cached: rest.cached }),
    // An offer with one-hour cache writes has shorter ones, too.
    ...(rest.cacheWrite !== null && { cacheWrite: rest.cacheWrite }),
    ...(rest.cacheWrite !== null && rest.cacheWrite1h !== null && { cacheWrite1h: rest.cacheWrite1h }),
  }))
const prices: fc.Arbitrary<Price> = fc
  .tuple(
    dearness,
    fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 3 }),
    fc.array(dearness, { minLength: 3, maxLength: 3 }),
  )
  .map(([base, overs, rates]) => ({
    ...base,
    tiers: [...overs].sort((a, b) => a - b).map((over, at) => ({ ...(rates[at] ?? base), over })),
  }))
const sells = ({ cacheWrite }: Rates): boolean => cacheWrite !== undefined

/** Consistent usage; tokens that a cache keeps for an hour only if they have a price. */
const usages = fc
  .record({
    input: fc.integer({ min: 0, max: 1_500_000 }),
    output: fc.integer({ min: 0, max: 50_000 }),
    shares: fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ),
  })
  .map(({ input, output, shares: [cached, written, long] }) => {
    const cached_tokens = Math.floor(input * cached)
    const cache_write_tokens = Math.floor((input - cached_tokens) * written)
    return { ...used(input, output), cached_tokens, cache_write_tokens, cache_write_1h_tokens: Math.floor(cache_write_tokens * long) }
  })

const tierOf = (paid: Price, tokens: number): Rates => [...(paid.tiers ?? [])].reverse().find(({ over }) => tokens > over) ?? paid

test('no bill is higher than all tokens at the highest rate of their tier, nor lower than at the lowest', () => {
  fc.assert(
    fc.property(prices, usages, (paid, usage) => {
      const { input, output, cached = input, cacheWrite = input, cacheWrite1h = 2 * input } = tierOf(paid, usage.input_tokens)
      const rates = [input, cached, cacheWrite, cacheWrite1h]
      const bill = costOf(paid, usage)
      const at = (each: number): number => (usage.input_tokens * each + usage.output_tokens * output) / 1_000_000
      expect(bill).toBeLessThanOrEqual(Math.ceil(at(Math.max(...rates))))
      expect(bill).toBeGreaterThanOrEqual(Math.floor(at(Math.min(...rates))))
    }),
  )
})

test('a hold covers the bill of every request that is no longer than estimated', () => {
  fc.assert(
    fc.property(prices, usages, fc.integer({ min: 0, max: 500_000 }), (paid, estimated, more) => {
      const usage = sells(tierOf(paid, estimated.input_tokens)) ? estimated : { ...estimated, cache_write_1h_tokens: 0 }
      const held = estimateMaxCost(
        { price: paid },
        { likely: usage.input_tokens, max: usage.input_tokens + more, output: usage.output_tokens },
      )
      expect(held).toBeGreaterThanOrEqual(costOf(paid, usage))
    }),
  )
})

test('a priority tier with a maximum length leaves longer prompts at the base price', () => {
  const sold = { ...price, priority: { input: 6_000_000, output: 30_000_000, upTo: 272_000 } }
  const offer = { provider: 'p', model: 'm', api: 'responses', price: sold }
  const request = responsesClient.decodeRequest({ model: 'm', input: 'Hi', service_tier: 'priority' })
  const candidate = soldOffer({ offer, provider: {} })
  const paid = requestPrice(candidate, request)
  expect(paid && costOf(paid, used(272_000))).toBe(6 * 272_000)
  expect(paid && costOf(paid, used(272_001))).toBe(4 * 272_001)
  expect(paid && costOf(paid, used(500_001))).toBe(8 * 500_001)
  expect(requestPrice(candidate, request)).toBe(paid)
})

test('a request pays its fee once, and a fee for each call of a hosted tool with a price', () => {
  const sold = { ...price, request: 5_000, tools: { web_search: 10_000 } }
  const usage = { ...used(1_000), hosted_calls: { web_search: 3, code_interpreter: 2 } }
  expect(costOf(sold, usage)).toBe(2_000 + 5_000 + 30_000)
  expect(unpricedTools(sold, usage)).toEqual(['code_interpreter'])
  expect(estimateMaxCost({ price: sold }, { likely: 1, max: 1_000, output: 0 })).toBeGreaterThanOrEqual(7_000)
})

test.each([-1, 1e9, Number.NaN, 0.5])('a reported %d calls of a hosted tool become a possible count', calls => {
  const { hosted_calls } = saneUsage({ ...used(1), hosted_calls: { web_search: calls } })
  expect(hosted_calls?.web_search).toBeGreaterThanOrEqual(0)
  expect(hosted_calls?.web_search).toBeLessThanOrEqual(1_000)
  expect(Number.isInteger(hosted_calls?.web_search)).toBe(true)
})
