import { chatProvider, messagesClient, responsesProvider } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { afterAll, expect, test } from 'vitest'
import { ask, offerOf, openFixture, scripted } from '../../test/state/fixture.ts'

const first = scripted('first', chatProvider)
const second = scripted('second', chatProvider)
const native = scripted('native', responsesProvider)

/** A complete response in the Chat Completions dialect. */
const answer = (prompt_tokens: number, completion_tokens: number) => ({
  whole: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'whatever they call it',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  },
  frames: [],
})

const price = { input: 1_000_000, output: 2_000_000, tiers: [{ over: 1_000, input: 3_000_000, output: 5_000_000 }] }
const fixture = await openFixture([first, second, native], {
  models: [
    { id: 'maker/one', aliases: ['one'], offers: [offerOf(first)] },
    { id: 'maker/two', offers: [offerOf(second)] },
    { id: 'maker/tiered', offers: [offerOf(second, { price })] },
    { id: 'maker/native', offers: [offerOf(native)] },
  ],
})
afterAll(() => fixture.close())

const pool = (...models: readonly string[]): JsonObject => ({ model: null, input: 'Hi', gateway: { models } })

test('the response to a request with a pool names the model that answered', async () => {
  first.play(answer(3, 1))
  expect((await ask(fixture, 'responses', pool('one', 'maker/two'))).body).toMatchObject({
    model: 'maker/one',
    routing_metadata: { provider: 'first', model_canonical: 'maker/one' },
  })
  first.play({ status: 500, body: { error: { message: 'No.' } } })
  second.play(answer(3, 1))
  expect((await ask(fixture, 'responses', pool('one', 'maker/two'))).body).toMatchObject({
    model: 'maker/two',
    routing_metadata: { provider: 'second', model_canonical: 'maker/two' },
  })
})

test.each([
  ['a prompt of the usual length at the usual price', 1_000, 1_000 + 2 * 10],
  ['a longer one at its tier, its answer too', 1_001, 3 * 1_001 + 5 * 10],
])('%s', async (_, promptTokens, microdollars) => {
  second.play(answer(promptTokens, 10))
  const { body } = await ask(fixture, 'responses', { model: 'maker/tiered', input: 'Hi' })
  expect(body).toMatchObject({ routing_metadata: { cost: { usd: microdollars / 1_000_000 } } })
})

test('a feature of the caller’s dialect is sent to the provider’s endpoint of that dialect', async () => {
  const part = { type: 'container_upload', file_id: 'file_1' } as const
  await expect(
    fixture.gateway.messages.create(
      { model: 'maker/native', max_tokens: 9, messages: [{ role: 'user', content: [part] as never }] },
      { caller: fixture.caller },
    ),
  ).rejects.toMatchObject({
    status: 400,
    code: 'response_api_only',
    facts: { param: 'messages[0].content[0]', suggestion: expect.stringMatching(/POST \/v1\/responses/) },
  })
})

test('hosted tools of another dialect are dropped with a warning, for every provider', async () => {
  const body = {
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }
  for (const model of ['maker/native', 'maker/one']) {
    const { fidelity } = await fixture.gateway.plan(messagesClient.decodeRequest({ ...body, model }), fixture.caller)
    expect(fidelity[0]?.features).toContainEqual(
      expect.objectContaining({ param: 'tools', fate: 'dropped', note: expect.stringContaining('`tools[0]`') }),
    )
  }
})

test('a function in process refuses what the endpoint refuses, with the same message', async () => {
  const create = (routing: JsonObject) =>
    fixture.gateway.responses.create({ model: 'one', input: 'Hi', gateway: { routing } }, { caller: fixture.caller })
  await expect(create({ only: ['frist'] })).rejects.toMatchObject({
    code: 'invalid_parameter_value',
    facts: { param: 'gateway.routing.only[0]', suggestion: 'Did you mean "first"?' },
  })
  await expect(create({ max_price: { input: Number.NaN } })).rejects.toMatchObject({
    code: 'invalid_parameter_value',
    facts: { param: 'gateway.routing.max_price.input' },
  })
  await expect(create({ data_policy: 'zdr' })).rejects.toMatchObject({
    code: 'routing_constraint_unsatisfiable',
    facts: { param: 'gateway.routing.data_policy' },
  })
})

const user = { role: 'user', content: 'Hi' }
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } }
const approval = { type: 'mcp_approval_response', approval_request_id: 'a', approve: true }

test.each([
  ['the answer to an approval', [user, approval], 'input[1]'],
  ['the answer to an approval, with an id', [user, { ...approval, id: 'mcpr_1' }], 'input[1]'],
  [
    'a stored screenshot',
    [user, { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } }],
    'input[1]',
  ],
  ['nothing but a record of an earlier answer', [search], 'input[0]'],
  [
    'nothing but parts of an earlier answer',
    [{ role: 'assistant', content: [{ type: 'output_smell', smell: 'roses' }] }],
    'input[0].content[0]',
  ],
])('%s needs a provider of the Responses API', async (_, input, param) => {
  await expect(ask(fixture, 'responses', { model: 'one', input: input as never })).rejects.toMatchObject({
    code: 'input_requires_responses_endpoint',
    facts: { param },
  })
})

const ending = (finish_reason: string) => {
  const { whole } = answer(3, 1)
  return { whole: { ...whole, choices: [{ ...whole.choices[0], finish_reason }] }, frames: [] }
}

test.each([
  ['model_context_window_exceeded', 'length'],
  ['sensitive', 'content_filter'],
  ['STOP', 'stop'],
])('the finish reason `%s` is `%s`, without a warning', async (reason, finish_reason) => {
  first.play(ending(reason))
  const { body } = await ask(fixture, 'chat', { model: 'one', messages: [user] })
  expect(body).toMatchObject({ choices: [{ finish_reason }] })
  expect(body).not.toHaveProperty('warnings')
})

test('an answer that ended with a network error of the provider comes from another provider', async () => {
  first.play(ending('network_error'))
  second.play(answer(3, 1))
  const { body } = await ask(fixture, 'responses', pool('one', 'maker/two'))
  expect(body).toMatchObject({ routing_metadata: { provider: 'second' } })
})

test('an unknown finish reason means that the answer is complete, with a warning that names it', async () => {
  first.play(ending('bored'))
  const { body } = await ask(fixture, 'responses', { model: 'one', input: 'Hi' })
  expect(body).toMatchObject({
    status: 'completed',
    warnings: [{ code: 'unknown_finish_reason', message: expect.stringContaining('"bored"') }],
  })
})
