import { APICallError, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type ModelSettings, signalbox } from '@signalbox/ai-sdk'
import { generateText, isStepCount, jsonSchema, NoSuchModelError, Output, streamText, tool } from 'ai'
import { afterEach, describe, expect, test } from 'vitest'
import { type Act, acts, fasterClock, type ScriptedProvider, scriptedProvider, type TestGateway, testGateway } from '../src/index.ts'
import { found, type ProviderTraits, providerTraits, traitsOf } from './drivers/provider-traits.ts'

// The models of a gateway as models of the AI SDK, in one process.

globalThis.AI_SDK_LOG_WARNINGS = false

interface Opened extends TestGateway {
  readonly provider: ScriptedProvider
  readonly models: ReturnType<typeof signalbox>
}

let open: Opened | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

async function start(traits: ProviderTraits, script: readonly Act[] = [], settings?: (secret: string) => ModelSettings): Promise<Opened> {
  const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
  const testbed = await testGateway({ providers: [provider], clock: fasterClock(20) })
  const models = signalbox(testbed.gateway, settings?.(testbed.secret) ?? { apiKey: testbed.secret })
  open = { ...testbed, provider, models }
  return open
}

const chat = traitsOf('chat')
const prompt: LanguageModelV4CallOptions['prompt'] = [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }]

async function partsOf(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<readonly LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const thrownBy = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the caller', () => {
  test('is the key of the settings, a caller object, or the key in the header of a call', async () => {
    const { gateway, secret, caller, models, provider } = await start(chat)
    await generateText({ model: models('test-model'), prompt: 'Hi' })
    await generateText({ model: signalbox(gateway, { caller })('test-model'), prompt: 'Hi' })
    await generateText({ model: signalbox(gateway)('test-model'), prompt: 'Hi', headers: { Authorization: `Bearer ${secret}` } })
    expect(provider.calls.length).toBe(3)
    for (const model of [signalbox(gateway)('test-model'), signalbox(gateway, { apiKey: 'ak_wrong' })('test-model')]) {
      const error = await thrownBy(generateText({ model, prompt: 'Hi' }))
      expect(error).toMatchObject({ statusCode: 401, isRetryable: false, data: { error: { code: 'invalid_api_key' } } })
    }
    expect(provider.calls.length).toBe(3)
  })

  test('with a budget too small for the longest response gets a 402 as over HTTP, with the field names of the AI SDK', async () => {
    const { gateway, caller: owner, provider } = await start(chat)
    const caller = await gateway.workspaces(owner.workspaceId).asUser({ user: 'u', budgets: [{ limit: 1, period: 'total' }] })
    const model = signalbox(gateway, { caller })('test-model')
    const error = (await thrownBy(generateText({ model, prompt: 'Hi', maxOutputTokens: 100 }))) as APICallError
    expect(error).toMatchObject({
      statusCode: 402,
      isRetryable: false,
      data: { error: { type: 'billing_error', code: 'budget_exceeded' } },
      responseHeaders: {
        'x-budget-limit-usd': '0.000001',
        'x-budget-used-usd': '0',
        'x-budget-remaining-usd': '0.000001',
        'x-budget-reset': 'never',
      },
    })
    expect(error.message).toMatch(/Lower `maxOutputTokens`\.$/)
    expect(JSON.parse(error.responseBody ?? '').error.message).toBe(error.message)
    expect(provider.calls).toEqual([])
  })

  test('pays the cost that the response reports', async () => {
    const { gateway, caller, models } = await start(chat, [
      acts.reply({ text: 'Hi', usage: { input: 100, output: 30, cached: 0, reasoning: 0 } }),
    ])
    const { billing } = gateway.workspaces(caller.workspaceId)
    const before = (await billing.balance()).balance
    const { providerMetadata } = await generateText({ model: models('test-model'), prompt: 'Hi' })
    expect(providerMetadata?.gateway).toMatchObject({ costMicrodollars: 160, provider: 'scripted', model: 'test-model', strategy: 'order' })
    expect(before - (await billing.balance()).balance).toBe(160)
  })
})

test('models are found by the default provider, by id alone', async () => {
  const { models } = await start(chat, [acts.reply('Here.')])
  globalThis.AI_SDK_DEFAULT_PROVIDER = models
  try {
    expect((await generateText({ model: 'test-model', prompt: 'Hi' })).text).toBe('Here.')
  } finally {
    delete (globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown }).AI_SDK_DEFAULT_PROVIDER
  }
})

test('models of other kinds do not exist, and an unknown model is an error of the call', async () => {
  const { models } = await start(chat)
  for (const ask of [models.imageModel, models.embeddingModel, models.textEmbeddingModel])
    expect(() => ask('test-model')).toThrow(NoSuchModelError)
  const error = await thrownBy(generateText({ model: models.languageModel('test-modle'), prompt: 'Hi' }))
  expect(error).toMatchObject({ statusCode: 404, data: { error: { code: 'model_not_found', param: 'modelId' } } })
})

