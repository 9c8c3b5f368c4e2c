import { openai } from '@signalbox/providers'
import { describe, expect, test } from 'vitest'
import { estimateMaxCost } from '../../../core/src/metering/estimate.ts'
import { googleVertex } from '../../../providers/src/google-vertex.ts'
import { groq, together } from '../../../providers/src/hosts.ts'
import { xai } from '../../../providers/src/vendors.ts'
import { chatProvider } from '../chat/provider.ts'
import { messagesClient } from '../messages/client.ts'
import { messagesProvider } from '../messages/provider.ts'
import type { Model, Offer, Quirks } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { responsesProvider } from '../responses/provider.ts'
import { isUnpricedFlex, requestPrice, soldOffer, unpricedExtras } from './request-price.ts'

const ordinary = { input: 1_000_000, output: 2_000_000 }
const priority = { input: 3_000_000, output: 6_000_000 }
const tiered: Offer = { provider: 'p', model: 'm', api: 'chat', price: { ...ordinary, priority } }
const plain: Offer = { ...tiered, price: ordinary }
const ask = (fields: JsonObject) => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })

const requests: readonly JsonObject[] = [
  {},
  { service_tier: 'auto' },
  { service_tier: 'flex' },
  { service_tier: 'priority' },
  { service_tier: 'fast' },
  { service_tier: 'warp' },
  { service_tier: '' },
  { gateway: { routing: { tier: 'priority' } } },
  { service_tier: 'flex', gateway: { routing: { tier: 'priority' } } },
  { service_tier: 'priority', extensions: { service_tier: 'warp' } },
]
const quirks: readonly Quirks[] = [
  {},
  { priorityTier: 'fast' },
  { refuses: ['service_tier'] },
  { priorityTier: 'fast', refuses: ['service_tier'] },
]

test('a more expensive tier is sent exactly if its price is charged', () => {
  const cheap = new Set([undefined, 'auto', 'flex'])
  for (const fields of requests)
    for (const provider of quirks)
      for (const offer of [tiered, plain])
        for (const dialect of [chatProvider, responsesProvider]) {
          const request = ask(fields)
          const { body } = dialect.encodeRequest(request, offer, provider)
          const paid = requestPrice(soldOffer({ offer, provider: { quirks: provider } }), request)
          const sent = body.service_tier as string | undefined
          expect({ fields, sent, tiered: paid === priority }).toEqual({ fields, sent, tiered: !cheap.has(sent) })
        }
})

test('the offer’s own quirks override those of its provider', () => {
  const request = ask({ gateway: { routing: { tier: 'priority' } } })
  expect(requestPrice(soldOffer({ offer: tiered, provider: {} }), request)).toBe(tiered.price)
  expect(requestPrice(soldOffer({ offer: { ...tiered, quirks: { priorityTier: 'x' } }, provider: {} }), request)).toBe(priority)
  expect(
    requestPrice(
      soldOffer({ offer: { ...tiered, quirks: { refuses: ['service_tier'] } }, provider: { quirks: { priorityTier: 'x' } } }),
      request,
    ),
  ).toBe(tiered.price)
})

test('an unknown price stays unknown, and a hold follows the tier', () => {
  const { price, ...free } = tiered
  const request = ask({ service_tier: 'priority', max_output_tokens: 10 })
  expect(requestPrice(soldOffer({ offer: free, provider: {} }), request)).toBeUndefined()
  expect(
    estimateMaxCost(
      { ...tiered, price: requestPrice(soldOffer({ offer: tiered, provider: {} }), request) },
      { likely: 0, max: 0, output: 10 },
    ),
  ).toBe(60)
  expect(estimateMaxCost(tiered, { likely: 0, max: 0, output: 10 })).toBe(20)
})

test('an option that would cost more than the known price is dropped with a warning', () => {
  const sent = (fields: JsonObject) => {
    const { body, warnings } = messagesProvider.encodeRequest(
      messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields }),
      { ...plain, api: 'messages' },
      {},
    )
    return { speed: body.speed, geo: body.inference_geo, warned: warnings.map(({ param }) => param) }
  }
  expect(sent({ speed: 'fast', inference_geo: 'us' })).toEqual({ speed: undefined, geo: undefined, warned: ['speed', 'inference_geo'] })
  expect(sent({ speed: 'standard', inference_geo: 'global' })).toEqual({ speed: 'standard', geo: 'global', warned: [] })
  expect(sent({ extensions: { speed: 'fast' } })).toEqual({ speed: undefined, geo: undefined, warned: ['extensions.speed'] })
})

