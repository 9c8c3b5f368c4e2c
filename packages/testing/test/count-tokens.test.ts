import { getEventListeners } from 'node:events'
import type { Offer } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { anthropic, compatible } from '@signalbox/providers'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../src/fake-clock.ts'
import { type TestGateway, type TestGatewayOptions, testGateway } from '../src/gateway.ts'
import { serveFetch } from './fetch-server.ts'

interface Seen {
  readonly path: string
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close()
})

const price = { input: 1_000_000, output: 1_000_000 }
const offer = (provider: string, dialect: string): Offer => ({
  provider,
  model: `its-${provider}`,
  api: dialect,
  contextWindow: 50,
  price,
})

/** A gateway before a counter of this behaviour, and one that has none. */
async function counting(
  answer: (seen: Seen) => Response | Promise<Response>,
  options: TestGatewayOptions = {},
): Promise<TestGateway & { readonly seen: readonly Seen[] }> {
  const seen: Seen[] = []
  const server = await serveFetch(async request => {
    const call = { path: new URL(request.url).pathname, headers: request.headers, body: await request.json(), signal: request.signal }
    seen.push(call)
    return answer(call)
  })
  const testbed = await testGateway({
    providers: [compatible({ id: 'plain', baseURL: server.url }), anthropic({ apiKey: 'sk-ours', baseURL: `${server.url}/v1` })],
    models: [
      { id: 'counted', offers: [offer('plain', 'chat'), offer('anthropic', 'messages')] },
      { id: 'uncounted', offers: [{ ...offer('plain', 'chat'), delivery: 'stream_only' }] },
    ],
    ...options,
  })
  closing.push(testbed, server)
  return Object.assign(testbed, { seen })
}

const body = { model: 'counted', system: 'Be brief.', messages: [{ role: 'user', content: 'How long is this? '.repeat(100) }] }
const ask = async (
  testbed: TestGateway,
  change: object = {},
): Promise<{ readonly status: number; readonly said: unknown; readonly estimated: boolean }> => {
  const response = await toFetchHandler(testbed.gateway)('http://x/v1/messages/count_tokens?beta=true', {
    method: 'POST',
    headers: { 'x-api-key': testbed.secret, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...change }),
  })
  return { status: response.status, said: await response.json(), estimated: response.headers.get('x-token-count') === 'estimated' }
}
const spent = async ({ gateway, caller }: TestGateway): Promise<unknown> => {
  const { balance, held } = await gateway.workspaces(caller.workspaceId).billing.balance()
  return [balance, held]
}

describe('the provider’s own counter', () => {
  test('is called if a candidate has one, with the whole request, and nothing is charged', async () => {
    const testbed = await counting(() => Response.json({ input_tokens: 4711 }))
    const before = await spent(testbed)
    expect(await ask(testbed, { max_tokens: 5, stop_sequences: ['x'] })).toEqual({
      status: 200,
      said: { input_tokens: 4711 },
      estimated: false,
    })
    expect(testbed.seen).toHaveLength(1)
    expect(testbed.seen[0]?.path).toBe('/v1/messages/count_tokens')
    expect(testbed.seen[0]?.headers.get('x-api-key')).toBe('sk-ours')
    expect(Object.keys(testbed.seen[0]?.body ?? {}).sort()).toEqual(['messages', 'model', 'system'])
    expect(await spent(testbed)).toEqual(before)
  })

  test.each<[string, () => Response]>([
    ['refuses', () => Response.json({ type: 'error', error: { type: 'authentication_error', message: 'No.' } }, { status: 401 })],
    ['is overloaded', () => Response.json({}, { status: 529 })],
    ['says no number', () => Response.json({ input_tokens: 'many' })],
    ['says an impossible number', () => Response.json({ input_tokens: -1 })],
    ['sends a page', () => new Response('<html>')],
    ['sends a stream', () => new Response('data: {"input_tokens":1}\n\n', { headers: { 'content-type': 'text/event-stream' } })],
  ])('that %s is replaced by an estimate, and its provider is not demoted', async (_, answer) => {
    const testbed = await counting(answer)
    const { status, estimated, said } = await ask(testbed)
    expect([status, estimated]).toEqual([200, true])
    expect(said).toEqual({ input_tokens: expect.any(Number) })
    const request = testbed.gateway.dialects.responses.decodeRequest({ model: 'counted', input: 'Hi' })
    expect((await testbed.gateway.plan(request, testbed.caller)).candidates.map(({ provider }) => provider.id)).toEqual([
      'plain',
      'anthropic',
    ])
  })

  test('that does not respond is aborted', async () => {
    const clock = fakeClock()
    const testbed = await counting(() => new Promise<Response>(() => {}), { clock })
    const asked = ask(testbed)
    await expect.poll(() => testbed.seen.length).toBe(1)
    await clock.advance(5_000)
    expect(await asked).toMatchObject({ status: 200, estimated: true })
    await expect.poll(() => testbed.seen[0]?.signal.aborted).toBe(true)
  })

  test('is aborted when the client disconnects', async () => {
    const testbed = await counting(() => new Promise<Response>(() => {}))
    const leaving = new AbortController()
    const counted = testbed.gateway.messages.countTokens(body, { caller: testbed.caller, signal: leaving.signal })
    await expect.poll(() => testbed.seen.length).toBe(1)
    leaving.abort()
    expect(await counted).toMatchObject({ estimated: true })
    await expect.poll(() => testbed.seen[0]?.signal.aborted).toBe(true)
  })
})

test('does not keep a listener on a signal that outlives the count', async () => {
  const testbed = await counting(() => Response.json({ input_tokens: 1 }))
  const { signal } = new AbortController()
  await testbed.gateway.messages.countTokens(body, { caller: testbed.caller, signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('the length is estimated if no provider can count, whatever the context windows and deliveries', async () => {
  const testbed = await counting(() => Response.json({}))
  const { status, said, estimated } = await ask(testbed, { model: 'uncounted' })
  expect([status, estimated, testbed.seen.length]).toEqual([200, true, 0])
  // Six tokens, a hundred times.
  expect(Math.abs((said as { readonly input_tokens: number }).input_tokens - 510)).toBeLessThan(60)
})

test('counting is limited by the rate of the key, and calls no provider beyond it', async () => {
  const testbed = await counting(() => Response.json({ input_tokens: 1 }), { limits: { inferenceRpm: 2 } })
  expect((await ask(testbed)).status).toBe(200)
  expect((await ask(testbed)).status).toBe(200)
  expect(await ask(testbed)).toMatchObject({ status: 429, said: { type: 'error', error: { type: 'rate_limit_error' } } })
  expect(testbed.seen).toHaveLength(2)
})

test('an unknown model, a body without messages and a key without the scope are refused', async () => {
  const testbed = await counting(() => Response.json({ input_tokens: 1 }))
  expect((await ask(testbed, { model: 'countd' })).status).toBe(404)
  expect((await ask(testbed, { messages: undefined })).status).toBe(400)
  const { secret } = await testbed.gateway.workspaces(testbed.caller.workspaceId).apiKeys.create({ name: 'reader', scopes: ['usage:read'] })
  expect((await ask({ ...testbed, secret })).status).toBe(403)
  expect(testbed.seen).toEqual([])
})

test('a gateway that is closing refuses to count', async () => {
  const testbed = await counting(() => Response.json({ input_tokens: 1 }))
  const { gateway, caller } = testbed
  const request = gateway.dialects.responses.decodeRequest({ model: 'counted', input: 'Hi' })
  await gateway.close()
  await expect(gateway.countTokens(request, caller)).rejects.toMatchObject({ code: 'service_unavailable' })
})
