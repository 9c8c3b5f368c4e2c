import { chatProvider, responsesProvider } from '@signalbox/dialects'
import { GatewayError, isGatewayError } from '@signalbox/gateway'
import type { InputItem, OutputItem, ResponseStreamEvent } from '@signalbox/gateway/in-process'
import type OpenAI from 'openai'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { fasterClock } from '../src/faster-clock.ts'
import { type TestGateway, testGateway } from '../src/gateway.ts'
import { type Act, acts, type ScriptedProvider, scriptedProvider } from '../src/scripted-provider.ts'

interface Testbed extends TestGateway {
  readonly provider: ScriptedProvider
}

const testbedOf = async (dialect: typeof chatProvider, ...script: readonly Act[]): Promise<Testbed> => {
  const provider = scriptedProvider({ id: 'scripted', dialect, acts: script })
  return Object.assign(await testGateway({ providers: [provider], clock: fasterClock(20) }), { provider })
}
const input = 'Tell me about signals.'
const error = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (reason: unknown) => reason,
  )

test.each([undefined, null, 'text', 5])('a provider in this process that gives %j instead of frames fails with 502', async odd => {
  const act: Act = async () => ({
    status: 200,
    frames: (async function* () {
      yield odd as never
    })(),
  })
  const { gateway, caller } = await testbedOf(chatProvider, act, act)
  expect(await error(gateway.responses.create({ model: 'test-model', input }, { caller }))).toMatchObject({ status: 502 })
})

