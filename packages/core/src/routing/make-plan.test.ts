import { GatewayError } from '@signalbox/dialects/errors'
import type { JsonObject, Offer } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { asking, offerOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'

const image = { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }

function refused(fields: JsonObject, ...offers: readonly Partial<Offer>[]) {
  const providers = offers.map((_, at) => providerOf(`p${at}`))
  const models = [{ id: 'm', offers: offers.map((offer, at) => offerOf(`p${at}`, offer)) }]
  try {
    planOf(asking(fields), { providers, models })
  } catch (error) {
    if (error instanceof GatewayError) return { ...error.facts, status: error.status, code: error.code }
  }
  throw new Error('A candidate was left.')
}

test('each candidate is listed with its reason, the field and a suggestion', () => {
  expect(refused({}, { delivery: 'stream_only' })).toMatchObject({
    status: 400,
    code: 'non_streaming_not_supported',
    param: 'stream',
    suggestion: 'Set `stream: true`.',
    message: 'No provider can serve this request with m. Excluded: p0 for m: it supports streaming only: set `stream: true`.',
  })
  expect(refused({ gateway: { routing: { data_policy: 'zdr' } } }, { dataPolicy: 'may_train' })).toMatchObject({
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.data_policy',
    suggestion: expect.stringMatching(/^Relax/),
    message: expect.stringMatching(/p0 for m: its data policy is "may_train", and `gateway.routing.data_policy` requires "zdr"\.$/),
  })
  expect(refused({ gateway: { routing: { only: ['p1'] } } }, {}, { delivery: 'stream_only' })).toMatchObject({
    code: 'non_streaming_not_supported',
    message: expect.stringMatching(/p0 for m: it is not in `gateway.routing.only`; p1 for m: it supports streaming only/),
  })
})

test('the code is that of the first rule in the table, and the field is named if it is the only one', () => {
  const fields = { input: [image], tools: [{ type: 'function', name: 'f' }] }
  expect(refused(fields, { abilities: ['tools'] })).toMatchObject({ code: 'capability_mismatch', param: 'input[0].content[0]' })
  expect(refused(fields, { abilities: ['tools'] }, { abilities: ['vision'] })).not.toHaveProperty('param')
  expect(refused(fields, { delivery: 'stream_only' }, { abilities: ['vision'] })).toMatchObject({
    code: 'non_streaming_not_supported',
    param: 'stream',
  })
})

test('if `only` excludes all candidates, the suggestion names the providers of the model', () => {
  const error = refused({ gateway: { routing: { ignore: ['p0', 'p1'] } } }, {}, {})
  expect(error).toMatchObject({
    param: 'gateway.routing.ignore',
    suggestion: expect.stringMatching(/^The model is offered by p0, p1\. .*routing defaults of the workspace/),
  })
})

test('a message lists at most ten reasons, and the number of others', () => {
  const { message } = refused({}, ...Array.from({ length: 14 }, () => ({ delivery: 'stream_only' }) as const))
  expect(message.match(/it supports streaming only/g)).toHaveLength(10)
  expect(message).toMatch(/; and 4 more\.$/)
})
