import { chatProvider } from '@signalbox/dialects'
import type { InferenceRequest, Offer } from '@signalbox/dialects/protocol'
import type { RoutingStore, Storage } from '@signalbox/storage'
import type { RoutingNews } from '@signalbox/storage/routing'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'
import { waitFor } from './waits.ts'

// Two gateways over one storage: what one of them learns, the other knows.

/** A memory store that two gateways share: the router publishes only to a shared store. */
const sharedMemory = (): Storage => ({ ...memoryStorage(), isShared: true })

const offer = (provider: string, input: number): Offer => ({
  provider,
  model: 'theirs',
  api: 'chat',
  price: { input, output: 1_000_000, cached: input / 10 },
})

const models = [
  { id: 'shared', offers: [offer('cheap', 500_000), offer('dear', 700_000)] },
  { id: 'long', offers: [offer('slow', 500_000)] },
]

const request = (text: string, model = 'shared'): InferenceRequest => ({
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }] },
  routing: { models: [model], allow_fallbacks: true },
  delivery: 'stream',
})

interface Testbed {
  readonly cheap: ScriptedProvider
  readonly dear: ScriptedProvider
  readonly warnings: readonly string[]
  /** Sends a request; returns the provider that responded. */
  ask(text?: string): Promise<string | undefined>
  /** Has a request under way that is answered after so long. */
  linger(milliseconds: number): void
}

async function testbedOver(storage: Storage, clock: FakeClock): Promise<Testbed> {
  const provider = (id: string) => scriptedProvider({ id, dialect: chatProvider, clock })
  const [cheap, dear, slow] = [provider('cheap'), provider('dear'), provider('slow')]
  const warnings: string[] = []
  const logger = { info: () => {}, error: () => {}, warn: (_: unknown, message: string) => void warnings.push(message) }
  const { gateway, caller, close } = await testGateway({
    providers: [cheap, dear, slow],
    models,
    storage,
    clock,
    logger,
    strategy: 'balanced',
  })
  onTestFinished(close)
  // A closing gateway waits for its requests, which wait for the fake clock.
  onTestFinished(() => clock.advance(200_000))
  return {
    cheap,
    dear,
    warnings,
    linger(milliseconds) {
      slow.play(acts.stall(milliseconds))
      gateway
        .infer(request('Think.', 'long'), { caller })
        .whole()
        .catch(() => {})
    },
    async ask(text = 'Hello.') {
      const before = [cheap.calls.length, dear.calls.length]
      await gateway.infer(request(text), { caller }).whole()
      await clock.advance(1)
      return dear.calls.length > (before[1] ?? 0) ? 'dear' : cheap.calls.length > (before[0] ?? 0) ? 'cheap' : undefined
    },
  }
}

const down: Act = acts.status(503)

/** The same storage; each read of news is reported. */
function watching(storage: Storage, show: (news: RoutingNews) => void): Storage {
  const { routing } = storage
  if (!routing) throw new Error('This storage shares nothing.')
  const news: RoutingStore['news'] = async (query, at) => {
    const told = await routing.news(query, at)
    show(told)
    return told
  }
  return { ...storage, routing: { ...routing, news } }
}

describe('two gateways over one storage', () => {
  test('an outage seen by one of them is known to the other', async () => {
    const clock = fakeClock()
    let heard = false
    const storage = watching(sharedMemory(), ({ statistics }) => {
      heard ||= statistics.some(({ failed }) => failed > 2)
    })
    const [here, there] = [await testbedOver(storage, clock), await testbedOver(storage, clock)]
    for (const testbed of [here, there]) for (let calls = 0; calls < 6; calls += 1) expect(await testbed.ask()).toBe('cheap')
    for (const testbed of [here, there]) testbed.linger(120_000)
    await clock.advance(30_000)
    here.cheap.play(...Array.from({ length: 60 }, () => down))
    for (let second = 0; second < 60 && !heard; second += 1) {
      await here.ask()
      await clock.advance(1_000)
    }
    // The news has been read, but may not be applied yet.
    await new Promise(resolve => setTimeout(resolve, 50))
    await clock.advance(1_000)
    const before = there.cheap.calls.length
    expect(await there.ask()).toBe('dear')
    expect(there.cheap.calls).toHaveLength(before)
  })

  test('a provider that sends Retry-After is paused for both', async () => {
    const clock = fakeClock()
    const storage = sharedMemory()
    const [here, there] = [await testbedOver(storage, clock), await testbedOver(storage, clock)]
    here.cheap.play(acts.status(429, { retryAfter: 120 }))
    expect(await here.ask()).toBe('dear')
    await waitFor(async () => expect((await storage.routing?.news({ writer: '' }, clock.now()))?.pauses).toHaveLength(1))
    await there.ask()
    await clock.advance(20_000)
    await there.ask()
    await clock.advance(0)
    expect(await there.ask()).toBe('dear')
    await clock.advance(121_000)
    expect(await there.ask()).toBe('cheap')
  })

  test('no content of a conversation and no name of a workspace is in the shared state', async () => {
    const clock = fakeClock()
    const inner = sharedMemory()
    const said: string[] = []
    const watched = (verb: (...given: never[]) => unknown) =>
      ((...given: never[]) => {
        said.push(JSON.stringify(given))
        return verb(...given)
      }) as never
    const routing = Object.fromEntries(Object.entries(inner.routing ?? {}).map(([name, verb]) => [name, watched(verb)]))
    const storage: Storage = { ...inner, routing: routing as unknown as RoutingStore }
    const testbed = await testbedOver(storage, clock)
    const secret = 'the launch codes '.repeat(600)
    await testbed.ask(secret)
    await clock.advance(20_000)
    await testbed.ask(secret)
    await waitFor(() => expect(said.filter(each => each.includes('tokens'))).not.toEqual([]))
    const [workspace] = await storage.records.list({ kind: 'workspace', limit: 1 })
    expect(said.join()).not.toContain('launch')
    expect(said.join()).not.toContain(workspace?.id)
  })
})

test('a storage whose routing state fails works like one without it, and logs that once', async () => {
  const clock = fakeClock()
  const fail = async (): Promise<never> => {
    throw new Error('gone')
  }
  const { routing: _, ...bare } = sharedMemory()
  const failing = await testbedOver({ ...bare, routing: { publish: fail, pause: fail, news: fail, remember: fail, readers: fail } }, clock)
  const none = await testbedOver(sharedMemory(), clock)
  const alone = await testbedOver(bare, clock)
  for (let calls = 0; calls < 10; calls += 1) {
    const asked = [await failing.ask(`${calls}`), await none.ask(`${calls}`), await alone.ask(`${calls}`)]
    expect(asked).toEqual(['cheap', 'cheap', 'cheap'])
    await clock.advance(5_000)
  }
  expect(failing.warnings).toHaveLength(1)
  expect([...none.warnings, ...alone.warnings]).toEqual([])
})
