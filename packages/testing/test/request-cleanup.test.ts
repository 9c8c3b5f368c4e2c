import { chatProvider } from '@signalbox/dialects'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Frame, Offer, Provider, Transport } from '@signalbox/dialects/protocol'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { nodeTransport } from '@signalbox/node-http'
import { compatible } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { settleInParts } from '@signalbox/storage/settlement'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterEach, expect, test } from 'vitest'
import { sse } from '../src/answers/index.ts'
import { acts, chaosProvider, defaultText, fakeClock, scriptedProvider, testGateway } from '../src/index.ts'
import { waitFor } from './waits.ts'

// However a request ends, nothing remains: no hold, no slot, no connection, and one usage record.

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const request = (gateway: Gateway, more: object = {}) =>
  gateway.dialects.responses.decodeRequest({ model: 'test-model', input: 'Hi', stream: true, ...more })

async function testbed(options: Parameters<typeof testGateway>[0]) {
  const made = await testGateway(options)
  closing.push(made.close)
  const books = async () => {
    const { workspaceId, keyId } = made.caller
    const { held } = await made.gateway.workspaces(workspaceId).billing.balance()
    const rows = await made.storage.usage.list({ workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100 })
    const free = await made.storage.counters.enter({ key: `${workspaceId}/slots:${keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }, Date.now())
    await made.storage.counters.leave(`${workspaceId}/slots:${keyId}`, 'probe')
    return { held, free, results: rows.map(({ result }) => result) }
  }
  return { ...made, books }
}

const clean = (result: string) => ({ held: 0, free: true, results: [result] })

test('a provider that keeps its socket open after its last event is disconnected', async () => {
  const server = await chaosProvider()
  closing.push(server.close)
  server.always(async line => {
    const frames = sse([...line.answer.opening, ...line.answer.content, ...line.answer.closing])
    await line.write(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${Buffer.byteLength(frames).toString(16)}\r\n${frames}\r\n`,
    )
    await line.gone
  })
  const { gateway, caller } = await testbed({ servers: [server], transport: nodeTransport() })
  const response = await gateway.infer(request(gateway), { caller }).whole()
  expect(response.outcome.status).toBe('completed')
  await server.until('the connection is closed', () => server.connections() === 0, 4_000)
})

test('a reply that is not read to its end is settled at the deadline', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [acts.pauseAfter(2, 60_000)] })
  const { gateway, caller, books } = await testbed({ providers: [provider] })
  const reply = gateway.infer(request(gateway, { gateway: { routing: { deadline_ms: 300 } } }), { caller })
  await reply.committed
  await waitFor(async () => expect(await books()).toEqual(clean('abandoned')))
})

test('closing the gateway settles unread replies too', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [acts.pauseAfter(2, 60_000)] })
  const storage = memoryStorage()
  const { gateway, caller } = await testGateway({ providers: [provider], storage })
  await gateway.infer(request(gateway), { caller }).committed
  await gateway.close()
  expect(await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 })).toHaveLength(1)
})

test('a transport that throws when it is closed has no effect on the request', async () => {
  const clock = fakeClock()
  const encoder = new TextEncoder()
  const first = encoder.encode('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}\n\n')
  let told = false
  const transport: Transport = async () => ({
    status: 200,
    header: () => undefined,
    body: {
      next: () => {
        if (told) return new Promise(() => {})
        told = true
        return Promise.resolve({ done: false, value: first })
      },
      return: () => Promise.reject(new Error('closing failed')),
    },
  })
  const { gateway, caller, books } = await testbed({
    providers: [compatible({ id: 'p', baseURL: 'http://127.0.0.1:9', apis: ['chat'] })],
    transport,
    clock,
  })
  const events = gateway.infer(request(gateway), { caller }).batches()
  await events.next()
  await events.return?.()
  await clock.advance(5_000)
  expect(await books()).toEqual(clean('abandoned'))
})

type Call = readonly [part: 'counters' | 'ledger' | 'usage', method: string]

const failing = (storage: Storage, [part, method]: Call, times: number): Storage => {
  let left = times
  const inner = storage[part] as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>
  const broken = {
    ...inner,
    [method]: (...args: readonly unknown[]) => {
      left -= 1
      return left >= 0 ? Promise.reject(new Error('The disk is full.')) : inner[method]?.(...args)
    },
  }
  return { ...storage, [part]: broken }
}

