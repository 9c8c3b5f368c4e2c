import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import type { ClaimMemory } from '@signalbox/core/runtime'
import { clientDialects, responsesProvider } from '@signalbox/dialects'
import { GatewayError } from '@signalbox/dialects/errors'
import { gatewayFetch } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'
import type { ResponseStreamEvent } from '@signalbox/gateway/in-process'
import { serve } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openWebSocket } from '../../node-http/test/web-socket-client.ts'
import { type Act, acts, fakeClock, scriptedProvider, type TestGatewayOptions, testGateway } from '../src/index.ts'
import { found, providerTraits } from './drivers/provider-traits.ts'
import { look } from './drivers/scenes.ts'

// The AI SDK takes answers of the Responses API for stored: it refers to items of earlier turns by id. Nothing is set that would
// keep it from doing so.

globalThis.AI_SDK_LOG_WARNINGS = false

interface Testbed {
  readonly baseURL: string
  readonly apiKey: string
  readonly fetch?: typeof fetch
}

const openGateway = async (options: TestGatewayOptions) => {
  const opened = await testGateway(options)
  onTestFinished(opened.close)
  return opened
}

/** The ways to a gateway: over HTTP, and in process. */
const ways: readonly { readonly name: string; readonly open: (options: TestGatewayOptions) => Promise<Testbed> }[] = [
  {
    name: 'over HTTP',
    async open(options) {
      const { gateway, secret } = await openGateway(options)
      const server = await serve(gateway, { port: 0 })
      onTestFinished(() => server.close())
      return { baseURL: `${server.url}/v1`, apiKey: secret }
    },
  },
  {
    name: 'in process',
    async open(options) {
      const { gateway, secret } = await openGateway(options)
      return { baseURL: 'http://signalbox.local/v1', apiKey: secret, fetch: gatewayFetch(gateway) }
    },
  },
]

const modelOf = (testbed: Testbed, name = 'test-model') => createOpenAI(testbed)(name)

/** One turn, whole or streamed: the messages of its answer, and its text. */
async function turn(stream: boolean, options: Parameters<typeof generateText>[0]) {
  const asked = { maxRetries: 0, ...options }
  if (!stream) {
    const { text, responseMessages } = await generateText(asked)
    return { text, messages: responseMessages }
  }
  const errors: unknown[] = []
  const result = streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
  await result.consumeStream()
  if (errors.length > 0) throw errors[0]
  return { text: await result.text, messages: await result.responseMessages }
}

const user = (content: string): ModelMessage => ({ role: 'user', content })

describe.each(ways)('the unmodified AI SDK, $name', ({ name, open }) => {
  describe.each(providerTraits)('before a provider of $name', traits => {
    // The default run leads one conversation with each provider, and one tool loop.
    const number = providerTraits.indexOf(traits) + Number(name === 'in process')
    const deliveries = [false, true].filter((_, at) => inject('isLongRun') || at === number % 2)
    const others = inject('isLongRun') ? deliveries : deliveries.map(stream => !stream)

    test.each(deliveries)('continues a conversation of many turns, streamed: %s', async stream => {
      const turns = inject('isLongRun') ? 20 : 6
      const script = Array.from({ length: turns }, (_, at) => acts.reply({ reasoning: `Thought ${at}.`, text: `Answer ${at}.` }))
      const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
      const model = modelOf(await open({ providers: [provider] }))
      let messages: readonly ModelMessage[] = []
      for (let at = 0; at < turns; at++) {
        messages = [...messages, user(`Question ${at}?`)]
        const answer = await turn(stream, { model, messages: [...messages] })
        expect(answer.text).toBe(`Answer ${at}.`)
        messages = [...messages, ...answer.messages]
      }
      const last = JSON.stringify(provider.calls.at(-1)?.body)
      expect(last).not.toContain('item_reference')
      for (let at = 0; at < turns; at++) expect(last.split(`Question ${at}?`)).toHaveLength(2)
      for (let at = 0; at < turns - 1; at++) expect(last.split(`Answer ${at}.`)).toHaveLength(2)
    })

    test.each(others)('runs a tool loop with a text before the call, and a turn after it, streamed: %s', async stream => {
      const calling = { name: look.name, arguments: '{"place":"Zürich"}' }
      const script: readonly Act[] = [
        acts.reply({ reasoning: 'Hm.', text: 'Looking.', tools: [calling, { ...calling, arguments: '{"place":"Kyōto"}' }] }),
        acts.reply({ text: 'Looking again.', tools: [calling] }),
        acts.reply('It rains.'),
        acts.reply('You are welcome.'),
      ]
      const provider = scriptedProvider({ id: 'scripted', dialect: traits.dialect, acts: script })
      const model = modelOf(await open({ providers: [provider] }))
      const inputSchema = jsonSchema<{ place: string }>(look.parameters)
      const tools = { look: tool({ description: 'Looks.', inputSchema, execute: async ({ place }) => `Rain in ${place}` }) }
      const first = await turn(stream, { model, messages: [user('Go.')], tools, stopWhen: isStepCount(5) })
      expect(first.text).toBe('It rains.')
      const messages = [user('Go.'), ...first.messages, user('Thanks.')]
      expect((await turn(stream, { model, messages, tools })).text).toBe('You are welcome.')
      const body = provider.calls[3]?.body
      expect(found(body, traits.result).map(({ output }) => output)).toEqual(['Rain in Zürich', 'Rain in Kyōto', 'Rain in Zürich'])
      expect(found(body, traits.result).map(({ id }) => id)).toEqual(found(body, traits.call).map(({ id }) => id))
      const sent = JSON.stringify(body)
      for (const text of ['Looking.', 'Looking again.', 'It rains.']) expect(sent.split(text)).toHaveLength(2)
      const places = ['Go.', 'Looking.', 'Rain in Kyōto', 'Looking again.', 'It rains.', 'Thanks.'].map(text => sent.indexOf(text))
      expect(places).toEqual(places.toSorted((one, other) => one - other))
    })
  })
})

