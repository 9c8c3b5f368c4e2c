import type { JsonObject } from '@signalbox/dialects/protocol'
import { nodeTransport, type ServeOptions, serve } from '@signalbox/node-http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../node-http/test/raw.ts'
import { type Heard, openWebSocket, upgradeStatus, type WebSocketClient } from '../../node-http/test/web-socket-client.ts'
import { sse } from '../src/answers/answer.ts'
import { cannedAnswers } from '../src/answers/writers.ts'
import { chunk, head, type Respond } from '../src/chaos/acts.ts'
import { type ChaosProvider, chaosProvider } from '../src/chaos-provider.ts'
import { type TestGateway, type TestGatewayOptions, testGateway } from '../src/gateway.ts'
import { readEvents } from './read-events.ts'
import { waitFor } from './waits.ts'
import { requestIdOf } from './web-socket-caller.ts'

// Responses over a WebSocket: the same events, limits and money as over HTTP.

interface Fixture extends TestGateway {
  readonly url: string
  readonly provider: ChaosProvider
  readonly open: (secret?: string) => Promise<WebSocketClient>
  /** The bodies that the provider got. */
  readonly sent: () => readonly JsonObject[]
}

async function createFixture(options: TestGatewayOptions = {}, limits: ServeOptions = {}): Promise<Fixture> {
  const provider = await chaosProvider()
  const gateway = await testGateway({ servers: [provider], transport: nodeTransport(), ...options })
  const server = await serve(gateway.gateway, { port: 0, ...limits })
  onTestFinished(async () => {
    await server.close()
    await gateway.close()
    await provider.close()
  })
  return {
    ...gateway,
    url: server.url,
    provider,
    open: (secret = gateway.secret) => openWebSocket(server.url, { authorization: `Bearer ${secret}` }),
    sent: () => provider.requests.map(({ json }) => json ?? {}),
  }
}

const hello = { model: 'test-model', input: 'Hello.' }
const idOf = (messages: readonly Heard[]): string => messages.at(-1)?.response?.id ?? ''
const codeOf = (messages: readonly Heard[]): string | undefined => messages.at(-1)?.error?.code
const rowOf = ({ storage, caller }: TestGateway, messages: readonly Heard[]) =>
  storage.usage.find(caller.workspaceId, requestIdOf(messages[0]?.response?.id ?? ''))

const variable = new Set(['id', 'item_id', 'created_at', 'completed_at', 'routing_metadata'])
/** What two answers to the same request have in common. */
const common = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, held) =>
    variable.has(name) ? undefined : name === 'encrypted_content' ? held.slice(0, 4) : held,
  )

test('sends the same events as the stream over HTTP', async () => {
  const { url, secret, open } = await createFixture()
  const response = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, stream: true }),
  })
  const { events } = readEvents(await response.text())
  const { ask } = await open()
  expect(common(await ask(hello))).toEqual(common(events))
})

test('continues a response of the connection: the provider gets the whole conversation', async () => {
  const { open, sent } = await createFixture()
  const { ask } = await open()
  const first = await ask({ ...hello, instructions: 'Be brief.' })
  const second = await ask({ ...hello, input: [{ role: 'user', content: 'And then?' }], previous_response_id: idOf(first) })
  await ask({ ...hello, input: 'The end?', previous_response_id: idOf(second) })
  // A fork of the conversation.
  await ask({ ...hello, input: 'Or else?', previous_response_id: idOf(first) })
  const roles = sent()
    .slice(1)
    .map(({ input }) => (input as readonly { readonly role: string }[]).map(({ role }) => role))
  expect(roles).toEqual([
    ['user', 'assistant', 'user'],
    ['user', 'assistant', 'user', 'assistant', 'user'],
    ['user', 'assistant', 'user'],
  ])
  expect(JSON.stringify(sent()[2])).toContain('And then?')
  expect(JSON.stringify(sent()[3])).not.toContain('And then?')
})

test('carries tool calls and sealed reasoning from turn to turn', async () => {
  const { open, sent } = await createFixture()
  const { ask } = await open()
  const include = ['reasoning.encrypted_content']
  const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]
  const first = await ask({ model: 'say:tool', input: 'Hello.', include, tools })
  const output = first.at(-1)?.response?.output as unknown as readonly { readonly type: string; readonly call_id?: string }[]
  const call = output.find(({ type }) => type === 'function_call')
  expect(call).toBeDefined()
  const result = { type: 'function_call_output', call_id: call?.call_id, output: 'sunny' }
  const second = await ask({ model: 'test-model', input: [result], tools, previous_response_id: idOf(first) })
  expect(second.at(-1)?.type).toBe('response.completed')
  const input = (sent().at(-1)?.input ?? []) as readonly { readonly type?: string }[]
  const types = input.map(({ type }) => type ?? 'message')
  expect(types).toEqual(expect.arrayContaining(['message', 'function_call', 'function_call_output']))
})