describe.each(providerTraits)('before a provider of $name', traits => {
  const look = tool({
    inputSchema: jsonSchema<{ place: string }>({ type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }),
    execute: async ({ place }) => (place === 'Nowhere' ? Promise.reject(new Error('There is no such place.')) : `Rain in ${place}`),
  })
  const calls = (...places: readonly string[]) => places.map(place => ({ name: 'look', arguments: JSON.stringify({ place }) }))
  const steps = [
    acts.reply({ reasoning: 'One.', text: 'Looking.', tools: calls('Bern', 'Uri', 'Zug') }),
    acts.reply({ reasoning: 'Two.', tools: calls('Nowhere') }),
    acts.reply({ reasoning: 'Three.', text: 'Done.' }),
    acts.reply('Bye.'),
  ]

  test.each([false, true])('tools are called in three steps and a second turn, with reasoning sent back, streamed: %s', async stream => {
    const { models, provider } = await start(traits, steps)
    const asked = { model: models('test-model'), tools: { look }, stopWhen: isStepCount(5) }
    const run = stream ? streamText({ ...asked, prompt: 'Go.' }) : await generateText({ ...asked, prompt: 'Go.' })
    expect(await run.text).toBe('Done.')
    const history = [...(await run.responseMessages)]
    await generateText({ ...asked, messages: [{ role: 'user', content: 'Go.' }, ...history, { role: 'user', content: 'And now?' }] })
    const body = provider.calls.at(-1)?.body
    expect(provider.calls.length).toBe(4)
    const results = found(body, traits.result).map(({ output }) => output)
    expect([results.length, results.slice(0, 3)]).toEqual([4, ['Rain in Bern', 'Rain in Uri', 'Rain in Zug']])
    expect(JSON.stringify(body)).toContain('There is no such place.')
    expect(found(body, traits.call).map(call => JSON.parse(call.arguments).place)).toEqual(['Bern', 'Uri', 'Zug', 'Nowhere'])
    if (traits.signature) expect(JSON.stringify(body).split(traits.signature).length - 1).toBeGreaterThanOrEqual(2)
    const { warnings = [] } = await generateText({ ...asked, messages: [{ role: 'user', content: 'Go.' }, ...history] })
    expect(warnings.filter(({ type }) => type === 'other')).toEqual([])
  })

  test.each([false, true])('a structured answer, streamed: %s', async stream => {
    const { models, provider } = await start(traits, [acts.reply(traits.shaped('{"place":"Bern"}'))])
    const schema = jsonSchema<{ place: string }>({ type: 'object', properties: { place: { type: 'string' } }, required: ['place'] })
    const asked = { model: models('test-model'), prompt: 'Go.', output: Output.object({ schema }) }
    const run = stream ? streamText(asked) : await generateText(asked)
    expect(await run.output).toEqual({ place: 'Bern' })
    expect(traits.schemaIn(provider.calls[0]?.body ?? {})).toMatchObject({ properties: { place: { type: 'string' } } })
  })

  test('images, as bytes and as base64 of an unnamed type', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const { models, provider } = await start(traits)
    for (const file of [
      { type: 'file', mediaType: 'image/png', data: Uint8Array.from(atob(data), byte => byte.charCodeAt(0)) },
      { type: 'file', mediaType: 'image', data },
    ] as const)
      await generateText({
        model: models('test-model'),
        messages: [{ role: 'user', content: [file, { type: 'text', text: 'What is it?' }] }],
      })
    for (const { body } of provider.calls) expect(found(body, traits.picture)).toEqual([{ type: 'image/png', data }])
  })

  test('an abort aborts the call to the provider, and is an abort to the caller', async () => {
    const { models, provider } = await start(traits, [acts.pauseAfter(4, 60_000), acts.stall(60_000)])
    const abort = new AbortController()
    const { stream } = await models('test-model').doStream({ prompt, abortSignal: abort.signal })
    const reader = stream.getReader()
    for (let step = await reader.read(); !step.done && !step.value.type.endsWith('-delta'); step = await reader.read());
    abort.abort()
    expect(await thrownBy(reader.read())).toMatchObject({ name: 'AbortError' })
    await expect.poll(() => provider.calls[0]?.aborted).toBe(true)

    const whole = models('test-model').doGenerate({ prompt, abortSignal: AbortSignal.timeout(50) })
    expect(await thrownBy(whole)).toMatchObject({ name: 'TimeoutError' })
    await expect.poll(() => provider.calls[1]?.aborted).toBe(true)
  })
})

test('cancelling a stream aborts the call to the provider', async () => {
  const { models, provider } = await start(chat, [acts.pauseAfter(1, 60_000)])
  const { stream } = await models('test-model').doStream({ prompt })
  await stream.cancel()
  await expect.poll(() => provider.calls[0]?.aborted).toBe(true)
})