const say = (gateway: Gateway, apiKey: string, body: object) =>
  gateway.responses.create({ model: 'test-model', input: 'Hi.', ...body }, { apiKey })
const reference = (id: string | undefined) => ({
  input: [
    { type: 'item_reference', id },
    { role: 'user', content: 'And?' },
  ],
})

const responsesScript = (...script: readonly Act[]) => scriptedProvider({ id: 'scripted', dialect: responsesProvider, acts: script })

test('each form of a reference is replaced by the item as it was returned', async () => {
  const provider = responsesScript(acts.reply('The first answer.'))
  const { gateway, secret } = await openGateway({ providers: [provider] })
  const first = await say(gateway, secret, {})
  const item = first.output[0]
  await say(gateway, secret, { input: [...first.output, { role: 'user', content: 'And?' }] })
  const whole = provider.calls[1]?.body
  for (const short of [{ type: 'item_reference', id: item?.id }, { id: item?.id }, { type: 'message', id: item?.id }]) {
    await say(gateway, secret, { input: [short, { role: 'user', content: 'And?' }] })
    expect(provider.calls.at(-1)?.body).toEqual(whole)
  }
  // The SDK refers twice to a call that the provider made and answered itself.
  await say(gateway, secret, { input: [{ id: item?.id }, { id: item?.id }, { role: 'user', content: 'And?' }] })
  expect(provider.calls.at(-1)?.body).toEqual(whole)
})

test('mutating a response does not change the stored items', async () => {
  const provider = responsesScript(acts.reply('The first answer.'))
  const { gateway, secret } = await openGateway({ providers: [provider] })
  const { output } = await say(gateway, secret, {})
  const id = output[0]?.id
  Object.assign(output[0] ?? {}, { content: [], role: 'system' })
  await say(gateway, secret, reference(id))
  expect(JSON.stringify(provider.calls[1]?.body)).toContain('The first answer.')
})

test('a provider that gives every item the same id mixes up no conversations', async () => {
  const answers = Array.from({ length: 6 }, (_, at) => acts.reply(`Answer ${at}.`))
  const provider = responsesScript(...answers)
  const { gateway, secret } = await openGateway({ providers: [provider] })
  const firsts = await Promise.all([0, 1, 2].map(() => say(gateway, secret, {})))
  const texts = firsts.map(({ output_text }) => output_text)
  expect(new Set(firsts.map(({ output }) => output[0]?.id)).size).toBe(3)
  for (const [at, { output }] of firsts.entries()) {
    await say(gateway, secret, reference(output[0]?.id))
    expect(JSON.stringify(provider.calls.at(-1)?.body)).toContain(texts[at])
  }
})

test('an incomplete response can be referred to, a failed one cannot', async () => {
  const provider = responsesScript(acts.reply({ text: 'Half an ans', finish: 'length' }), acts.errorAfter(4))
  const { gateway, secret } = await openGateway({ providers: [provider] })
  const cut = await say(gateway, secret, {})
  expect(cut.status).toBe('incomplete')
  await expect(say(gateway, secret, { stream: true }).then(consume)).rejects.toThrow()
  await say(gateway, secret, reference(cut.output[0]?.id))
  expect(JSON.stringify(provider.calls.at(-1)?.body)).toContain('Half an ans')
})

