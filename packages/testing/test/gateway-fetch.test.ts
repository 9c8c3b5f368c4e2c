import { chatProvider, responsesProvider } from '@signalbox/dialects'
import { gatewayFetch } from '@signalbox/fetch-handler'
import OpenAI, { APIError, APIUserAbortError, AuthenticationError, RateLimitError } from 'openai'
import { describe, expect, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { fasterClock } from '../src/faster-clock.ts'
import { type TestGateway, type TestGatewayOptions, testGateway } from '../src/gateway.ts'
import { type Act, acts, type ScriptedProvider, scriptedProvider } from '../src/scripted-provider.ts'

interface Testbed extends TestGateway {
  readonly provider: ScriptedProvider
  readonly client: OpenAI
}

const testbedOf = async (dialect: typeof chatProvider, script: readonly Act[] = [], options: TestGatewayOptions = {}): Promise<Testbed> => {
  const provider = scriptedProvider({ id: 'scripted', dialect, acts: script })
  const testbed = await testGateway({ providers: [provider], ...options })
  const client = new OpenAI({
    apiKey: testbed.secret,
    baseURL: 'http://signalbox.local/v1',
    fetch: gatewayFetch(testbed.gateway),
    maxRetries: 0,
  })
  return { ...testbed, provider, client }
}

const model = 'test-model'
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const call = { name: 'get_weather', arguments: '{"city":"Bern"}' }
const messages = [{ role: 'user', content: 'Weather?' }] as const
const error = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (reason: unknown) => reason,
  )

/** What the two endpoints of the package have in common, so that each test runs on both. */
interface Endpoint {
  readonly text: (client: OpenAI) => Promise<string>
  readonly streamed: (client: OpenAI, signal?: AbortSignal) => Promise<AsyncIterable<string>>
  readonly tool: (client: OpenAI, stream: boolean) => Promise<unknown>
}

async function* mapped<T>(source: AsyncIterable<T>, text: (event: T) => string): AsyncGenerator<string> {
  for await (const event of source) yield text(event)
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  'responses.create': {
    text: async client => (await client.responses.create({ model, input: 'Hi' })).output_text,
    streamed: async (client, signal) =>
      mapped(await client.responses.create({ model, input: 'Hi', stream: true }, { signal }), event =>
        event.type === 'response.output_text.delta' ? event.delta : '',
      ),
    tool: async (client, stream) => {
      const tools = [{ type: 'function', name: call.name, parameters, strict: true } as const]
      const asked = { model, input: 'Weather?', tools }
      const response = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked)
      return response.output.flatMap(item => (item.type === 'function_call' ? [{ name: item.name, arguments: item.arguments }] : []))
    },
  },
  'chat.completions.create': {
    text: async client => (await client.chat.completions.create({ model, messages: [...messages] })).choices[0]?.message.content ?? '',
    streamed: async (client, signal) =>
      mapped(
        await client.chat.completions.create({ model, messages: [...messages], stream: true }, { signal }),
        ({ choices }) => choices[0]?.delta.content ?? '',
      ),
    tool: async (client, stream) => {
      const tools = [{ type: 'function', function: { name: call.name, parameters, strict: true } } as const]
      const asked = { model, messages: [...messages], tools }
      const completion = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked)
      return completion.choices[0]?.message.tool_calls?.flatMap(each =>
        each.type === 'function' ? [{ name: each.function.name, arguments: each.function.arguments }] : [],
      )
    },
  },
}

describe.each(Object.entries(endpoints))('openai: %s through gatewayFetch', (_, endpoint) => {
  describe.each([
    ['responses', responsesProvider],
    ['chat', chatProvider],
  ] as const)('before a provider that speaks %s', (_, dialect) => {
    test('responds whole and as a stream', async () => {
      const { client } = await testbedOf(dialect)
      expect(await endpoint.text(client)).toBe(defaultText)
      let text = ''
      for await (const piece of await endpoint.streamed(client)) text += piece
      expect(text).toBe(defaultText)
    })

    test.each([false, true])('calls tools, streamed: %s', async stream => {
      const { client } = await testbedOf(dialect, [acts.toolCall(call.name, { city: 'Bern' })])
      expect(await endpoint.tool(client, stream)).toEqual([call])
    })

    test('an abort in the middle aborts the request to the provider', async () => {
      const { client, provider, gateway, caller } = await testbedOf(dialect, [acts.pauseAfter(4, 60_000)], { clock: fasterClock(20) })
      const leaving = new AbortController()
      const stream = await endpoint.streamed(client, leaving.signal)
      for await (const piece of stream) {
        if (piece !== '') leaving.abort()
      }
      // It is read on for its usage first.
      await expect.poll(() => provider.calls[0]?.aborted).toBe(true)
      await expect.poll(async () => (await gateway.workspaces(caller.workspaceId).billing.balance()).held).toBe(0)
    })

    test('an abort before the first content is reported as an abort', async () => {
      const { client, provider } = await testbedOf(dialect, [acts.never()])
      const leaving = new AbortController()
      const asked = error(endpoint.streamed(client, leaving.signal))
      await expect.poll(() => provider.calls.length).toBe(1)
      leaving.abort()
      expect(await asked).toBeInstanceOf(APIUserAbortError)
      await expect.poll(() => provider.calls[0]?.aborted).toBe(true)
    })

    test('a failure in the middle is an error with its code', async () => {
      const { client } = await testbedOf(dialect, [acts.errorAfter(4)])
      let text = ''
      const thrown = await error(
        (async () => {
          for await (const piece of await endpoint.streamed(client)) text += piece
        })(),
      )
      expect(thrown).toBeInstanceOf(APIError)
      expect(thrown).toMatchObject({ code: 'provider_error', type: 'provider_error' })
      expect(text).not.toBe('')
    })
  })

  test('errors have the classes and fields of the package', async () => {
    const { client, gateway } = await testbedOf(chatProvider, [], { limits: { inferenceRpm: 1 } })
    const stranger = new OpenAI({ apiKey: 'ak_wrong', baseURL: 'http://signalbox.local/v1', fetch: gatewayFetch(gateway), maxRetries: 0 })
    const refused = await error(endpoint.text(stranger))
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect(refused).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error', param: null })
    await endpoint.text(client)
    const limited = await error(endpoint.text(client))
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ status: 429, code: 'requests_per_min_exceeded', requestID: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const headers = limited instanceof RateLimitError ? limited.headers : undefined
    expect([headers?.get('x-rate-limit-source'), Number(headers?.get('retry-after')) >= 1]).toEqual(['routing', true])
  })
})

test('models are listed, and the version may be left out of the base URL', async () => {
  const { secret, gateway } = await testbedOf(chatProvider)
  const client = new OpenAI({ apiKey: secret, baseURL: 'https://elsewhere.example', fetch: gatewayFetch(gateway) })
  expect((await client.models.list()).data.map(({ id }) => id)).toContain(model)
})
