import { chatClient } from '@signalbox/dialects'
import type { JsonObject, Offer } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { asking, inOrder, offerOf, orderOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'

const providers = ['a', 'b', 'c'].map(id => providerOf(id))
const sold = (offers: Readonly<Record<string, Partial<Offer>>>) => [
  { id: 'm', offers: Object.entries(offers).map(([provider, offer]) => offerOf(provider, offer)) },
]
const planned = (fields: JsonObject, offers: Readonly<Record<string, Partial<Offer>>>) =>
  planOf(asking(fields), { providers, models: sold(offers) })
const askedOf = (fields: JsonObject, offers: Readonly<Record<string, Partial<Offer>>>) =>
  inOrder(planned(fields, offers)).map(({ provider }) => provider.id)

describe('a deprecated offer', () => {
  const offers = { a: { status: 'deprecated' }, b: {} } as const

  test('is excluded while the model has another, and the plan says so', () => {
    const plan = planned({}, offers)
    expect(orderOf(plan)).toEqual(['b for m'])
    expect(plan.excluded).toMatchObject([
      { provider: 'a', provider_model_id: 'a-m', reason: expect.stringMatching(/about to be shut down/) },
    ])
  })

  test('is used if its provider is named', () => {
    expect(askedOf({ gateway: { routing: { only: ['a'] } } }, offers)).toEqual(['a'])
    expect(askedOf({ gateway: { routing: { order: ['a'] } } }, offers)).toEqual(['a', 'b'])
    expect(askedOf({ gateway: { routing: { only: ['a', 'b'] } } }, offers)).toEqual(['a', 'b'])
  })

  test('is used if no other offer of its model can serve the request', () => {
    expect(askedOf({}, { a: { status: 'deprecated' }, b: { delivery: 'stream_only' } })).toEqual(['a'])
    expect(askedOf({}, { a: { status: 'deprecated' }, c: { status: 'deprecated' } })).toEqual(['a', 'c'])
  })

  test('stays in a pool as the only one of its model', () => {
    const models = [
      { id: 'old', offers: [offerOf('a', { status: 'deprecated' })] },
      { id: 'new', offers: [offerOf('a'), offerOf('b', { status: 'deprecated' })] },
    ]
    expect(orderOf(planOf({ ...asking({}), routing: { models: ['old', 'new'], allow_fallbacks: true } }, { providers, models }))).toEqual([
      'a for old',
      'a for new',
    ])
  })

  test('is excluded, but a beta offer is not', () => {
    expect(askedOf({}, { a: { status: 'beta' }, b: {} })).toEqual(['a', 'b'])
  })
})

describe('an offer with a lower output limit than requested', () => {
  const small = { maxOutputTokens: 8_000 }
  const capped = { max_output_tokens: 9_000 }

  test('is excluded if another offer of its model has a sufficient or unknown limit, and used otherwise', () => {
    expect(askedOf(capped, { a: small, b: { maxOutputTokens: 9_000 }, c: {} })).toEqual(['b', 'c'])
    expect(askedOf(capped, { a: small, b: { maxOutputTokens: 10 } })).toEqual(['a', 'b'])
    expect(askedOf({ max_output_tokens: 8_000 }, { a: small, b: {} })).toEqual(['a', 'b'])
    expect(askedOf({}, { a: small, b: {} })).toEqual(['a', 'b'])
  })

  test('stays in a pool if only another model has a higher limit', () => {
    const models = [
      { id: 'brief', offers: [offerOf('a', small)] },
      { id: 'long', offers: [offerOf('b')] },
    ]
    const request = asking(capped)
    const plan = planOf({ ...request, routing: { ...request.routing, models: ['brief', 'long'] } }, { providers, models })
    expect(orderOf(plan)).toEqual(['a for brief', 'b for long'])
  })
})

describe('an offer that would lose part of the request is excluded if another would not, and used if all would', () => {
  const userPart = (part: JsonObject) => ({ input: [{ role: 'user', content: [part] }] })
  const audio = userPart({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } })
  const address = userPart({ type: 'input_file', file_url: 'https://a.example/1.pdf' })

  test.each<[string, JsonObject, Readonly<Record<string, Partial<Offer>>>, readonly string[]]>([
    ['tools of a dialect', { tools: [{ type: 'web_search' }] }, { a: {}, b: { api: 'responses' } }, ['b']],
    ['tools of a dialect, lost everywhere', { tools: [{ type: 'web_search' }] }, { a: {}, b: { api: 'messages' } }, ['a', 'b']],
    ['audio', audio, { a: { api: 'messages' }, b: {}, c: { api: 'gemini' } }, ['b', 'c']],
    ['a file at a URL', address, { a: {}, b: { api: 'gemini' } }, ['b']],
    ['log probabilities', { top_logprobs: 3 }, { a: { api: 'messages' }, b: { quirks: { refuses: ['logprobs'] } }, c: {} }, ['c']],
    [
      'log probabilities, which one is known to support',
      { top_logprobs: 3 },
      { a: { abilities: ['tools'] }, b: { abilities: ['logprobs'] } },
      ['b'],
    ],
    ['log probabilities, with unknown support', { top_logprobs: 3 }, { a: { abilities: ['tools'] }, b: { abilities: [] } }, ['a', 'b']],
    ['zero log probabilities', { top_logprobs: 0 }, { a: { api: 'messages' }, b: {} }, ['a', 'b']],
  ])('%s', (...[, fields, offers, expected]) => {
    expect(askedOf(fields, offers)).toEqual(expected)
    const { candidates, excluded } = planned(fields, offers)
    expect(candidates.length + excluded.length).toBe(Object.keys(offers).length)
  })

  test('a caller of Chat Completions requests log probabilities by a flag', () => {
    const request = chatClient.decodeRequest({ model: 'm', logprobs: true, messages: [{ role: 'user', content: 'Hi' }] })
    expect(orderOf(planOf(request, { providers, models: sold({ a: { api: 'messages' }, b: {} }) }))).toEqual(['b for m'])
  })

  test('if URLs are downloaded for an offer that takes only bytes, it loses no file', () => {
    const models = sold({ a: { api: 'bedrock' }, b: { api: 'gemini' } })
    expect(orderOf(planOf(asking(address), { providers, models }, { readsMedia: true }))).toEqual(['a for m', 'b for m'])
  })
})
