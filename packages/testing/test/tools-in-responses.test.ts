import { createApi } from '@signalbox/api'
import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject, Offer, Provider } from '@signalbox/dialects/protocol'
import { createGateway } from '@signalbox/gateway'
import { azure, compatible, openai } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { ask } from './matrix/asking.ts'
import { bytesOf, scriptedTransport } from './scripted-transport.ts'

// GPT-6 Astra and GPT-6.1 Sol call no tools in Chat Completions, wherever they are served in it.

const chatAnswer = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Here.' } }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
}
const responsesAnswer = {
  ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null, incomplete_details: null },
  output: [{ type: 'function_call', id: 'fc', call_id: 'call_1', name: 'read', arguments: '{}', status: 'completed' }],
  usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
}
const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } }]

async function send(provider: Provider, offer: Partial<Offer>, body: JsonObject) {
  const paths: string[] = []
  const transport = scriptedTransport(url => {
    paths.push(new URL(url).pathname)
    return { pieces: [bytesOf(JSON.stringify(url.includes('/responses') ? responsesAnswer : chatAnswer))] }
  })
  const price = { input: 1_000_000, output: 1_000_000 }
  const offers = [{ provider: provider.id, model: 'gpt-6-astra', api: 'chat', price, ...offer }]
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const gateway = createGateway({ providers: [provider], models: [{ id: 'm', offers }], storage: memoryStorage(), transport, logger })
  const { id } = await gateway.workspaces.create({ name: 'W' })
  await gateway.workspaces(id).billing.credit({ reference: 'start', amount: 1_000_000 })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
  const messages = [{ role: 'user', content: 'Hi' }]
  const reply = await ask({ api: createApi(gateway), secret }, 'POST /v1/chat/completions', { body: { model: 'm', messages, ...body } })
  const { balance } = await gateway.workspaces(id).billing.balance()
  await gateway.close()
  return { paths, status: reply.status, answer: reply.json, cost: 1_000_000 - balance }
}

const quirks = { toolsInResponses: true }
const serverOf = (...speaks: readonly BuiltInDialect[]): Provider =>
  compatible({ id: 'mine', baseURL: 'http://mine.test/v1', apiKey: 'sk-mine-secret', apis: speaks })

describe('a model that supports tools in the Responses dialect only', () => {
  test.each<[string, Provider, Partial<Offer>]>([
    ['OpenAI', openai({ apiKey: 'sk-openai-secret' }), {}],
    ['Azure', azure({ resource: 'contoso', apiKey: 'azure-secret' }), { model: 'gpt-6.1-sol' }],
    ['a server of your own', serverOf('chat', 'responses'), { quirks }],
  ])('is called in it at %s, although its offer names Chat Completions', async (_, provider, offer) => {
    const { paths, answer, cost } = await send(provider, offer, { tools })
    expect(paths.map(path => path.split('/').at(-1))).toEqual(['responses'])
    expect(answer.choices[0].message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'read' } }])
    expect(cost).toBe(20)
  })

  test('is called in it without tools too, so that a conversation keeps one dialect', async () => {
    expect((await send(serverOf('chat', 'responses'), { quirks }, {})).paths).toEqual(['/v1/responses'])
  })

  test.each<[string, Provider, Partial<Offer>]>([
    ['Azure’s old surface', azure({ resource: 'contoso', apiKey: 'azure-secret', surface: 'deployments' }), {}],
    ['a server that speaks nothing else', serverOf('chat'), { quirks }],
  ])('gets no request with tools at %s, and others as usual', async (_, provider, offer) => {
    const refused = await send(provider, offer, { tools })
    expect([refused.status, refused.answer.error.code, refused.cost, refused.paths]).toEqual([400, 'capability_mismatch', 0, []])
    expect(refused.answer.error.message).toContain('takes tools in the dialect "responses" alone')
    const plain = await send(provider, offer, {})
    expect([plain.status, plain.answer.choices[0].message.content]).toEqual([200, 'Here.'])
  })

  test.each(['gpt-6-sol', 'gpt-6-luna', 'gpt-5.6-sol', 'my-gpt-6-astra', 'gpt-5.1'])('does not include %s', async provider_model_id => {
    const { paths } = await send(openai({ apiKey: 'sk-openai-secret' }), { model: provider_model_id }, { tools })
    expect(paths).toEqual(['/v1/chat/completions'])
  })
})