test.each([
  ['counters', 'take'],
  ['counters', 'enter'],
  ['ledger', 'reserve'],
] as const)('when %s.%s fails at admission, nothing stays taken, and the next request is served', async (part, method) => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const { gateway, caller, books } = await testbed({
    providers: [provider],
    storage: failing(memoryStorage(), [part, method], 1),
    limits: { concurrentRequests: 1 },
  })
  await expect(gateway.infer(request(gateway), { caller }).whole()).rejects.toMatchObject({ code: 'service_unavailable', status: 503 })
  expect((await gateway.infer(request(gateway), { caller }).whole()).outcome.status).toBe('completed')
  expect(await books()).toEqual(clean('ok'))
})

test.each([
  ['ledger', 'settle'],
  ['usage', 'append'],
  ['counters', 'leave'],
] as const)('when %s.%s fails at settlement, the answer is delivered and the books are closed by a later try', async (part, method) => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const parts = failing(memoryStorage(), [part, method], 2)
  const storage: Storage = { ...parts, settle: settlement => settleInParts(parts, settlement) }
  const { gateway, caller, books } = await testbed({ providers: [provider], storage })
  expect((await gateway.infer(request(gateway), { caller }).whole()).outcome.status).toBe('completed')
  await expect.poll(books).toEqual(clean('ok'))
})

const throwing: Record<string, (sound: Provider) => Provider> = {
  authorize: sound => ({ ...sound, authorize: () => Promise.reject(new Error('The token endpoint is down.')) }),
  endpoint: sound => ({
    ...sound,
    endpoint: () => {
      throw new Error('No address.')
    },
  }),
  answer: sound => ({ ...sound, answer: () => Promise.reject(new Error('Broken.')) }),
  encodeRequest: sound => ({
    ...sound,
    dialects: [
      {
        ...chatProvider,
        encodeRequest: () => {
          throw new Error('Cannot be said.')
        },
      },
    ],
  }),
  decodeEvents: sound => ({
    ...sound,
    answer: async () => ({ status: 200, frames: [[{ data: '{}' }] as readonly Frame[]][Symbol.iterator]() as never }),
  }),
}

test.each(Object.keys(throwing))('a provider whose %s throws counts as failed: the next one responds', async name => {
  const base = compatible({ id: 'bad', baseURL: 'http://127.0.0.1:9', apis: ['chat'] })
  const bad = throwing[name]?.(base) ?? base
  const good = scriptedProvider({ id: 'good', dialect: chatProvider, acts: [] })
  const { gateway, caller, books } = await testbed({ providers: [bad, good] })
  const reply = gateway.infer(request(gateway), { caller })
  expect((await reply.whole()).outcome.status).toBe('completed')
  expect(reply.metadata().routing?.provider).toBe('good')
  expect(await books()).toEqual(clean('ok'))
})

test('a timeout chosen by a client does not demote the provider for others', async () => {
  const provider = scriptedProvider({ id: 'slow', dialect: chatProvider, acts: [acts.stall(200)] })
  const other = scriptedProvider({ id: 'other', dialect: chatProvider, acts: [] })
  const { gateway, caller } = await testbed({ providers: [provider, other] })
  const failureOf = async (id: string) => {
    const { choices } = await gateway.plan(request(gateway), caller)
    return choices.find(choice => choice.provider === id)?.estimate.failureProbability
  }
  const before = await failureOf('slow')
  const reply = gateway.infer(request(gateway, { gateway: { routing: { timeout_ms: 20 } } }), { caller })
  await reply.whole()
  expect(reply.metadata().warnings).toMatchObject([{ code: 'provider_timeout' }])
  expect(await failureOf('slow')).toBe(before)
})