test('continues only a response of its own connection, and forgets what a failed turn continued', async () => {
  const { open } = await createFixture()
  const { ask } = await open()
  const other = await open()
  const first = await ask(hello)
  const missing = await other.ask({ ...hello, previous_response_id: idOf(first) })
  expect(missing).toMatchObject([
    { type: 'error', status: 400, error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
  ])
  expect(missing[0]?.error?.message).toContain(`Previous response with id '${idOf(first)}' not found`)
  expect(codeOf(await ask({ ...hello, temperature: 9, previous_response_id: idOf(first) }))).toBe('invalid_parameter_value')
  expect(codeOf(await ask({ ...hello, previous_response_id: idOf(first) }))).toBe('previous_response_not_found')
  expect((await ask({ ...hello, previous_response_id: null })).at(-1)?.type).toBe('response.completed')
})

test('a warm-up makes no call, costs nothing, and can be continued', async () => {
  const scene = await createFixture()
  const { ask } = await scene.open()
  const warm = await ask({ ...hello, input: [{ role: 'user', content: 'Remember this.' }], generate: false })
  expect(warm.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.completed'])
  expect(warm.at(-1)?.response).toMatchObject({ status: 'completed', output: [], usage: { input_tokens: 0, output_tokens: 0 } })
  const empty = await ask({ ...hello, input: [], generate: false })
  expect(empty.at(-1)?.type).toBe('response.completed')
  expect(scene.provider.requests).toEqual([])
  expect(codeOf(await ask({ model: 'no-such-model', input: 'Hello.', generate: false }))).toBe('model_not_found')
  await ask({ ...hello, previous_response_id: idOf(warm) })
  expect(JSON.stringify(scene.sent())).toContain('Remember this.')
  const rows = await scene.storage.usage.list({ workspaceId: scene.caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 })
  expect(rows).toHaveLength(1)
})

test('errors have the status and the headers that they have over HTTP', async () => {
  const { open } = await createFixture({ limits: { inferenceRpm: 2 } })
  const { ask } = await open()
  expect(await ask({ model: 'no-such-model', input: 'Hello.' })).toMatchObject([
    {
      type: 'error',
      status: 404,
      error: { code: 'model_not_found', type: 'not_found_error' },
      headers: { 'x-request-id': expect.any(String) },
    },
  ])
  await ask(hello)
  await ask(hello)
  expect(await ask(hello)).toMatchObject([
    { status: 429, error: { code: 'requests_per_min_exceeded' }, headers: { 'retry-after': expect.any(String) } },
  ])
})

test('after a key is revoked the next message is a 401, and the connection ends', async () => {
  const { gateway, caller, open, url } = await createFixture()
  const keys = gateway.workspaces(caller.workspaceId).apiKeys
  const { id, secret } = await keys.create({ name: 'short', scopes: ['inference:invoke'] })
  const { ask, untilClosed } = await open(secret)
  expect((await ask(hello)).at(-1)?.type).toBe('response.completed')
  await keys.revoke(id)
  expect(await ask(hello)).toMatchObject([{ status: 401, error: { code: 'invalid_api_key' } }])
  expect(await untilClosed()).toMatchObject({ code: 1008 })
  expect(await upgradeStatus(url, { authorization: `Bearer ${secret}` })).toMatchObject({ status: 401 })
})

test('a budget exhausted during a connection refuses the next message, and the connection stays open', async () => {
  const { gateway, caller, open } = await createFixture()
  const workspace = gateway.workspaces(caller.workspaceId)
  const { ask } = await open()
  const first = await ask({ ...hello, max_output_tokens: 100 })
  expect(first.at(-1)?.type).toBe('response.completed')
  const budget = await workspace.budgets.create({ name: 'small', scope: 'workspace', limit: 1, period: 'total', enforce: true })
  const refused = await ask({ ...hello, max_output_tokens: 100 })
  expect(refused).toMatchObject([{ status: 402, error: { code: 'budget_exceeded' }, headers: { 'x-budget-reset': 'never' } }])
  await workspace.budgets.delete(budget.id)
  expect((await ask({ ...hello, max_output_tokens: 100 })).at(-1)?.type).toBe('response.completed')
})

test('two connections race for the last credit: one request is paid, and the balance is never below zero', async () => {
  const probe = await createFixture()
  const spent = await rowOf(probe, await (await probe.open()).ask({ ...hello, max_output_tokens: 100 }))
  const { open, gateway, caller } = await createFixture({ credit: 0 })
  const workspace = gateway.workspaces(caller.workspaceId)
  const most = (spent?.inputTokens ?? 0) * 3 + 200
  await workspace.billing.credit({ reference: 'little', amount: most })
  const clients = await Promise.all([open(), open(), open(), open()])
  const answers = await Promise.all(clients.map(({ ask }) => ask({ ...hello, max_output_tokens: 100 })))
  const paid = answers.filter(messages => messages.at(-1)?.type === 'response.completed')
  expect(paid.length).toBeGreaterThan(0)
  expect(answers.length - paid.length).toBe(answers.filter(messages => codeOf(messages) === 'insufficient_credits').length)
  const { balance, held } = await workspace.billing.balance()
  expect(balance).toBeGreaterThanOrEqual(0)
  expect({ held, spent: most - balance }).toEqual({ held: 0, spent: paid.length * (spent?.cost ?? 0) })
  expect(paid.length).toBeLessThan(4)
})

/** Sentence after sentence, until the client has disconnected. */
const babble: Respond = async line => {
  await line.write(head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }))
  await line.write(chunk(sse(line.answer.opening)))
  const words = chunk(sse([line.writer.textFrame('and so on '.repeat(40), line.request)]))
  while ((await line.write(words)) && (await line.wait(2)));
}