test('the SDK retries only transient errors', async () => {
  const busy = Array.from({ length: 3 }, () => acts.status(429, { retryAfter: 1, code: 'rate_limit_exceeded' }))
  const { models, provider } = await start(chat, [acts.status(400, { code: 'bad' }), ...busy])
  const refused = await thrownBy(generateText({ model: models('test-model'), prompt: 'Hi', maxRetries: 2 }))
  expect(APICallError.isInstance(refused)).toBe(true)
  expect([refused, provider.calls.length]).toMatchObject([{ statusCode: 400, isRetryable: false }, 1])
  const full = await thrownBy(
    models('test-model').doGenerate({ prompt, providerOptions: { gateway: { routing: { deadline_ms: 4_000 } } } }),
  )
  expect(full).toMatchObject({ isRetryable: expect.any(Boolean), responseBody: expect.stringContaining('"error"') })
})

test('a stream that breaks has an error part with the status, and ends', async () => {
  const { models } = await start(chat, [acts.errorAfter(2)])
  const parts = await partsOf((await models('test-model').doStream({ prompt })).stream)
  const error = parts.find(part => part.type === 'error')
  expect(APICallError.isInstance(error?.error)).toBe(true)
  expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'error' } })
})

test('raw parts are the events of the gateway, if requested', async () => {
  const { models } = await start(chat, [acts.reply('One.'), acts.reply('One.')])
  const raw = async (includeRawChunks: boolean) =>
    (await partsOf((await models('test-model').doStream({ prompt, includeRawChunks })).stream)).filter(part => part.type === 'raw')
  expect(await raw(false)).toEqual([])
  const kinds = (await raw(true)).map(({ rawValue }) => (rawValue as { readonly type: string }).type)
  expect([kinds[0], kinds.at(-1)]).toEqual(['started', 'finished'])
})

describe('options of the gateway', () => {
  const twoProviders = [chat, traitsOf('messages')] as const
  async function startTwo() {
    const providers = twoProviders.map((traits, at) => scriptedProvider({ id: `p${at + 1}`, dialect: traits.dialect, acts: [] }))
    const testbed = await testGateway({ providers, clock: fasterClock(20) })
    open = { ...testbed, models: signalbox(testbed.gateway, { apiKey: testbed.secret }), provider: providers[0] as ScriptedProvider }
    return { ...open, providers }
  }
  const answeredBy = async (models: Opened['models'], gateway: Record<string, unknown>): Promise<unknown> => {
    const options = { gateway: gateway as never }
    const { providerMetadata } = await generateText({ model: models('test-model'), prompt: 'Hi', providerOptions: options })
    return providerMetadata?.gateway?.provider
  }

  test('order, only, ignore and models choose the provider', async () => {
    const { models } = await startTwo()
    expect(await answeredBy(models, {})).toBe('p1')
    expect(await answeredBy(models, { order: ['p2', 'p1'] })).toBe('p2')
    expect(await answeredBy(models, { only: ['p2'] })).toBe('p2')
    expect(await answeredBy(models, { ignore: ['p1'] })).toBe('p2')
    expect(await answeredBy(models, { models: ['say:text'], sort: 'cost' })).toBe('p1')
    const none = await thrownBy(answeredBy(models, { zeroDataRetention: true }))
    expect(none).toMatchObject({ statusCode: 400, data: { error: { code: 'routing_constraint_unsatisfiable' } } })
  })

  test('user and tags are stored with the request, and not sent to the provider', async () => {
    const { models, gateway, caller, provider } = await startTwo()
    await answeredBy(models, { user: 'ann', tags: ['a', 'b'] })
    expect(JSON.stringify(provider.calls[0]?.body)).not.toContain('ann')
    const [row] = await gateway.workspaces(caller.workspaceId).analytics.requests({})
    expect(row).toMatchObject({ metadata: { user: 'ann', tags: 'a,b' } })
  })

  test('a misspelled option is a 400, and an unknown one a warning', async () => {
    const { models } = await startTwo()
    const error = await thrownBy(answeredBy(models, { order: 'p2' }))
    expect(error).toMatchObject({ statusCode: 400, data: { error: { param: 'providerOptions.gateway.order' } } })
    const { warnings } = await generateText({
      model: models('test-model'),
      prompt: 'Hi',
      providerOptions: { gateway: { headquarters: ['US'] }, acme: { colour: 'red' }, openai: { logitBias: { 1: 2 } } },
    })
    expect(warnings).toMatchObject([
      { type: 'unsupported', feature: 'providerOptions.gateway.headquarters' },
      { type: 'unsupported', feature: 'providerOptions.acme.colour' },
      { type: 'unsupported', feature: 'providerOptions.openai.logitBias' },
    ])
  })

  test('defaults of the provider apply if a call does not override them', async () => {
    const { gateway, secret } = await startTwo()
    const models = signalbox(gateway, { apiKey: secret, providerOptions: { gateway: { only: ['p2'] } } })
    expect(await answeredBy(models, {})).toBe('p2')
    expect(await answeredBy(models, { only: ['p1'] })).toBe('p1')
  })
})
