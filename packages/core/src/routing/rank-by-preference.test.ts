import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asking, candidateOf, inOrder, offerOf, planOf, price, providerOf, questionOf } from '../../test/routing/routing-fixture.ts'
import type { Offer } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { maxDistance, preferenceDistance } from './rank-by-preference.ts'

const providers = ['a', 'b'].map(id => providerOf(id))

interface Asked {
  readonly fields: JsonObject
  readonly first: Partial<Offer>
  readonly second?: Partial<Offer> | undefined
  readonly inputTokens?: number | undefined
}

/** Two equals but for what is said of them: who is asked, in order. */
function askedOf({ fields, first, second = {}, inputTokens = 1 }: Asked): string {
  const models = [{ id: 'm', offers: [offerOf('a', first), offerOf('b', second)] }]
  return inOrder(planOf(asking(fields), { providers, models }, { inputTokens }))
    .map(({ provider }) => provider.id)
    .join(', ')
}

const dear = { price: { ...price, priority: { input: 3_000_000, output: 3_000_000 } }, quirks: { priority_tier: 'priority' } }

test.each<[string, string, JsonObject, Partial<Offer>, Partial<Offer>?, number?]>([
  ['nothing is wished for', 'a, b', {}, { abilities: [] }],
  ['the dear tier is asked for, and only one sells it', 'b, a', { gateway: { routing: { tier: 'priority' } } }, {}, dear],
  ['the dear tier is named by its own name', 'b, a', { service_tier: 'priority' }, {}, dear],
  ['the usual tier is asked for', 'a, b', { service_tier: 'auto' }, {}, dear],
  ['both sell the dear tier', 'a, b', { gateway: { routing: { tier: 'priority' } } }, dear, dear],
  ['thinking is asked for, and only one can', 'b, a', { reasoning: { effort: 'high' } }, { abilities: ['tools'] }],
  ['thinking is switched off', 'a, b', { reasoning: { effort: 'none' } }, { abilities: ['tools'] }],
  ['the prompt may be too long for one', 'b, a', {}, { context_window: 1_000 }, {}, 1_200],
  ['the prompt may be too long for what one takes of it', 'b, a', {}, { context_window: 9_000, max_input_tokens: 1_000 }, {}, 1_200],
  ['prompt and cap together may be too long for one', 'b, a', { max_output_tokens: 500 }, { context_window: 1_000 }, {}, 600],
])('%s: %s', (...[, expected, fields, first, second, inputTokens]) => {
  expect(askedOf({ fields, first, second, inputTokens })).toBe(expected)
})

test('an order that the caller gave goes before every wish', () => {
  const routing = { order: ['a'], tier: 'priority' }
  expect(askedOf({ fields: { gateway: { routing } }, first: {}, second: dear })).toBe('a, b')
})

test('a wish is a whole number below the farthest, and 0 for who can do all', () => {
  const offers = fc.record(
    {
      abilities: fc.constantFrom<readonly 'reasoning'[]>([], ['reasoning']),
      context_window: fc.constantFrom(10, 100_000),
    },
    { requiredKeys: [] },
  )
  const query = questionOf(asking({ reasoning: { effort: 'low' }, max_output_tokens: 100, service_tier: 'priority' }))
  fc.assert(
    fc.property(offers, offer => {
      const wish = preferenceDistance(query)(candidateOf(offer))
      expect(Number.isInteger(wish) && wish >= 0 && wish < maxDistance).toBe(true)
    }),
  )
  expect(preferenceDistance(questionOf(asking({})))({ ...candidateOf({}), credential: { id: 'c', owner: 'workspace', secret: '' } })).toBe(
    0,
  )
})