const departures: readonly (readonly [string, (client: WebSocketClient) => void])[] = [
  ['closes', ({ socket }) => socket.close()],
  ['is cut off', ({ socket }) => socket.terminate()],
]

test.each(departures)('a client that %s before the first content ends the call, and nothing stays held', async (_, leave) => {
  const { open, provider, gateway, caller } = await createFixture()
  const client = await open()
  provider.next('headers-then-silence')
  client.create(hello)
  await provider.until('the provider has the request', ({ requests }) => (requests[0]?.written ?? 0) > 0)
  leave(client)
  await provider.until('the gateway has left', ({ requests }) => requests[0]?.left === true)
  await waitFor(async () => expect(await gateway.workspaces(caller.workspaceId).billing.balance()).toMatchObject({ held: 0 }))
})

test.each(departures)('a client that %s in the middle ends the call, and pays for what it received', async (_, leave) => {
  const scene = await createFixture()
  const client = await scene.open()
  scene.provider.next(babble)
  client.create(hello)
  await until(() => client.types().includes('response.output_text.delta'))
  leave(client)
  await scene.provider.until('the gateway has left', ({ requests }) => requests[0]?.left === true)
  await waitFor(async () => expect(await rowOf(scene, client.heard)).toMatchObject({ result: 'abandoned', streamed: true }))
  expect((await rowOf(scene, client.heard))?.cost).toBeGreaterThan(0)
  expect((await scene.gateway.workspaces(scene.caller.workspaceId).billing.balance()).held).toBe(0)
})

test('keeps the turns of a long conversation within its byte limit', async () => {
  const { open, sent } = await createFixture()
  const { ask } = await open()
  let previous: string | undefined
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await ask({ ...hello, input: `Turn ${turn}.`, ...(previous && { previous_response_id: previous }) })
    previous = idOf(answer)
  }
  expect(sent().at(-1)?.input).toHaveLength(39)
})

const short = (count: number) => Array.from({ length: count }, () => ({ role: 'user', content: 'x' }))

test('a conversation of many messages uses no more than one body may', async () => {
  const { open, provider } = await createFixture()
  const { ask } = await open()
  const first = await ask({ ...hello, input: short(6_000), generate: false })
  const second = await ask({ ...hello, input: short(6_000), previous_response_id: idOf(first) })
  expect(second).toMatchObject([{ type: 'error', status: 400, error: { code: 'invalid_request', param: 'input' } }])
  expect(provider.requests).toEqual([])
  expect((await ask({ ...hello, previous_response_id: idOf(first) })).at(-1)?.type).toBe('response.completed')
})

