import { expect, test } from 'vitest'
import { chatProvider, messagesClient, messagesProvider, responsesClient, responsesProvider } from '../dialects/index.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { estimateMaxCost } from './estimate.ts'
import { priceFor } from './tier.ts'

const ordinary = { input: 1_000_000, output: 2_000_000 }
const priority = { input: 3_000_000, output: 6_000_000 }
const dear: Offer = { provider: 'p', provider_model_id: 'm', dialect: 'chat', price: { ...ordinary, priority } }
const plain: Offer = { ...dear, price: ordinary }
const ask = (fields: JsonObject) => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })

const asked: readonly JsonObject[] = [
  {},
  { service_tier: 'auto' },
  { service_tier: 'flex' },
  { service_tier: 'priority' },
  { service_tier: 'warp' },
  { service_tier: '' },
  { gateway: { routing: { tier: 'priority' } } },
  { service_tier: 'flex', gateway: { routing: { tier: 'priority' } } },
  { service_tier: 'priority', extensions: { service_tier: 'warp' } },
]
const quirks: readonly Quirks[] = [
  {},
  { priority_tier: 'fast' },
  { refuses: ['service_tier'] },
  { priority_tier: 'fast', refuses: ['service_tier'] },
]

test('a dear tier is sent exactly where its price is paid', () => {
  const cheap = new Set([undefined, 'auto', 'flex'])
  for (const fields of asked)
    for (const provider of quirks)
      for (const offer of [dear, plain])
        for (const dialect of [chatProvider, responsesProvider]) {
          const request = ask(fields)
          const { body } = dialect.encodeRequest(request, offer, provider)
          const paid = priceFor({ offer, provider: { quirks: provider } }, request)
          const sent = body.service_tier as string | undefined
          expect({ fields, sent, dear: paid === priority }).toEqual({ fields, sent, dear: !cheap.has(sent) })
        }
})

test('the offer’s own quirks come before its provider’s', () => {
  const request = ask({ gateway: { routing: { tier: 'priority' } } })
  expect(priceFor({ offer: dear, provider: {} }, request)).toBe(dear.price)
  expect(priceFor({ offer: { ...dear, quirks: { priority_tier: 'x' } }, provider: {} }, request)).toBe(priority)
  expect(
    priceFor({ offer: { ...dear, quirks: { refuses: ['service_tier'] } }, provider: { quirks: { priority_tier: 'x' } } }, request),
  ).toBe(dear.price)
})

test('no price is no price, and a hold follows the tier', () => {
  const { price, ...free } = dear
  const request = ask({ service_tier: 'priority', max_output_tokens: 10 })
  expect(priceFor({ offer: free, provider: {} }, request)).toBeUndefined()
  expect(estimateMaxCost({ ...dear, price: priceFor({ offer: dear, provider: {} }, request) }, { likely: 0, max: 0, output: 10 })).toBe(60)
  expect(estimateMaxCost(dear, { likely: 0, max: 0, output: 10 })).toBe(20)
})

test('what makes an answer dearer than its price is left out, and named', () => {
  const sent = (fields: JsonObject) => {
    const { body, warnings } = messagesProvider.encodeRequest(
      messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields }),
      { ...plain, dialect: 'messages' },
      {},
    )
    return { speed: body.speed, geo: body.inference_geo, warned: warnings.map(({ param }) => param) }
  }
  expect(sent({ speed: 'fast', inference_geo: 'us' })).toEqual({ speed: undefined, geo: undefined, warned: ['speed', 'inference_geo'] })
  expect(sent({ speed: 'standard', inference_geo: 'global' })).toEqual({ speed: 'standard', geo: 'global', warned: [] })
  expect(sent({ extensions: { speed: 'fast' } })).toEqual({ speed: undefined, geo: undefined, warned: ['extensions.speed'] })
})

test('what makes an answer dearer is sent and paid where its price is known', () => {
  const surcharges = [
    { field: 'speed', value: 'fast', percent: 200 },
    { field: 'inference_geo', value: 'us', percent: 110 },
  ]
  const price = { input: 33, output: 100, tiers: [{ over: 9, input: 50, output: 150 }], request: 7, surcharges }
  const offer = { ...plain, dialect: 'messages', price }
  const asking = (fields: JsonObject) =>
    messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const both = asking({ speed: 'fast', inference_geo: 'us' })
  const { body, warnings } = messagesProvider.encodeRequest(both, offer, {})
  expect([body.speed, body.inference_geo, warnings]).toEqual(['fast', 'us', []])
  expect(priceFor({ offer, provider: {} }, both)).toEqual({
    ...price,
    input: 73,
    output: 220,
    tiers: [{ over: 9, input: 110, output: 330 }],
  })
  // What the answer states is paid, whatever was asked for.
  expect(priceFor({ offer, provider: {} }, both, { speed: 'standard' })?.output).toBe(110)
  expect(priceFor({ offer, provider: {} }, asking({}), { inference_geo: 'us' })?.output).toBe(110)
  // A field of another language is not sent, and not paid for.
  expect(priceFor({ offer: { ...offer, dialect: 'chat' }, provider: {} }, both)?.output).toBe(100)
  expect(messagesProvider.encodeRequest(asking({ inference_geo: 'eu' }), offer, {}).warnings.map(({ param }) => param)).toEqual([
    'inference_geo',
  ])
})

test('no caller names another model for the provider to fall back on, at its own price and length', () => {
  const sent = (fields: JsonObject): unknown => {
    const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields })
    const { body, warnings } = messagesProvider.encodeRequest(request, { ...plain, dialect: 'messages' }, {})
    return { fallbacks: body.fallbacks, warned: warnings.map(({ param }) => param) }
  }
  const fallbacks = [{ model: 'claude-opus-5', speed: 'fast', max_tokens: 100_000 }]
  expect(sent({ fallbacks })).toEqual({ fallbacks: undefined, warned: ['fallbacks'] })
  expect(sent({ fallbacks: 'default' })).toEqual({ fallbacks: undefined, warned: ['fallbacks'] })
  expect(sent({ extensions: { fallbacks } })).toEqual({ fallbacks: undefined, warned: ['extensions.fallbacks'] })
})
