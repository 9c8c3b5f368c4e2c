import { nodeTransport, serve } from '@signalbox/node-http'
import OpenAI, { APIError, AuthenticationError, RateLimitError } from 'openai'
import OpenAI6 from 'openai6'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { cannedAnswers } from '../src/answers/writers.ts'
import { type ChaosProvider, chaosProvider, type TestGateway, testGateway } from '../src/index.ts'

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  strict: true,
} as const

describe.each(['responses', 'chat'] as const)('the openai package with a provider of dialect %s', dialect => {
  let provider: ChaosProvider
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }
  let client: OpenAI

  beforeAll(async () => {
    provider = await chaosProvider()
    testbed = await testGateway({ servers: [provider], dialect, transport: nodeTransport(), timeouts: { idleMs: 2_000 } })
    server = await serve(testbed.gateway, { port: 0 })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: testbed.secret, maxRetries: 0 })
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
    await provider.close()
  })

  test('responses.create returns text, usage and a request id', async () => {
    const response = await client.responses.create({ model: 'test-model', input: 'Hello' })
    expect(response.output_text).toBe(defaultText)
    expect(response.status).toBe('completed')
    expect(response.usage).toMatchObject({ input_tokens: 12, total_tokens: expect.any(Number) })
    expect(response._request_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(response).toMatchObject({ model: 'test-model', routing_metadata: { provider: 'server-1', cost: { usd: expect.any(Number) } } })
  })

  test('create with stream returns all text once, and one terminal event', async () => {
    let text = ''
    const terminal: string[] = []
    for await (const event of await client.responses.create({ model: 'test-model', input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta
      if (/^response\.(completed|incomplete|failed)$/.test(event.type)) terminal.push(event.type)
    }
    expect(text).toBe(defaultText)
    expect(terminal).toEqual(['response.completed'])
  })

  test('the stream helper of both major versions returns the final response', async () => {
    const final = await client.responses.stream({ model: 'test-model', input: 'Hello' }).finalResponse()
    expect(final.output_text).toBe(defaultText)
    const older = new OpenAI6({ baseURL: `${server.url}/v1`, apiKey: testbed.secret, maxRetries: 0 })
    expect((await older.responses.stream({ model: 'test-model', input: 'Hello' }).finalResponse()).output_text).toBe(defaultText)
  })

  test.each([false, true])('tool calls arrive complete, streamed: %s', async stream => {
    const asked = { model: 'say:tools', input: 'Weather?', tools: [weather] }
    const response = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked)
    const calls = response.output.flatMap(item => (item.type === 'function_call' ? [item] : []))
    expect(calls.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual(
      cannedAnswers.tools.tools.map(tool => ({ ...tool })),
    )
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2)
    expect(response.output_text).toBe(cannedAnswers.tools.text)
  })

  test('a tool loop runs to the end', async () => {
    const first = await client.responses.create({ model: 'say:tool', input: 'Weather?', tools: [weather] })
    const call = first.output.find(item => item.type === 'function_call')
    if (call?.type !== 'function_call') throw new Error('No call came.')
    // The package's own types do not let every kind of output item go back in, though the API takes them all.
    const history = first.output as OpenAI.Responses.ResponseInputItem[]
    const second = await client.responses.create({
      model: 'test-model',
      tools: [weather],
      input: [{ role: 'user', content: 'Weather?' }, ...history, { type: 'function_call_output', call_id: call.call_id, output: 'Rain.' }],
    })
    expect(second.output_text).toBe(defaultText)
    const sent = JSON.stringify(provider.requests.at(-1)?.json)
    expect(sent).toContain('Rain.')
    expect(sent).toContain(call.call_id)
  })

  test.each([false, true])('reasoning comes before the text, streamed: %s', async stream => {
    const asked = { model: 'say:reasoning', input: 'Think.' }
    const response = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked)
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(JSON.stringify(response.output[0])).toContain(cannedAnswers.reasoning.reasoning)
  })

  test.each([false, true])('a refusal is a refusal part, streamed: %s', async stream => {
    const asked = { model: 'say:refusal', input: 'Crash them.' }
    const response = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked)
    const [item] = response.output
    expect(item?.type === 'message' && item.content[0]).toMatchObject({ type: 'refusal', refusal: cannedAnswers.refusal.refusal })
  })

  test.each([
    ['say:length', 'max_output_tokens'],
    ['say:filter', 'content_filter'],
  ])('%s ends as incomplete, because of %s', async (model, reason) => {
    for (const response of [
      await client.responses.create({ model, input: 'Go.' }),
      await client.responses.stream({ model, input: 'Go.' }).finalResponse(),
    ]) {
      expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason } })
      expect(response.output_text).not.toBe('')
    }
  })

  test('a failure in the middle of a stream is an APIError with a code', async () => {
    let text = ''
    const run = async (): Promise<void> => {
      for await (const event of await client.responses.create({ model: 'fault:reset-mid-stream', input: 'Go.', stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta
      }
    }
    const error = await run().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'provider_error', type: 'provider_error' })
    expect(text.length).toBeGreaterThan(0)
  })

  test('a wrong key is an AuthenticationError, a limit a RateLimitError with the wait', async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'ak_wrong', maxRetries: 0 })
    const refused = await stranger.responses.create({ model: 'test-model', input: 'x' }).catch((reason: unknown) => reason)
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect(refused).toMatchObject({ status: 401, code: 'invalid_api_key' })
    const limited = await client.responses.create({ model: 'fault:retry-after-seconds', input: 'x' }).catch((reason: unknown) => reason)
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(limited instanceof RateLimitError && limited.headers?.get('retry-after')).toBe('2')
  })

  test('an unknown model is a 404 that suggests the intended one', async () => {
    const error = await client.responses.create({ model: 'test-modle', input: 'x' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 404, code: 'model_not_found', error: { suggestion: expect.stringContaining('test-model') } })
  })

  test('models.list and models.retrieve return the models', async () => {
    const ids: string[] = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toContain('test-model')
    expect(await client.models.retrieve('test-model')).toMatchObject({ id: 'test-model', object: 'model', owned_by: 'signalbox' })
  })
})