test('an option that costs more is sent and charged if its price is known', () => {
  const surcharges = [
    { field: 'speed', value: 'fast', percent: 200 },
    { field: 'inference_geo', value: 'us', percent: 110 },
  ]
  const price = { input: 33, output: 100, tiers: [{ over: 9, input: 50, output: 150 }], request: 7, surcharges }
  const offer = { ...plain, api: 'messages', price }
  const asking = (fields: JsonObject) =>
    messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const both = asking({ speed: 'fast', inference_geo: 'us' })
  const { body, warnings } = messagesProvider.encodeRequest(both, offer, {})
  expect([body.speed, body.inference_geo, warnings]).toEqual(['fast', 'us', []])
  expect(requestPrice(soldOffer({ offer, provider: {} }), both)).toEqual({
    ...price,
    input: 73,
    output: 220,
    tiers: [{ over: 9, input: 110, output: 330 }],
  })
  // The usage stated in the response is charged, whatever was requested.
  expect(requestPrice(soldOffer({ offer, provider: {} }), both, { options: { speed: 'standard' } })?.output).toBe(110)
  expect(requestPrice(soldOffer({ offer, provider: {} }), asking({}), { options: { inference_geo: 'us' } })?.output).toBe(110)
  // A field of another dialect is neither sent nor charged.
  expect(requestPrice(soldOffer({ offer: { ...offer, api: 'chat' }, provider: {} }), both)?.output).toBe(100)
  expect(messagesProvider.encodeRequest(asking({ inference_geo: 'eu' }), offer, {}).warnings.map(({ param }) => param)).toEqual([
    'inference_geo',
  ])
})

test('a client cannot name a provider-side fallback model, which would have another price and length', () => {
  const sent = (fields: JsonObject): unknown => {
    const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...fields })
    const { body, warnings } = messagesProvider.encodeRequest(request, { ...plain, api: 'messages' }, {})
    return { fallbacks: body.fallbacks, warned: warnings.map(({ param }) => param) }
  }
  const fallbacks = [{ model: 'claude-opus-5', speed: 'fast', max_tokens: 100_000 }]
  expect(sent({ fallbacks })).toEqual({ fallbacks: undefined, warned: ['fallbacks'] })
  expect(sent({ fallbacks: 'default' })).toEqual({ fallbacks: undefined, warned: ['fallbacks'] })
  expect(sent({ extensions: { fallbacks } })).toEqual({ fallbacks: undefined, warned: ['extensions.fallbacks'] })
})

describe('the tier stated in a response', () => {
  const usual = ask({})
  const fast = ask({ service_tier: 'priority' })
  const at = (request: typeof usual, service_tier?: string, offer = tiered) =>
    requestPrice(soldOffer({ offer, provider: {} }), request, service_tier === undefined ? {} : { service_tier })

  test.each(['default', 'standard', 'flex', 'on_demand'])('is charged if it is cheaper than the requested one: %s', tier => {
    expect(at(fast, tier)).toBe(tiered.price)
  })

  test.each(['priority', 'fast'])('is charged if it is more expensive than the requested one: %s', tier => {
    expect(at(usual, tier)).toBe(priority)
    expect(at(usual, tier, plain)).toBe(ordinary)
    expect(unpricedExtras(soldOffer({ offer: plain, provider: {} }), { service_tier: tier })).toEqual(['service_tier'])
    expect(unpricedExtras(soldOffer({ offer: tiered, provider: {} }), { service_tier: tier })).toEqual([])
  })

  test.each(['auto', undefined])('is taken to be the requested one if it is not specific: %s', tier => {
    expect([at(usual, tier), at(fast, tier)]).toEqual([tiered.price, priority])
    expect(unpricedExtras(soldOffer({ offer: tiered, provider: {} }), tier === undefined ? {} : { service_tier: tier })).toEqual([])
  })

  test.each(['warp', '__proto__', 'x'.repeat(9_999)])('is taken to be the requested one if it is unknown, with a warning', tier => {
    expect([at(usual, tier), at(fast, tier)]).toEqual([tiered.price, priority])
    expect(unpricedExtras(soldOffer({ offer: tiered, provider: {} }), { service_tier: tier })).toEqual(['service_tier'])
  })
})

describe('the tier flex', () => {
  const half = { quirks: { flexPercent: 50 } }
  const flex = ask({ service_tier: 'flex' })
  const long: Offer = { ...tiered, price: { ...ordinary, priority, tiers: [{ over: 1_000, input: 2_000_001, output: 4_000_000 }] } }

  test('has its own price, also of long prompts', () => {
    const sold = soldOffer({ offer: long, provider: half })
    const price = requestPrice(sold, flex, { service_tier: 'flex' })
    expect(price).toMatchObject({ input: 500_000, output: 1_000_000, tiers: [{ over: 1_000, input: 1_000_001, output: 2_000_000 }] })
    expect(requestPrice(sold, ask({}), { service_tier: 'flex' })).toBe(price)
  })

  test('is taken to be served if the response states no tier', () => {
    expect(requestPrice(soldOffer({ offer: plain, provider: half }), flex)?.input).toBe(500_000)
    expect(requestPrice(soldOffer({ offer: plain, provider: half }), flex, { service_tier: 'default' })).toBe(ordinary)
    expect(requestPrice(soldOffer({ offer: plain, provider: { quirks: { ...half.quirks, refuses: ['service_tier'] } } }), flex)).toBe(
      ordinary,
    )
    expect(requestPrice(soldOffer({ offer: tiered, provider: half }), flex, { service_tier: 'priority' })).toBe(priority)
  })

  test('is billed at the usual price where its own is unknown, with a warning if it was served', () => {
    expect(requestPrice(soldOffer({ offer: plain, provider: {} }), flex, { service_tier: 'flex' })).toBe(ordinary)
    expect(isUnpricedFlex(soldOffer({ offer: plain, provider: {} }), { service_tier: 'flex' })).toBe(true)
    expect(isUnpricedFlex(soldOffer({ offer: plain, provider: half }), { service_tier: 'flex' })).toBe(false)
    expect(isUnpricedFlex(soldOffer({ offer: plain, provider: {} }), {})).toBe(false)
  })

  test('costs half at OpenAI and as much as the usual one at Groq', () => {
    const sold = { ...plain, price: { ...ordinary } }
    expect(requestPrice(soldOffer({ offer: { ...sold }, provider: openai({ apiKey: 'k' }) }), flex)?.input).toBe(500_000)
    expect(requestPrice(soldOffer({ offer: { ...sold }, provider: groq({ apiKey: 'k' }) }), flex)?.input).toBe(1_000_000)
    expect(isUnpricedFlex(soldOffer({ offer: { ...sold }, provider: groq({ apiKey: 'k' }) }), { service_tier: 'flex' })).toBe(false)
  })
})