describe('a reference to an unknown item is a 400', () => {
  const refused = (message: string) => ({
    ...{ status: 400, code: 'invalid_parameter_value', message: expect.stringContaining(message) },
    facts: expect.objectContaining({ param: 'input[0]', suggestion: expect.stringContaining('`store: false`') }),
  })

  test('for another workspace', async () => {
    const { gateway, secret } = await openGateway({ providers: [responsesScript()] })
    const { id } = await gateway.workspaces.create({ name: 'Other' })
    await gateway.workspaces(id).billing.credit({ reference: 'first', amount: 1_000_000 })
    const other = await gateway.workspaces(id).apiKeys.create({ name: 'other', scopes: '*' })
    const first = (await say(gateway, secret, {})).output[0]?.id
    await expect(say(gateway, other.secret, reference(first))).rejects.toMatchObject(refused(`"${first}"`))
    await say(gateway, secret, reference(first))
  })

  test('once it has expired by the monotonic clock, whatever the wall clock', async () => {
    const clock = fakeClock()
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], clock })
    const id = (await say(gateway, secret, {})).output[0]?.id
    for (const jump of [100 * 3_600_000, -200 * 3_600_000]) {
      clock.jump(jump)
      await clock.advance(3_500_000)
      await say(gateway, secret, reference(id))
    }
    await clock.advance(3_600_000)
    await expect(say(gateway, secret, reference(id))).rejects.toMatchObject(refused('stored for an hour after their last use'))
    await expect(say(gateway, secret, reference(id))).rejects.toMatchObject(refused(`"${id}"`))
  })

  test('if the gateway stores none', async () => {
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], storedItems: false })
    const id = (await say(gateway, secret, {})).output[0]?.id
    await expect(say(gateway, secret, reference(id))).rejects.toMatchObject(refused('this gateway stores no items'))
  })

  test('if the request, or its workspace, demands zero data retention', async () => {
    const provider = { ...responsesScript(), dataPolicy: 'zdr' }
    const { gateway, secret, caller } = await openGateway({ providers: [provider] })
    const retained = (await say(gateway, secret, { gateway: { routing: { data_policy: 'zdr' } } })).output[0]?.id
    await expect(say(gateway, secret, reference(retained))).rejects.toMatchObject(refused('which was not found'))
    const kept = (await say(gateway, secret, {})).output[0]?.id
    await gateway.workspaces(caller.workspaceId).settings.update({ dataPolicyRequired: 'zdr' })
    await expect(say(gateway, secret, reference(kept))).rejects.toMatchObject(refused('this gateway stores no items'))
    await say(gateway, secret, {})
  })

  test('a reference to reasoning alone is left out, with a warning', async () => {
    const provider = responsesScript()
    const { gateway, secret } = await openGateway({ providers: [provider] })
    const { warnings } = await say(gateway, secret, reference('rs_unknown'))
    expect(warnings).toMatchObject([{ code: 'reasoning_state_dropped' }])
    expect(JSON.stringify(provider.calls[0]?.body)).not.toContain('rs_unknown')
  })
})

async function consume(events: unknown): Promise<void> {
  for await (const _ of events as AsyncIterable<unknown>);
}

test('many conversations of many turns stay separate in one process', async () => {
  const [conversations, turns] = inject('isLongRun') ? [1_000, 20] : [30, 6]
  const echo: Act = context =>
    acts.reply(
      `Heard ${JSON.stringify(context.body.input)
        .match(/"Say [^"]+"/g)
        ?.at(-1)}.`,
    )(context)
  const provider = scriptedProvider({ id: 'scripted', dialect: responsesProvider })
  provider.play(...Array.from({ length: conversations * turns }, () => echo))
  const { gateway, secret } = await openGateway({
    providers: [provider],
    limits: { inferenceRpm: 1_000_000, concurrentRequests: 10_000 },
  })
  const model = modelOf({ baseURL: 'http://signalbox.local/v1', apiKey: secret, fetch: gatewayFetch(gateway) })
  const histories = Array.from({ length: conversations }, (): ModelMessage[] => [])
  for (let at = 0; at < turns; at++) {
    const before = provider.calls.length
    for (const [number, history] of histories.entries()) {
      history.push(user(`Say ${number}.${at}`))
      const answer = await turn(false, { model, messages: history })
      expect(answer.text).toBe(`Heard "Say ${number}.${at}".`)
      history.push(...answer.messages)
    }
    const sent = JSON.stringify(provider.calls[before + conversations - 1]?.body)
    for (let earlier = 0; earlier < at; earlier++) expect(sent).toContain(`Heard \\"Say ${conversations - 1}.${earlier}\\".`)
  }
}, 600_000)