describe.each([
  ['responses', responsesProvider],
  ['chat', chatProvider],
] as const)('gateway.responses.create before a provider that speaks %s', (_, dialect) => {
  test('returns the whole response, typed', async () => {
    const { gateway, secret } = await testbedOf(dialect)
    const response = await gateway.responses.create({ model: 'test-model', input }, { apiKey: secret })
    expect(response).toMatchObject({ object: 'response', status: 'completed', output_text: defaultText })
    expect(response.routing_metadata).toMatchObject({ provider: 'scripted', cost: { usd: expect.any(Number) } })
    expectTypeOf(response.usage?.input_tokens).toEqualTypeOf<number | undefined>()
    expectTypeOf(response.output).toEqualTypeOf<readonly OutputItem[]>()
  })

  test('returns a stream of typed events, from the first to the terminal one', async () => {
    const { gateway, caller } = await testbedOf(dialect)
    let text = ''
    const types: string[] = []
    for await (const event of await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller })) {
      types.push(event.type)
      if (event.type === 'response.output_text.delta') {
        expectTypeOf(event.delta).toEqualTypeOf<string>()
        text += event.delta
      }
      if (event.type === 'response.completed') expect(event.response.output_text).toBe(defaultText)
    }
    expect(text).toBe(defaultText)
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
  })

  test('accepts its own output in a tool loop', async () => {
    const { gateway, caller, provider } = await testbedOf(dialect, acts.toolCall('get_weather', { city: 'Bern' }))
    const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }] as const
    const history: InputItem[] = [{ role: 'user', content: 'Weather?' }]
    const first = await gateway.responses.create({ model: 'test-model', input: history, tools }, { caller })
    history.push(...first.output)
    for (const item of first.output) {
      if (item.type === 'function_call') history.push({ type: 'function_call_output', call_id: item.call_id, output: 'Rain.' })
    }
    const second = await gateway.responses.create({ model: 'test-model', input: history, tools }, { caller })
    expect(second.output_text).toBe(defaultText)
    expect(JSON.stringify(provider.calls[1]?.body)).toMatch(/get_weather[\s\S]*Rain\./)
  })

  test('throws a failure in the middle, after the content before it', async () => {
    const { gateway, caller } = await testbedOf(dialect, acts.errorAfter(4))
    const said: ResponseStreamEvent[] = []
    const stream = await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller })
    const thrown = await error(
      (async () => {
        for await (const event of stream) said.push(event)
      })(),
    )
    expect(isGatewayError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ code: 'provider_error', status: 502, facts: { provider: 'scripted' } })
    expect(said.some(({ type }) => type === 'response.output_text.delta')).toBe(true)
    expect(said.map(({ type }): string => type)).not.toContain('response.failed')
  })

  test('leaving the loop ends it at once; the provider is aborted, and the content so far is charged, when the gateway closes at the latest', async () => {
    const testbed = await testbedOf(dialect, acts.pauseAfter(4, 60_000))
    const { gateway, caller, provider, storage } = testbed
    for await (const event of await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller })) {
      if (event.type === 'response.output_text.delta') break
    }
    await gateway.close()
    expect(provider.calls).toMatchObject([{ aborted: true, finished: false }])
    const { held, spent } = await storage.ledger.balance(`credit:${caller.workspaceId}`)
    expect([held, spent > 0]).toEqual([0, true])
  })

  test.each([
    ['before its first event is read', false],
    ['while an event is waited for', true],
  ])('leaving %s aborts the provider at once', async (_when, waits) => {
    const { gateway, caller, provider, storage } = await testbedOf(dialect, acts.pauseAfter(4, 60_000))
    const stream = await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller })
    const events = stream[Symbol.asyncIterator]()
    const reading = async (): Promise<void> => {
      for (let step = await events.next(); !step.done; step = await events.next());
    }
    const read = waits ? error(reading()) : undefined
    await new Promise(resolve => setTimeout(resolve, 20))
    await events.return?.()
    // The loop ends at once. A started response is drained for its usage, until the gateway closes at the latest.
    await read
    if (waits) await gateway.close()
    expect(provider.calls).toMatchObject([{ aborted: true, finished: false }])
    expect(await storage.ledger.balance(`credit:${caller.workspaceId}`)).toMatchObject({ held: 0 })
  })

  test('a signal ends it, before the first content and after', async () => {
    const { gateway, caller, provider } = await testbedOf(dialect, acts.never(), acts.pauseAfter(4, 60_000))
    const first = new AbortController()
    const never = error(gateway.responses.create({ model: 'test-model', input, stream: true }, { caller, signal: first.signal }))
    await expect.poll(() => provider.calls.length).toBe(1)
    first.abort()
    expect(await never).toMatchObject({ code: 'client_disconnected' })
    const second = new AbortController()
    const stream = await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller, signal: second.signal })
    const thrown = await error(
      (async () => {
        for await (const event of stream) if (event.type === 'response.output_text.delta') second.abort()
      })(),
    )
    expect(thrown).toMatchObject({ code: 'client_disconnected' })
    await gateway.close()
    expect(provider.calls.map(({ aborted }) => aborted)).toEqual([true, true])
  })
})

