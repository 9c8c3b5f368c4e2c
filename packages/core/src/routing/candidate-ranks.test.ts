import type { JsonObject, Offer } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asking, candidateOf, inOrder, offerOf, planOf, price, providerOf, questionOf } from '../../test/routing/routing-fixture.ts'
import { maxDistance, preferenceDistance } from './candidate-ranks.ts'

const providers = ['a', 'b'].map(id => providerOf(id))

interface Asked {
  readonly fields: JsonObject
  readonly first: Partial<Offer>
  readonly second?: Partial<Offer> | undefined
  readonly inputTokens?: number | undefined
}

/** The order of two candidates that are equal except for the given facts. */
function orderFor({ fields, first, second = {}, inputTokens = 1 }: Asked): string {
  const models = [{ id: 'm', offers: [offerOf('a', first), offerOf('b', second)] }]
  return inOrder(planOf(asking(fields), { providers, models }, { inputTokens }))
    .map(({ provider }) => provider.id)
    .join(', ')
}

const withPriorityTier = { price: { ...price, priority: { input: 3_000_000, output: 3_000_000 } }, quirks: { priorityTier: 'priority' } }

test.each<[string, string, JsonObject, Partial<Offer>, Partial<Offer>?, number?]>([
  ['no preference', 'a, b', {}, { abilities: [] }],
  ['the priority tier is requested, and one offers it', 'b, a', { gateway: { routing: { tier: 'priority' } } }, {}, withPriorityTier],
  ['the priority tier is requested by its own name', 'b, a', { service_tier: 'priority' }, {}, withPriorityTier],
  ['the default tier is requested', 'a, b', { service_tier: 'auto' }, {}, withPriorityTier],
  ['both offer the priority tier', 'a, b', { gateway: { routing: { tier: 'priority' } } }, withPriorityTier, withPriorityTier],
  ['reasoning is requested, and one supports it', 'b, a', { reasoning: { effort: 'high' } }, { abilities: ['tools'] }],
  ['reasoning is disabled', 'a, b', { reasoning: { effort: 'none' } }, { abilities: ['tools'] }],
  ['the prompt may be too long for one', 'b, a', {}, { contextWindow: 1_000 }, {}, 1_200],
  ['the prompt may be too long for the input limit of one', 'b, a', {}, { contextWindow: 9_000, maxInputTokens: 1_000 }, {}, 1_200],
  ['prompt and output limit together may be too long for one', 'b, a', { max_output_tokens: 500 }, { contextWindow: 1_000 }, {}, 600],
])('%s: %s', (...[, expected, fields, first, second, inputTokens]) => {
  expect(orderFor({ fields, first, second, inputTokens })).toBe(expected)
})

test('an order given by the caller goes before every preference', () => {
  const routing = { order: ['a'], tier: 'priority' }
  expect(orderFor({ fields: { gateway: { routing } }, first: {}, second: withPriorityTier })).toBe('a, b')
})

test('the distance is a whole number below the maximum, and 0 if all preferences are met', () => {
  const offers = fc.record(
    {
      abilities: fc.constantFrom<readonly 'reasoning'[]>([], ['reasoning']),
      contextWindow: fc.constantFrom(10, 100_000),
    },
    { requiredKeys: [] },
  )
  const query = questionOf(asking({ reasoning: { effort: 'low' }, max_output_tokens: 100, service_tier: 'priority' }))
  fc.assert(
    fc.property(offers, offer => {
      const distance = preferenceDistance(query)(candidateOf(offer))
      expect(Number.isInteger(distance) && distance >= 0 && distance < maxDistance).toBe(true)
    }),
  )
  expect(preferenceDistance(questionOf(asking({})))({ ...candidateOf({}), credential: { id: 'c', owner: 'workspace', secret: '' } })).toBe(
    0,
  )
})
