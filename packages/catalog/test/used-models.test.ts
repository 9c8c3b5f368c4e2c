import { expect, test } from 'vitest'
import { atMaker, usedModels } from './used-models.ts'

const usd = (rate = 0): number => rate / 1_000_000

test('the 60 most used models are in the catalog', () => {
  expect(Object.keys(usedModels)).toHaveLength(60)
})

test.each(Object.entries(usedModels))('%s has the price, limits and capabilities that another source states', (id, expected) => {
  const { offer } = atMaker(id)
  const { price, abilities = [] } = offer
  if (!price) throw new Error('It has no price.')
  // The other source knows no hours of the day and lists the dearest.
  const { input, output, cached, cacheWrite } = price.windows?.[0] ?? price
  expect({
    price: [input, output, cached, cacheWrite].map(usd),
    ...(price.tiers && { long: price.tiers.map(tier => [tier.over, usd(tier.input), usd(tier.output), usd(tier.cached)]) }),
    context: offer.contextWindow,
    output: offer.maxOutputTokens,
    reasons: abilities.includes('reasoning'),
    sees: abilities.includes('vision'),
  }).toEqual(expected)
})