describe('with stored items', () => {
  const sealingKey = new Uint8Array(32).fill(7)
  const refusal = { code: 'invalid_parameter_value', message: expect.stringContaining('stored for an hour after their last use') }

  test('two processes on one SQLite file serve one conversation', async () => {
    const file = await temporaryFile()
    const first = await startServer(file)
    const second = await startServer(file)
    const [conversations, turns] = inject('isLongRun') ? [1_000, 20] : [10, 6]
    const models = [first, second].map(({ url }) => modelOf({ baseURL: `${url}/v1`, apiKey: first.secret }))
    const converse = async (stream: boolean): Promise<void> => {
      const messages: ModelMessage[] = []
      for (let at = 0; at < turns; at++) {
        messages.push(user('And?'))
        const answer = await turn(stream, { model: models[at % 2] ?? 'test-model', messages })
        expect(answer.text).toBe(`Heard ${at} earlier answers.`)
        messages.push(...answer.messages)
      }
    }
    for (let from = 0; from < conversations; from += 10) await Promise.all(Array.from({ length: 10 }, (_, at) => converse(at % 2 === 0)))
  }, 3_600_000)

  test('no text of an item is in the file in plain text, and another workspace cannot refer to it', async () => {
    const file = await temporaryFile()
    const storage = sqliteStorage(file)
    const provider = responsesScript(acts.reply({ reasoning: 'a thought of mine', text: 'The capital of Peru is Lima.' }))
    const { gateway, secret } = await openGateway({ providers: [provider], storage, sealingKey, storedItems: { store: true } })
    const { output } = await say(gateway, secret, {})
    const id = output.at(-1)?.id
    const { id: otherId } = await gateway.workspaces.create({ name: 'Other' })
    await gateway.workspaces(otherId).billing.credit({ reference: 'first', amount: 1_000_000 })
    const other = await gateway.workspaces(otherId).apiKeys.create({ name: 'other', scopes: '*' })
    await expect(say(gateway, other.secret, reference(id))).rejects.toMatchObject(refusal)
    await say(gateway, secret, reference(id))
    expect(JSON.stringify(provider.calls[1]?.body)).toContain('The capital of Peru is Lima.')
    const bytes = Buffer.concat(await Promise.all([file, `${file}-wal`].map(each => readFile(each).catch(() => Buffer.alloc(0)))))
    expect(bytes.includes(String(id))).toBe(true)
    for (const text of ['capital', 'Lima', 'a thought of mine', 'output_text']) expect(bytes.includes(text)).toBe(false)
  })

  test.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('items have expired after the wall clock was set %s by an hour', async (_, jump) => {
    const clock = fakeClock()
    const options = { clock, sealingKey, storedItems: { store: true } }
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], storage: sqliteStorage(':memory:'), ...options })
    const id = (await say(gateway, secret, {})).output[0]?.id
    await say(gateway, secret, reference(id))
    clock.jump(jump)
    await expect(say(gateway, secret, reference(id))).rejects.toMatchObject(refusal)
  })

  test('each use renews items, and an hour without use expires them', async () => {
    const clock = fakeClock()
    const options = { clock, sealingKey, storedItems: { store: true } }
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], storage: sqliteStorage(':memory:'), ...options })
    const id = (await say(gateway, secret, {})).output[0]?.id
    for (let hours = 0; hours < 3; hours++) {
      await clock.advance(3_500_000)
      await say(gateway, secret, reference(id))
    }
    await clock.advance(3_600_000)
    await expect(say(gateway, secret, reference(id))).rejects.toMatchObject(refusal)
  })

  test('a storage that fails loses the items, not the response; one that cannot be read is a 503', async () => {
    const storage = memoryStorage()
    const fail = (): never => {
      throw new Error('The disk is gone.')
    }
    const broken = { ...storage, items: { ...storage.items, put: fail, find: fail, renew: fail } }
    const options = { storage: broken, sealingKey, storedItems: { store: true } }
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], ...options })
    const { output, status } = await say(gateway, secret, {})
    expect(status).toBe('completed')
    await expect(say(gateway, secret, reference(output[0]?.id))).rejects.toMatchObject({ status: 503 })
  })

  test('the end of a stream is sent once its items are stored, over HTTP and in process', async () => {
    const storage = memoryStorage()
    const { items } = storage
    if (!items) throw new Error('The storage keeps no items.')
    const stored: string[] = []
    const put: typeof items.put = async (rows, ...rest) => {
      await new Promise(resolve => setTimeout(resolve, 50))
      stored.push(...rows.map(({ id }) => id))
      return items.put(rows, ...rest)
    }
    const options = { storage: { ...storage, items: { ...items, put } }, sealingKey, storedItems: { store: true } }
    const { gateway, secret } = await openGateway({ providers: [responsesScript()], ...options })
    const check = (event: ResponseStreamEvent): void => {
      if (event.type === 'response.completed') expect(stored).toContain(event.response.output[0]?.id)
    }
    for await (const event of await gateway.responses.create({ model: 'test-model', input: 'Hi.', stream: true }, { apiKey: secret }))
      check(event)
    const fetched = gatewayFetch(gateway)
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'test-model', input: 'Hi.', stream: true })
    const response = await fetched('http://signalbox.local/v1/responses', { method: 'POST', headers, body })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('response.completed')) expect(stored).toHaveLength(2)
    }
    expect(text).toContain('response.completed')
    const whole = await say(gateway, secret, {})
    expect(stored).toContain(whole.output[0]?.id)
  })
})