describe('a host with a surcharge', () => {
  const credential = { id: 'c', owner: 'platform', secret: 'sk' } as const
  const model = (created?: string): Model => ({
    id: 'm',
    offers: [],
    ...(created !== undefined && { created: Date.parse(created) / 1_000 }),
  })
  const soldAt = (baseURL: string, created?: string, offer = tiered) =>
    soldOffer({ offer, model: model(created), provider: openai({ apiKey: 'sk', baseURL }), credential })

  test.each([
    ['https://us.api.openai.com/v1', '2026-03-05', 1_100_000],
    ['https://EU.api.openai.com:443/v1', undefined, 1_100_000],
    ['https://us.api.openai.com/v1', '2026-03-04', 1_000_000],
    ['https://api.openai.com/v1', '2026-03-05', 1_000_000],
    ['https://.api.openai.com/v1', '2026-03-05', 1_000_000],
    ['https://us.api.openai.com.example/v1', '2026-03-05', 1_000_000],
    ['https://proxy.example/us.api.openai.com/v1', '2026-03-05', 1_000_000],
  ])('is recognized by its name: %s for a model of %s', (baseURL, created, input) => {
    expect(requestPrice(soldAt(baseURL, created), ask({}))?.input).toBe(input)
  })

  test('raises the price of every tier, and has one price for all requests', () => {
    const sold = soldAt('https://us.api.openai.com/v1')
    const paid = [ask({ service_tier: 'priority' }), ask({})].map(request => requestPrice(sold, request))
    expect(paid.map(price => [price?.input, price?.output])).toEqual([
      [3_300_000, 6_600_000],
      [1_100_000, 2_200_000],
    ])
    expect(requestPrice(sold, ask({}))).toBe(paid[1])
  })

  test.each([
    [together, 'https://us-api.together.ai/v1', 'any', 1_250_000, []],
    [xai, 'https://us.api.x.ai/v1', 'grok-4.7', 1_100_000, []],
    [xai, 'https://us.api.x.ai/v1', 'grok-4.5', 1_000_000, []],
    [xai, 'https://eu-west-1.api.x.ai/v1', 'grok-4.7', 1_000_000, ['*.api.x.ai']],
  ] as const)('charges the vendor’s surcharge, and warns if the vendor does not publish it', (...row) => {
    const [make, baseURL, id, input, unpriced] = row
    const sold = soldOffer({ offer: { ...plain, model: id }, provider: make({ apiKey: 'sk', baseURL }), credential })
    expect(requestPrice(sold, ask({}))?.input).toBe(input)
    expect(unpricedExtras(sold, {})).toEqual(unpriced)
  })

  test.each([
    ['us-east5', 'claude-sonnet-4-5@20250929', 1_100_000],
    ['eu', 'claude-opus-5-5', 1_100_000],
    ['global', 'claude-opus-5-5', 1_000_000],
    ['us-east5', 'claude-opus-4-1@20250805', 1_000_000],
    ['us-east5', 'claude-3-7-sonnet@20250219', 1_000_000],
  ])('of Vertex AI in %s for %s', (location, id, input) => {
    const provider = googleVertex({ project: 'p', location, accessToken: 'ya29.x' })
    const sold = soldOffer({ offer: { ...plain, model: id, api: 'messages' }, provider, credential })
    expect(requestPrice(sold, ask({}))?.input).toBe(input)
  })

  test('depends on the account of a workspace, and an account without a URL has no surcharge', () => {
    const provider = googleVertex({ location: 'global', project: 'p' })
    const sold = (extra: Readonly<Record<string, string>>) =>
      soldOffer({
        offer: { ...plain, model: 'claude-opus-5-5', api: 'messages' },
        provider,
        credential: { id: 'own', owner: 'workspace', secret: 'ya29.x', extra },
      })
    expect(requestPrice(sold({ project: 'p', location: 'us-east5' }), ask({}))?.input).toBe(1_100_000)
    expect(requestPrice(sold({ location: 'not a place' }), ask({}))?.input).toBe(1_000_000)
  })
})