test('a warm-up does the work of its own message alone, and takes the place of the turn that it continues', async () => {
  const { open, provider } = await createFixture()
  const { ask } = await open()
  const first = await ask({ ...hello, input: short(6_000), generate: false })
  // Both together exceed the limits of one body, which only the work for both can notice.
  const second = await ask({ ...hello, input: short(6_000), generate: false, previous_response_id: idOf(first) })
  expect(second.at(-1)?.type).toBe('response.completed')
  expect(codeOf(await ask({ ...hello, previous_response_id: idOf(first) }))).toBe('previous_response_not_found')
  const third = await ask({ ...hello, previous_response_id: idOf(second) })
  expect(third).toMatchObject([{ type: 'error', status: 400, error: { code: 'invalid_request', param: 'input' } }])
  expect(provider.requests).toEqual([])
})

test('kept turns are counted by their memory, not by their text', async () => {
  const { open } = await createFixture({}, { webSockets: { maxHistoryBytes: 500_000 } })
  const { ask } = await open()
  const small = await ask({ ...hello, input: short(1_000), generate: false })
  expect((await ask({ ...hello, previous_response_id: idOf(small) })).at(-1)?.type).toBe('response.completed')
  const large = await ask({ ...hello, input: short(10_000), generate: false })
  expect(codeOf(await ask({ ...hello, previous_response_id: idOf(large) }))).toBe('previous_response_not_found')
})

describe('limits of a workspace', () => {
  test('apply to all its keys together: connections are counted over them, and another workspace has its own', async () => {
    const testbed = await createFixture({}, { webSockets: { maxConnectionsPerWorkspace: 2 } })
    const { secret: second } = await testbed.gateway.workspaces(testbed.caller.workspaceId).apiKeys.create({ name: 'second' })
    await testbed.open()
    await testbed.open(second)
    expect(await upgradeStatus(testbed.url, { authorization: `Bearer ${second}` })).toMatchObject({ status: 429 })
    const { id } = await testbed.gateway.workspaces.create({ name: 'another', billing: 'postpaid' })
    const { secret: other } = await testbed.gateway.workspaces(id).apiKeys.create({ name: 'k' })
    expect(await upgradeStatus(testbed.url, { authorization: `Bearer ${other}` })).toMatchObject({ status: 101 })
  })

  test('a large invalid message counts against the rate before it is read', async () => {
    const testbed = await createFixture()
    const { secret } = await testbed.gateway.workspaces(testbed.caller.workspaceId).apiKeys.create({ name: 'slow', rateLimitRpm: 1 })
    const { socket, heard, ask } = await testbed.open(secret)
    const invalid = `{"type":"response.create","model":"test-model","input":["${'x'.repeat(200_000)}"`
    for (const status of [400, 429]) {
      heard.length = 0
      socket.send(invalid)
      await expect.poll(() => heard.length).toBe(1)
      expect(heard[0]).toMatchObject({ type: 'error', status })
    }
    expect((await ask(hello)).at(-1)?.type).toBe('response.completed')
  })
})

test.each(['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const)(
  'sends the same as the stream over HTTP, from a provider of %s: text, reasoning, calls, truncation and failures',
  async dialect => {
    const testbed = await createFixture({ dialect })
    const { ask } = await testbed.open()
    for (const name of Object.keys(cannedAnswers)) {
      const body = { model: `say:${name}`, input: 'Hello.' }
      const response = await fetch(`${testbed.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, stream: true }),
      })
      const { events } = readEvents(await response.text())
      expect(common(await ask(body))).toEqual(common(events))
    }
  },
)

describe('a compaction trigger', () => {
  test.each(['responses', 'messages'] as const)('returns one sealed item, from which the conversation continues: %s', async dialect => {
    const { open, sent } = await createFixture({ dialect })
    const { ask } = await open()
    const first = await ask(hello)
    const compacted = await ask({ ...hello, input: [{ type: 'compaction_trigger' }], previous_response_id: idOf(first) })
    const { output = [], status } = compacted.at(-1)?.response ?? {}
    expect({ status, types: output.map(({ type }) => type) }).toEqual({ status: 'completed', types: ['compaction'] })
    expect(compacted.map(({ type }) => type)).toContain('response.output_item.done')

    const next = await ask({ ...hello, input: 'And then?', previous_response_id: idOf(compacted) })
    expect(next.at(-1)).toMatchObject({ type: 'response.completed' })
    const again = await ask({ ...hello, input: [...output, { role: 'user', content: 'And then?' }] })
    expect(again.at(-1)).toMatchObject({ type: 'response.completed' })
    const [, , continued, restarted] = sent().map(body => JSON.stringify(body))
    for (const body of [continued, restarted]) {
      expect(body).toContain('This is a summary of the conversation so far')
      expect(body).not.toMatch(/compaction_trigger|gwc1/)
      expect(body).not.toContain('Hello.')
    }
  })
})