describe('the same rules as over HTTP', () => {
  test.each([false, true])('keys, scopes, names and limits are refused with GatewayErrors, streamed: %s', async stream => {
    const provider = scriptedProvider({ id: 'scripted', dialect: chatProvider })
    const { gateway, caller, secret } = await testGateway({ providers: [provider], limits: { inferenceRpm: 1 } })
    const create = (change: object, calling: { readonly apiKey: string } = { apiKey: secret }): Promise<unknown> =>
      error(gateway.responses.create({ model: 'test-model', input, stream, ...change }, calling))
    const { secret: reader } = await gateway.workspaces(caller.workspaceId).apiKeys.create({ name: 'reader', scopes: ['usage:read'] })
    expect(await create({}, { apiKey: 'ak_wrong' })).toMatchObject({ code: 'invalid_api_key' })
    expect(await create({}, { apiKey: reader })).toMatchObject({ code: 'operation_not_allowed' })
    expect(
      await error(gateway.responses.create({ model: 'test-model', input }, { caller: await gateway.authenticate(reader) })),
    ).toBeInstanceOf(GatewayError)
    expect(await create({ model: 'test-modle' })).toMatchObject({ code: 'model_not_found', facts: { param: 'model' } })
    expect(await create({ input: 7 })).toMatchObject({ code: 'invalid_parameter_value', facts: { param: 'input' } })
    expect(provider.calls).toEqual([])
    expect(await create({})).toBeUndefined()
    expect(await create({})).toMatchObject({ code: 'requests_per_min_exceeded', facts: { limitedBy: 'routing' } })
    expect(provider.calls).toHaveLength(1)
  })

  const circle: { self?: object } = {}
  circle.self = circle
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
  test.each<[string, object]>([
    ['a body that holds itself', { extra: circle }],
    ['a body that is nested too deep', { tools: [{ type: 'function', name: 'f', parameters: deep }] }],
    ['a number that JSON cannot say', { extensions: { seed: 1n } }],
    ['half of a surrogate pair', { instructions: 'a\ud800' }],
    ['a key that reaches for a prototype', { metadata: JSON.parse('{"__proto__":"x"}') }],
  ])('%s is refused with a GatewayError', async (_what, change) => {
    const { gateway, caller, provider } = await testbedOf(chatProvider)
    expect(await error(gateway.responses.create({ model: 'test-model', input, ...change }, { caller }))).toMatchObject({
      name: 'GatewayError',
      code: 'invalid_request',
    })
    expect(provider.calls).toEqual([])
  })

  test('a request without enough credit is not started', async () => {
    const provider = scriptedProvider({ id: 'scripted', dialect: chatProvider })
    const { gateway, caller } = await testGateway({ providers: [provider], credit: 0 })
    expect(await error(gateway.responses.create({ model: 'test-model', input }, { caller }))).toMatchObject({
      code: 'insufficient_credits',
    })
    expect(provider.calls).toEqual([])
  })

  test('a stream can be read once', async () => {
    const { gateway, caller } = await testbedOf(chatProvider)
    const stream = await gateway.responses.create({ model: 'test-model', input, stream: true }, { caller })
    for await (const _ of stream);
    expect(() => stream[Symbol.asyncIterator]()).toThrow('already been read')
  })
})

describe('the other dialects', () => {
  const messages: readonly OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: input }]

  test('gateway.chat.completions.create returns whole responses and chunks', async () => {
    const { gateway, caller } = await testbedOf(chatProvider)
    const whole = await gateway.chat.completions.create({ model: 'test-model', messages }, { caller })
    expect(whole.choices[0]?.message.content).toBe(defaultText)
    let text = ''
    const objects = new Set<string>()
    for await (const chunk of await gateway.chat.completions.create({ model: 'test-model', messages, stream: true }, { caller })) {
      objects.add(chunk.object)
      text += chunk.choices[0]?.delta.content ?? ''
    }
    expect([text, [...objects]]).toEqual([defaultText, ['chat.completion.chunk']])
  })

  test('gateway.messages.create returns whole responses and blocks, with options instead of headers', async () => {
    const { gateway, caller } = await testbedOf(chatProvider)
    const body = { model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: input }] }
    const whole = await gateway.messages.create(body, { caller })
    expect(whole.content).toMatchObject([{ type: 'text', text: defaultText }])
    let text = ''
    for await (const event of await gateway.messages.create({ ...body, stream: true }, { caller })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
    }
    expect(text).toBe(defaultText)
    const newest = gateway.messages.create({ ...body, temperature: 0.5 }, { caller, headers: { 'Anthropic-Version': '2026-10-21' } })
    expect(await error(newest)).toMatchObject({ facts: { param: 'temperature' } })
    expect(await gateway.messages.countTokens({ model: 'test-model', messages: [{ role: 'user', content: input }] }, { caller })).toEqual({
      input_tokens: expect.any(Number),
      estimated: true,
    })
  })
})

test('a call without a caller gets an error that explains how to pass one', async () => {
  const { gateway } = await testbedOf(chatProvider)
  const create = gateway.responses.create as unknown as (body: object) => Promise<unknown>
  expect(await error(create({ model: 'test-model', input }))).toMatchObject({
    code: 'invalid_api_key',
    message: expect.stringContaining('`{ apiKey }` or `{ caller }`'),
  })
})