const looking = [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://slow.example/1.png' }] }]

test('an image that never arrives is awaited until the deadline or the disconnect of the client', async () => {
  const provider: Provider = { ...scriptedProvider({ id: 'p', dialect: chatProvider }), quirks: { inlineMediaOnly: true } }
  const { gateway, caller, books } = await testbed({ providers: [provider], media: () => new Promise(() => {}) })
  const asking = (deadline_ms: number) => request(gateway, { input: looking, gateway: { routing: { deadline_ms } } })
  await expect(gateway.infer(asking(100), { caller }).committed).rejects.toMatchObject({ code: 'deadline_exceeded' })
  const leaving = new AbortController()
  const reply = gateway.infer(asking(60_000), { caller, signal: leaving.signal })
  setTimeout(() => leaving.abort(), 50)
  await expect(reply.committed).rejects.toMatchObject({ code: 'client_disconnected' })
  expect(await books()).toMatchObject({ held: 0, free: true })
})

test('a provider is not slow because the server of an image was', async () => {
  const slow: Provider = { ...scriptedProvider({ id: 'slow', dialect: chatProvider }), quirks: { inlineMediaOnly: true } }
  const other = scriptedProvider({ id: 'other', dialect: chatProvider })
  const failures: string[] = []
  const hooks = { onFailure: (_: unknown, { kind }: { readonly kind: string }) => failures.push(kind) }
  const { gateway, caller } = await testbed({
    providers: [slow, other],
    media: () => new Promise(() => {}),
    timeouts: { firstByteMs: 100 },
    hooks,
  })
  const response = await gateway.infer(request(gateway, { input: looking }), { caller }).whole()
  expect([response.outcome.status, failures]).toEqual(['completed', ['unsupported']])
})

test.each([
  ['concurrent_requests_exceeded', 429],
  ['service_unavailable', 503],
] as const)(
  'an image for which the gateway has no memory ends the request with %s, and no other provider is called',
  async (code, status) => {
    const quirks = { inlineMediaOnly: true }
    const providers = ['p', 'other'].map(id => ({ ...scriptedProvider({ id, dialect: chatProvider }), quirks }))
    let downloads = 0
    const { gateway, caller, books } = await testbed({
      providers,
      media: async () => {
        downloads += 1
        return { ok: true, mediaType: 'image/png', base64: 'AAAA' }
      },
    })
    const claimMemory = (): never => {
      throw new GatewayError(code, { message: 'Wait for one to finish.', retryAfterMs: 2_000 })
    }
    const reply = gateway.infer(request(gateway, { input: looking }), { caller, claimMemory })
    await expect(reply.whole()).rejects.toMatchObject({ code, status, message: 'Wait for one to finish.', facts: { retryAfterMs: 2_000 } })
    expect([downloads, await books()]).toMatchObject([1, { held: 0, free: true }])
  },
)

test('a deadline in the middle of a stream is reported as the deadline', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [acts.pauseAfter(2, 60_000)] })
  const { gateway, caller, storage } = await testbed({ providers: [provider] })
  const events = []
  for await (const event of gateway.infer(request(gateway, { gateway: { routing: { deadline_ms: 300 } } }), { caller })) events.push(event)
  expect(events.at(-1)).toMatchObject({ type: 'finished', outcome: { status: 'failed', error: { code: 'deadline_exceeded' } } })
  const [row] = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })
  expect(row).toMatchObject({ result: 'error', code: 'deadline_exceeded' })
})

test('a reply can be read once', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const { gateway, caller } = await testbed({ providers: [provider] })
  const reply = gateway.infer(request(gateway), { caller })
  await reply.whole()
  await expect(reply.whole()).rejects.toThrow(/already been read/)
})

test('an error thrown by `transformRequest` ends the request before anything is held, one thrown by a hook ends nothing', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const hooks = {
    onFinish: () => {
      throw new Error('A hook broke.')
    },
    onRoute: () => {
      throw new Error('Another hook broke.')
    },
  }
  let angry = true
  const { gateway, caller, books } = await testbed({
    providers: [provider],
    hooks,
    transformRequest: asked => {
      if (angry) throw new Error('Not today.')
      return asked
    },
  })
  await expect(gateway.infer(request(gateway), { caller }).whole()).rejects.toThrow('Not today.')
  expect(await books()).toEqual({ held: 0, free: true, results: [] })
  angry = false
  expect(JSON.stringify((await gateway.infer(request(gateway), { caller }).whole()).output)).toContain(defaultText.slice(0, 20))
  expect(await books()).toEqual(clean('ok'))
})