async function temporaryFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-items-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'items.db')
}

async function startServer(file: string): Promise<{ readonly url: string; readonly secret: string }> {
  const child = spawn(process.execPath, [inject('programs')['item-server'], file], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await new Promise<string>((done, fail) => {
    child.stdout.once('data', (data: Buffer) => done(data.toString()))
    child.once('exit', code => fail(new Error(`The server ended with ${code} before it listened.`)))
  })
  return JSON.parse(line)
}

test.each([{}, { store: true }])(
  'items that replace references count as memory of the request before it continues: %j',
  async storedItems => {
    const provider = scriptedProvider({
      id: 'scripted',
      dialect: responsesProvider,
      acts: [acts.reply('x'.repeat(50_000)), acts.reply('ok')],
    })
    const { gateway, caller } = await openGateway({ providers: [provider], storedItems, sealingKey: new Uint8Array(32).fill(7) })
    const said = { model: 'test-model', input: 'Say much.' }
    const { output } = await gateway.responses.create(said, { caller })
    const id = (output[0] as { readonly id: string }).id
    const asked = clientDialects.responses.decodeRequest({
      model: 'test-model',
      input: [
        { type: 'item_reference', id },
        { role: 'user', content: 'And?' },
      ],
    })
    const claims: number[] = []
    const claimMemory: ClaimMemory = bytes => {
      claims.push(bytes)
      if (claims.length === 1) throw new GatewayError('service_unavailable', { message: 'Full.' })
      return () => {}
    }
    await expect(gateway.infer(asked, { caller, claimMemory }).whole()).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(provider.calls).toHaveLength(1)
    claims.length = 0
    await expect(gateway.countTokens(asked, caller, { claimMemory })).rejects.toMatchObject({ code: 'service_unavailable' })
    await gateway.infer(asked, { caller, claimMemory }).whole()
    expect(claims.every(bytes => bytes > 50_000 && bytes < 200_000)).toBe(true)
  },
)

test('requests with large referenced items share the memory limit of their workspace, also over HTTP and in the warm-up of a WebSocket', async () => {
  const provider = scriptedProvider({
    id: 'scripted',
    dialect: responsesProvider,
    acts: [acts.reply('x'.repeat(50_000)), acts.stall(60_000)],
  })
  const { gateway, secret } = await openGateway({ providers: [provider] })
  const server = await serve(gateway, { port: 0, maxBodyBytes: 60_000, maxUploadBytesPerWorkspace: 60_000 })
  onTestFinished(() => server.close())
  const post = (input: unknown, signal?: AbortSignal) =>
    fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', input }),
      ...(signal && { signal }),
    })
  const first = (await (await post('Say much.')).json()) as { readonly output: readonly { readonly id: string }[] }
  const reference = [
    { type: 'item_reference', id: first.output[0]?.id },
    { role: 'user', content: 'And?' },
  ]
  const leaving = new AbortController()
  const held = post(reference, leaving.signal).catch(() => undefined)
  await expect.poll(() => provider.calls.length).toBe(2)
  const refused = await post(reference)
  expect(refused.status).toBe(429)
  const { ask } = await openWebSocket(server.url, { authorization: `Bearer ${secret}` })
  const warmUp = { model: 'test-model', input: reference, generate: false }
  expect(await ask(warmUp)).toMatchObject([{ status: 429 }])
  leaving.abort()
  await held
  await expect.poll(async () => (await post(reference)).status).toBe(200)
  expect((await ask(warmUp)).at(-1)?.type).toBe('response.completed')
})
