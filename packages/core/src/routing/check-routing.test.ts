import { responsesClient } from '@signalbox/dialects'
import { GatewayError } from '@signalbox/dialects/errors'
import type { JsonObject, RoutingOptions } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { asking, offerOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'

const selling = {
  providers: [providerOf('openai-like'), providerOf('other')],
  models: [
    { id: 'small', aliases: ['tiny'], offers: [offerOf('openai-like'), offerOf('other')] },
    { id: 'large', offers: [offerOf('other')] },
  ],
}

const errorOf = (act: () => unknown): GatewayError => {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('Nothing was wrong.')
}

/** The error for routing options given in a body, and for the same options given unparsed in process. */
const wrongs = (routing: JsonObject): readonly GatewayError[] => {
  const plain = asking({ model: 'small' })
  return [
    errorOf(() => planOf(asking({ model: 'small', gateway: { routing } }), selling)),
    errorOf(() => planOf({ ...plain, routing: { ...plain.routing, ...(routing as Partial<RoutingOptions>) } }, selling)),
  ]
}

test.each<[JsonObject, string]>([
  [{ only: ['other', 'nobody'] }, 'gateway.routing.only[1]'],
  [{ ignore: ['nobody'] }, 'gateway.routing.ignore[0]'],
  [{ order: ['other', 'openai-like', ''] }, 'gateway.routing.order[2]'],
  [{ only: ['other'], ignore: ['openai-like', 'other'] }, 'gateway.routing.ignore[1]'],
  [{ only: ['other', 'openai-like'], ignore: ['other'] }, 'gateway.routing.ignore[0]'],
  [{ order: ['other', 'openai-like'], ignore: ['openai-like'] }, 'gateway.routing.order[1]'],
  [{ order: ['openai-like', 'other'], only: ['other'] }, 'gateway.routing.order[0]'],
  [{ order: ['other'], only: [] }, 'gateway.routing.order[0]'],
  [{ max_price: { input: -0.01 } }, 'gateway.routing.max_price.input'],
  [{ max_price: { input: 1, output: -1 } }, 'gateway.routing.max_price.output'],
  [{ max_price: { output: Number.NaN } }, 'gateway.routing.max_price.output'],
  [{ data_policy: 'strict' }, 'gateway.routing.data_policy'],
  [{ strategy: 'luck' }, 'gateway.routing.strategy'],
  [{ strategy: 'toString' }, 'gateway.routing.strategy'],
])('%j is a 400 at %s, in a body and in process', (routing, param) => {
  for (const { status, code, facts } of wrongs(routing)) {
    expect({ status, code, param: facts.param }).toEqual({ status: 400, code: 'invalid_parameter_value', param })
  }
})

test('a misspelled name is answered with the similar known name', () => {
  const [provider] = wrongs({ only: ['opnai-like'] })
  expect(provider?.message).toMatch(/names the provider "opnai-like", .* It has: openai-like, other\. Did you mean "openai-like"\?$/)
  expect(provider?.facts.suggestion).toBe('Did you mean "openai-like"?')
  const [strategy] = wrongs({ strategy: 'balancd' })
  expect(strategy?.facts.suggestion).toBe('Did you mean "balanced"?')
  const [far] = wrongs({ strategy: 'zzzzzzzzzzzz' })
  expect(far?.facts.suggestion).toBeUndefined()
})

test('a very long name is shortened in the message', () => {
  const [error] = wrongs({ only: ['x'.repeat(100_000)] })
  expect(error?.message.length).toBeLessThan(1_000)
})

test('long lists of the same names are scanned once', () => {
  const many = Array<string>(50_000).fill('other')
  const [error] = wrongs({ only: many, ignore: [...Array<string>(50_000).fill('openai-like'), 'other'] })
  expect(error?.facts.param).toBe('gateway.routing.ignore[50000]')
})

test('an order that includes only allowed providers is accepted', () => {
  const routing = { order: ['other'], only: ['other', 'openai-like'] }
  expect(planOf(asking({ model: 'small', gateway: { routing } }), selling).candidates.map(({ provider }) => provider.id)).toContain('other')
})

test('an unknown model is a 404 at the field that names it, including in a pool of one', () => {
  const missing = (body: JsonObject) => {
    const { status, code, facts } = errorOf(() => planOf(responsesClient.decodeRequest({ input: 'Hi', ...body }), selling))
    return [status, code, facts.param, facts.suggestion]
  }
  expect(missing({ model: 'smal' })).toEqual([404, 'model_not_found', 'model', 'Similar models: small.'])
  expect(missing({ gateway: { models: ['smal'] } })).toEqual([404, 'model_not_found', 'gateway.models[0]', 'Similar models: small.'])
  expect(missing({ gateway: { models: ['small', 'large', 'lage'] } })).toEqual([
    404,
    'model_not_found',
    'gateway.models[2]',
    'Similar models: large.',
  ])
})
