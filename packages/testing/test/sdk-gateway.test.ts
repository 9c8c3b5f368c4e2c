import { createGateway, type GatewayProvider } from '@ai-sdk/gateway'
import { serve } from '@signalbox/node-http'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { afterEach, describe, expect, test } from 'vitest'
import { type Act, acts, fasterClock, type ScriptedProvider, scriptedProvider, type TestGateway, testGateway } from '../src/index.ts'
import { found, type ProviderTraits, providerTraits, traitsOf } from './drivers/provider-traits.ts'

// `@ai-sdk/gateway` as it is, over sockets: its base URL is all that an app changes.

globalThis.AI_SDK_LOG_WARNINGS = false

interface Opened extends TestGateway {
  readonly provider: ScriptedProvider
  readonly models: GatewayProvider
  readonly url: string
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(traits: ProviderTraits, script: readonly Act[] = []): Promise<Opened> {
  const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
  const testbed = await testGateway({ providers: [provider], clock: fasterClock(20) })
  closing.push(testbed.close)
  const server = await serve(testbed.gateway, { port: 0 })
  closing.push(() => server.close())
  const models = createGateway({ baseURL: `${server.url}/v4/ai`, apiKey: testbed.secret })
  return { ...testbed, provider, models, url: server.url }
}

const chat = traitsOf('chat')
const thrownBy = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  )

describe.each(providerTraits)('before a provider of $name', traits => {
  const look = tool({
    inputSchema: jsonSchema<{ place: string }>({ type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }),
    execute: async ({ place }) => `Rain in ${place}`,
  })

  test.each([false, true])('a loop with parallel tools, with reasoning sent back, streamed: %s', async stream => {
    const tools = ['Bern', 'Uri'].map(place => ({ name: 'look', arguments: JSON.stringify({ place }) }))
    const usage = { input: 100, cached: 60, output: 30, reasoning: 0 }
    const { models, provider } = await start(traits, [acts.reply({ reasoning: 'One.', tools }), acts.reply({ text: 'Done.', usage })])
    const asked = { model: models('test-model'), tools: { look }, stopWhen: isStepCount(3), prompt: 'Go.' }
    const run = stream ? streamText(asked) : await generateText(asked)
    expect(await run.text).toBe('Done.')
    const final = (await run.steps).at(-1)
    expect(final?.usage).toMatchObject({ inputTokens: 100, inputTokenDetails: { cacheReadTokens: 60 }, outputTokens: 30 })
    expect(final?.providerMetadata?.gateway).toMatchObject({ provider: 'scripted', costMicrodollars: expect.any(Number) })
    const body = provider.calls[1]?.body
    expect(found(body, traits.result).map(({ output }) => output)).toEqual(['Rain in Bern', 'Rain in Uri'])
    if (traits.signature) expect(JSON.stringify(body)).toContain(traits.signature)
  })

  test('an abort aborts the call to the provider', async () => {
    const { models, provider } = await start(traits, [acts.pauseAfter(4, 60_000)])
    const abort = new AbortController()
    const run = streamText({ model: models('test-model'), prompt: 'Go.', abortSignal: abort.signal })
    for await (const text of run.textStream) if (text !== '') abort.abort()
    await expect.poll(() => provider.calls[0]?.aborted).toBe(true)
  })
})

test('lists the models with their prices, and the credit', async () => {
  const { models, gateway, caller } = await start(chat)
  const { models: list } = await models.getAvailableModels()
  expect(list.find(({ id }) => id === 'test-model')).toEqual({
    id: 'test-model',
    name: 'test-model',
    modelType: 'language',
    pricing: { input: '0.000001', output: '0.000002' },
    specification: { specificationVersion: 'v4', provider: 'scripted', modelId: 'test-model' },
  })
  await generateText({ model: models('test-model'), prompt: 'Hi' })
  const { balance, spent } = await gateway.workspaces(caller.workspaceId).billing.balance()
  expect(spent).toBeGreaterThan(0)
  expect(await models.getCredits()).toEqual({ balance: String(balance / 1e6), totalUsed: String(spent / 1e6) })
})

describe('errors have the classes of the package', () => {
  test.each([
    { status: 400, code: 'invalid_request_error', name: 'GatewayInvalidRequestError', statusCode: 400 },
    { status: 429, code: 'rate_limit_exceeded', name: 'GatewayRateLimitError', statusCode: 429 },
    { status: 500, code: 'server_error', name: 'GatewayInternalServerError', statusCode: 502 },
  ])('a $status of the provider', async ({ status, code, name, statusCode }) => {
    const { models } = await start(
      chat,
      Array.from({ length: 8 }, () => acts.status(status, { code })),
    )
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }]
    for (const way of ['doGenerate', 'doStream'] as const)
      expect(await thrownBy(models('test-model')[way]({ prompt }))).toMatchObject({ name, statusCode, generationId: expect.any(String) })
  })

  test('an unknown model, an unknown key, and a key without the scope', async () => {
    const { models, url, gateway, caller } = await start(chat)
    expect(await thrownBy(generateText({ model: models('test-modle'), prompt: 'Hi' }))).toMatchObject({
      name: 'GatewayModelNotFoundError',
      statusCode: 404,
    })
    const stranger = createGateway({ baseURL: `${url}/v4/ai`, apiKey: 'ak_wrong' })
    expect(await thrownBy(stranger('test-model').doGenerate({ prompt: [] }))).toMatchObject({
      name: 'GatewayAuthenticationError',
      statusCode: 401,
    })
    const { secret } = await gateway.workspaces(caller.workspaceId).apiKeys.create({ name: 'inference', scopes: ['inference:invoke'] })
    const narrow = createGateway({ baseURL: `${url}/v4/ai`, apiKey: secret })
    expect((await narrow.getAvailableModels()).models.length).toBeGreaterThan(0)
    expect(await thrownBy(narrow.getCredits())).toMatchObject({ name: 'GatewayForbiddenError', statusCode: 403 })
  })

  test('a stream that breaks has an error part', async () => {
    const { models } = await start(chat, [acts.errorAfter(2)])
    const errors: unknown[] = []
    const run = streamText({ model: models('test-model'), prompt: 'Hi', onError: ({ error }) => void errors.push(error) })
    await run.consumeStream()
    expect(errors).toMatchObject([{ message: expect.stringContaining('The server had an error.'), code: 'provider_error' }])
  })
})

test('an older version of the protocol is refused with its version', async () => {
  const { url, secret } = await start(chat)
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'ai-language-model-id': 'test-model' }
  const old = await fetch(`${url}/v4/ai/language-model`, {
    method: 'POST',
    headers: { ...headers, 'ai-language-model-specification-version': '2' },
    body: '{"prompt":[]}',
  })
  expect([old.status, await old.json()]).toMatchObject([400, { error: { param: 'ai-language-model-specification-version' } }])
})

test('what cannot be expressed is reported in a bounded number of warnings', async () => {
  const { url, secret } = await start(chat)
  const custom = { role: 'assistant', content: Array.from({ length: 5_000 }, () => ({ type: 'custom' })) }
  const answer = await fetch(`${url}/v4/ai/language-model`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'ai-language-model-id': 'test-model' },
    body: JSON.stringify({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, custom, custom] }),
  })
  expect(answer.status).toBe(200)
  const { warnings } = (await answer.json()) as { readonly warnings: readonly unknown[] }
  expect(warnings.length).toBeGreaterThan(1)
  expect(warnings.length).toBeLessThan(60)
})
