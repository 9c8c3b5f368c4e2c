import type { JsonObject } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { asking, offerOf, orderOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'

const providers = ['a', 'b'].map(id => providerOf(id))
const models = [
  { id: 'small', aliases: ['tiny'], offers: [offerOf('a', { abilities: ['tools'] }), offerOf('b', { abilities: ['tools'] })] },
  { id: 'large', aliases: ['huge'], offers: [offerOf('a', { price: { input: 9_000_000, output: 9_000_000 } })] },
]
const image = { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }] }

const plan = (pool: readonly string[], routing: JsonObject = {}, fields: JsonObject = {}) => {
  const { routing: options, ...request } = asking({ ...fields, gateway: { routing } })
  const [first = '', ...rest] = pool
  return planOf({ ...request, routing: { ...options, models: [first, ...rest] } }, { providers, models })
}

test('a pool is one set of candidates, with each model once, by whatever name', () => {
  expect(orderOf(plan(['tiny', 'huge', 'small', 'large', 'tiny']))).toEqual(['a for small', 'b for small', 'a for large'])
})

test('with `order` the models are tried as they are listed', () => {
  expect(orderOf(plan(['large', 'small'], { strategy: 'order' }))).toEqual(['a for large', 'a for small', 'b for small'])
  expect(orderOf(plan(['small', 'large'], { strategy: 'order' }))).toEqual(['a for small', 'b for small', 'a for large'])
})

test('with `order` no preference puts a later model before an earlier one, but it applies within a model', () => {
  const thinking = { reasoning: { effort: 'high' } }
  expect(orderOf(plan(['small', 'large'], { strategy: 'order' }, thinking))).toEqual(['a for small', 'b for small', 'a for large'])
  expect(orderOf(plan(['small', 'large'], { strategy: 'cost' }, thinking))[0]).toBe('a for large')
})

test('models that cannot serve the request are listed as excluded, and the others remain', () => {
  const { excluded, ...rest } = plan(['small', 'large'], {}, image)
  expect(orderOf({ excluded, ...rest })).toEqual(['a for large'])
  const exclusion = {
    code: 'capability_mismatch',
    reason: 'it does not support images, and `input[0].content[0]` is an image',
    param: 'input[0].content[0]',
    suggestion: expect.stringContaining('choose a model'),
  }
  expect(excluded).toEqual([
    { model: 'small', provider: 'a', provider_model_id: 'a-m', ...exclusion },
    { model: 'small', provider: 'b', provider_model_id: 'b-m', ...exclusion },
  ])
})

test('if no candidate of a pool is left, the error gives the reasons of each model', () => {
  expect(() => plan(['small', 'large'], { max_price: { input: 2 } }, image)).toThrow(
    /with small, large\. Excluded: a for small: it does not support images, and `input\[0\]\.content\[0\]` is an image; b for small: it does not support images, .*; a for large: it may cost 9 USD/,
  )
})

test('an unknown model fails the whole pool, so that a misspelled name does not silently shrink it', () => {
  expect(() => plan(['small', 'larg'])).toThrow('The model "larg" does not exist. Did you mean "large"?')
})