test('invalid options of a gateway throw at once', () => {
  const storage = memoryStorage()
  const provider = compatible({ id: 'p', baseURL: 'http://127.0.0.1:9' })
  const model = (offer: Partial<Offer>) => [{ id: 'm', offers: [{ provider: 'p', model: 'x', api: 'chat', ...offer }] }]
  expect(() => createGateway({ providers: [provider, provider], models: [], storage })).toThrow(/"p" twice/)
  expect(() => createGateway({ providers: [provider], models: model({ price: { input: 0.5, output: 1 } }), storage })).toThrow(
    /price\.input/,
  )
  const tiered = { input: 1, output: 1, tiers: [{ over: 200_000, input: 2, output: 0.5 }], priority: { input: 2, output: 2 } }
  expect(() => createGateway({ providers: [provider], models: model({ price: tiered }), storage })).toThrow(/price\.tiers\.0\.output/)
  expect(() => createGateway({ providers: [provider], models: model({ api: 'responses' }), storage })).toThrow(/does not have/)
  expect(() => createGateway({ providers: [provider], models: [], storage, strategy: 'best' as 'cost' })).toThrow(/strategy/)
  expect(() => createGateway({ providers: [provider], models: [], storage, strategy: 'latncy' as 'cost' })).toThrow(
    /Did you mean "latency"\?$/,
  )
  const strategies = { mine: () => 0, balanced: () => 0 }
  expect(() => createGateway({ providers: [provider], models: [], storage, strategies })).toThrow(/`strategies` holds "balanced"/)
  expect(() => createGateway({ providers: [provider], models: [], storage, timeouts: { idleMs: 0 } })).toThrow(/idleMs/)
})

test('a strict request is refused if its response would have a warning, with that warning', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const { gateway, caller } = await testbed({ providers: [provider] })
  const routing = { strict: true, tier: 'priority' }
  await expect(gateway.infer(request(gateway, { gateway: { routing } }), { caller }).whole()).rejects.toMatchObject({
    code: 'capability_mismatch',
    message:
      '`gateway.routing.strict` is set, and p cannot serve the request without a warning: This provider offers no faster tier; the default tier was used.',
    facts: { param: 'gateway.routing.tier' },
  })
  expect(provider.calls).toHaveLength(0)
})

test('a response without usage reports the usage that was billed', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [acts.reply({ text: 'Quiet.', usage: 'none' })] })
  const { gateway, caller, storage } = await testbed({ providers: [provider] })
  const reply = gateway.infer(request(gateway), { caller })
  const { usage } = await reply.whole()
  const [row] = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1 })
  expect(usage).toMatchObject({ input_tokens: row?.inputTokens, output_tokens: row?.outputTokens, estimated: true })
  expect(reply.metadata().routing?.cost).toEqual({ usd: (row?.cost ?? 0) / 1_000_000 })
  expect(row?.cost).toBeGreaterThan(0)
})

test('an extension cannot add a prompt that is not held for', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [] })
  const { gateway, caller } = await testbed({ providers: [provider] })
  const smuggled = [{ role: 'user', content: 'x'.repeat(1_000) }]
  const reply = gateway.infer(request(gateway, { extensions: { messages: smuggled, seed: 7 } }), { caller })
  await reply.whole()
  expect(provider.calls[0]?.body).toMatchObject({ seed: 7 })
  expect(provider.calls[0]?.body.messages).not.toEqual(smuggled)
  expect(reply.metadata().warnings).toMatchObject([{ code: 'unsupported_parameter', param: 'extensions.messages' }])
})

test('a slot is kept as long as its request runs, and is free soon after a crash', async () => {
  const clock = fakeClock()
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, acts: [acts.pauseAfter(2, 600_000)], clock })
  const { gateway, caller, storage } = await testbed({ providers: [provider], clock, timeouts: { idleMs: 900_000 } })
  const probe = () =>
    storage.counters.enter({ key: `${caller.workspaceId}/slots:${caller.keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }, clock.now())
  const events = gateway.infer(request(gateway), { caller }).batches()
  await events.next()
  for (let minute = 0; minute < 5; minute += 1) {
    await clock.advance(60_000)
    expect(await probe()).toBe(false)
  }
  await events.return?.()
  expect(await probe()).toBe(false)
  await clock.advance(5_000)
  expect(await probe()).toBe(true)
  // The slot of a killed process is no longer renewed.
  await storage.counters.enter(
    { key: `${caller.workspaceId}/slots:${caller.keyId}`, slot: 'dead', limit: 1, ttlMs: 90_000 },
    clock.now() + 10,
  )
  await clock.advance(90_100)
  expect(await probe()).toBe(true)
})
