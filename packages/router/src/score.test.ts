import { expect, test } from 'vitest'
import { makeEstimate } from '../test/make-estimate.ts'
import type { RouterOffer } from './offer.ts'
import type { OfferEstimate } from './offer-estimate.ts'
import { type Preference, preferences } from './preferences.ts'
import { scaledPrices, scoreByPrices } from './score.ts'

const offer: RouterOffer = { id: 'alder', price: { input: 0, output: 0 } }
const prices = { waiting: 0.001, generation: 0.0001, failure: 0.05 }
const score = (seen: Partial<OfferEstimate>) => scoreByPrices(prices)(makeEstimate(seen), offer)

test('a free offer that answers at once and never fails scores zero', () => {
  expect(score({})).toBe(0)
})

test.each([
  ['the cost of the answer, as it is', { cost: 0.002 }, 0.002],
  ['the worth of its place to others, as it is', { congestionPrice: 0.0007 }, 0.0007],
  ['the wait until first content, by the second', { firstContentMs: 1_500 }, 0.0015],
  ['the time of growing, by the second', { generationMs: 4_000 }, 0.0004],
  ['a broken answer as a failed request', { breakProbability: 0.02 }, 0.001],
  ['an answer that comes too late as a failed request', { lateProbability: 0.04 }, 0.002],
  [
    'a failure before content by the time that it takes, and a little of a failed request',
    { failureProbability: 0.5, failedAttemptMs: 2_000 },
    0.00153,
  ],
] as const)('counts %s', (_, seen, usd) => {
  expect(score(seen)).toBeCloseTo(usd, 10)
})

test('the parts of a score add up', () => {
  const parts = [
    { cost: 0.002 },
    { congestionPrice: 0.001 },
    { firstContentMs: 900 },
    { generationMs: 3_000 },
    { breakProbability: 0.01 },
    { lateProbability: 0.02 },
  ]
  expect(score(Object.assign({}, ...parts))).toBeCloseTo(
    parts.reduce((sum, part) => sum + score(part), 0),
    10,
  )
})

test('if nearly every call fails, one more failure costs more, because the next attempt may fail too', () => {
  const more = (failureProbability: number) => score({ failureProbability: failureProbability + 0.01 }) - score({ failureProbability })
  expect(more(0.9)).toBeGreaterThan(10 * more(0))
})

test('headroom, pauses and the time without observation do not change the score', () => {
  expect(score({ rateLimitedMs: 5_000, circuitOpenMs: 9_000, unobservedMs: 1e9, headroom: 0, cachedTokens: 4_000 })).toBe(0)
})

/** An offer whose typical request (1,000 input and 300 output tokens) costs this many USD. */
const at = (usd: number) => ({ offer: { id: 'birch', price: { input: usd * 1e9, output: 0 } } })
const scale = (preference: Preference, ...usd: number[]) => scaledPrices(preference, usd.map(at)).waiting / preferences[preference].waiting

test('near the typical price a preference is unscaled', () => {
  for (const usd of [0.00101, 0.002, 0.0039]) expect(scaledPrices('latency', [at(usd)])).toBe(preferences.latency)
})

test('time and failures are worth more for expensive models, in steps of four, and less for cheap ones', () => {
  expect([0.0041, 0.008, 0.0159, 0.0161].map(usd => scale('balanced', usd))).toEqual([4, 4, 4, 16])
  expect([0.00099, 0.0005, 0.00024].map(usd => scale('balanced', usd))).toEqual([0.25, 0.25, 0.0625])
  expect(scaledPrices('availability', [at(0.008)])).toEqual({ waiting: 0.002, generation: 0.0002, failure: 2 })
})

test('the mean price of all offers sets the scale, in any order', () => {
  expect(scale('cost', 0.001, 0.015)).toBe(4)
  expect(scale('cost', 0.015, 0.001)).toBe(4)
})

test('models without a price leave a preference unscaled', () => {
  expect(scaledPrices('balanced', [at(0), at(0)])).toBe(preferences.balanced)
})

test('prices given in USD are never scaled', () => {
  expect(scaledPrices(prices, [at(1)])).toBe(prices)
})
