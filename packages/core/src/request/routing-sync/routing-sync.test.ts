import type { RouterOffer } from '@signalbox/router'
import { createDynamicRouter, type DynamicRouter } from '@signalbox/router'
import type { RoutingStore } from '@signalbox/storage'
import { type FakeClock, fakeClock } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { failureProbability } from '../../../../router/src/failure-model.ts'
import { cheap, dear, routingStore } from '../../../../router/test/together.ts'
import { waitFor } from '../../../../testing/test/waits.ts'
import type { Ids } from '../../runtime/ports.ts'
import { createRoutingSync, type RoutingSync } from './routing-sync.ts'

interface Process {
  readonly sharing: RoutingSync
  readonly router: DynamicRouter
  readonly warnings: readonly string[]
}

/** Names and random values that are the same in every run, and differ between testbeds. */
function idsFor(testbed: number): Ids {
  const random = (bytes: number) => new Uint8Array(bytes).fill(testbed)
  return { uuid: () => `testbed-${testbed}`, hex: bytes => testbed.toString(16).padStart(2 * bytes, '0'), random }
}

let testbeds = 0

function testbedOf(store: RoutingStore, clock: FakeClock): Process {
  testbeds += 1
  const warnings: string[] = []
  const logger = { info: () => {}, error: () => {}, warn: (_: unknown, message: string) => void warnings.push(message) }
  const sharing = createRoutingSync({ store, clock, logger, ids: idsFor(testbeds) })
  const router = createDynamicRouter({ monotonic: clock.monotonic, preference: 'balanced', seed: 1, sync: sharing.state })
  return { sharing, router, warnings }
}

interface Asked {
  readonly bad?: boolean
  readonly cacheKey?: string
  readonly offers?: readonly RouterOffer[]
}

/** Tokens of every prompt here. */
const promptTokens = 5_000

/** One request: it may fail, or read a conversation to its end. */
async function ask({ router }: Process, clock: FakeClock, { bad = false, cacheKey, offers = [cheap, dear] }: Asked = {}) {
  const among = offers.map(router.trackOffer)
  const choice = router.plan({ inputTokens: promptTokens, ...(cacheKey !== undefined && { cacheKey }) }, among).next()
  if (!choice) throw new Error('There is no candidate.')
  const attempt = router.startAttempt(choice)
  await clock.advance(300)
  if (bad) router.failAttempt(attempt, { kind: 'error' })
  else router.finishAttempt(attempt, { outputTokens: 100 })
  return choice.offer.id
}

/** Counts the calls of a store, and allows each verb to be replaced. */
function watched(verbs: Partial<RoutingStore> = {}) {
  const store = { ...routingStore(), ...verbs }
  const calls: string[] = []
  const through = <Verb extends keyof RoutingStore>(verb: Verb) =>
    ((...given: never[]) => {
      calls.push(verb)
      return (store[verb] as (...given: never[]) => unknown)(...given)
    }) as RoutingStore[Verb]
  const routing: RoutingStore = {
    publish: through('publish'),
    pause: through('pause'),
    news: through('news'),
    remember: through('remember'),
    readers: through('readers'),
  }
  return { routing, calls, count: (verb: string) => calls.filter(call => call === verb).length }
}

describe('routing state sync', () => {
  test('makes no store call and sets no timer before the first request or after the last', async () => {
    const clock = fakeClock()
    const { routing, calls } = watched()
    const { sharing } = testbedOf(routing, clock)
    await clock.advance(60_000)
    expect([calls, clock.pending()]).toEqual([[], 0])
    sharing.resume()
    await clock.advance(0)
    expect(calls).toEqual(['news'])
    sharing.pause()
    await clock.advance(0)
    expect(clock.pending()).toBe(0)
    await clock.advance(600_000)
    expect(calls).toEqual(['news'])
  })

  test('exchanges every 5 to 15 seconds while requests run, however many begin', async () => {
    const clock = fakeClock()
    const { routing, count } = watched()
    const { sharing } = testbedOf(routing, clock)
    for (let second = 0; second < 300; second += 1) {
      sharing.resume()
      await clock.advance(1_000)
    }
    expect(count('news')).toBeGreaterThanOrEqual(20)
    expect(count('news')).toBeLessThanOrEqual(61)
  })

  test('exchanges no more often for short requests than for long ones', async () => {
    const clock = fakeClock()
    const { routing, count } = watched()
    const testbed = testbedOf(routing, clock)
    for (let request = 0; request < 100; request += 1) {
      testbed.sharing.resume()
      await ask(testbed, clock)
      testbed.sharing.pause()
    }
    await clock.advance(0)
    expect(count('news')).toBeLessThanOrEqual(7)
    expect(count('publish')).toBeLessThanOrEqual(7)
  })

  test('reports an outage to another process within 15 seconds or two', async () => {
    const clock = fakeClock()
    const store = routingStore()
    const [here, there] = [testbedOf(store, clock), testbedOf(store, clock)]
    for (const { sharing } of [here, there]) sharing.resume()
    for (let calls = 0; calls < 10; calls += 1) for (const testbed of [here, there]) await ask(testbed, clock, { offers: [cheap] })
    await clock.advance(15_000)
    for (let calls = 0; calls < 6; calls += 1) await ask(here, clock, { bad: true, offers: [cheap] })
    await clock.advance(30_000)
    const failure = ({ router }: Process) => failureProbability(router.trackOffer(cheap).state.failures, clock.monotonic(), promptTokens)
    expect(failure(here)).toBeGreaterThan(0.7)
    expect(failure(there)).toBeGreaterThan(0.7)
  })

  test('publishes which offer has cached a conversation within a second, also for the last request', async () => {
    const clock = fakeClock()
    const store = routingStore()
    const [here, there] = [testbedOf(store, clock), testbedOf(store, clock)]
    here.sharing.resume()
    const reader = await ask(here, clock, { cacheKey: 'key-1' })
    await clock.advance(1_000)
    const other = await ask(here, clock, { cacheKey: 'key-2' })
    here.sharing.pause()
    await clock.advance(0)
    const known = async (key: string) => {
      await there.sharing.lookUpReaders(key)
      return there.sharing.state.affinity.holders(key)
    }
    await waitFor(async () => expect(await known('key-1')).toMatchObject([{ offerId: reader, tokens: 5_000 }]))
    await waitFor(async () => expect(await known('key-2')).toMatchObject([{ offerId: other, tokens: 5_000 }]))
  })

  test('sends only a hash of a conversation’s cache key to the store', async () => {
    const clock = fakeClock()
    const keys: string[] = []
    const store = routingStore()
    const { routing } = watched({
      readers: (key, at) => {
        keys.push(key)
        return store.readers(key, at)
      },
      remember: (notes, at) => {
        keys.push(...notes.map(({ key }) => key))
        return store.remember(notes, at)
      },
    })
    const testbed = testbedOf(routing, clock)
    await testbed.sharing.lookUpReaders('workspace key')
    await ask(testbed, clock, { cacheKey: 'workspace key' })
    await waitFor(() => expect(keys).toHaveLength(2))
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(keys[1]).toBe(keys[0])
  })

  test('looks a conversation up once, and not at all if it is known or has no key', async () => {
    const clock = fakeClock()
    const { routing, count } = watched()
    const testbed = testbedOf(routing, clock)
    expect(testbed.sharing.lookUpReaders(undefined)).toBeUndefined()
    await testbed.sharing.lookUpReaders('hash')
    await ask(testbed, clock, { cacheKey: 'hash' })
    expect(testbed.sharing.lookUpReaders('hash')).toBeUndefined()
    expect(count('readers')).toBe(1)
  })

  test('does not delay a request for a slow store', async () => {
    const clock = fakeClock()
    let answer: (readers: []) => void = () => {}
    const { routing } = watched({
      readers: () =>
        new Promise(resolve => {
          answer = resolve
        }),
    })
    const testbed = testbedOf(routing, clock)
    let waited = true
    void testbed.sharing.lookUpReaders('hash')?.then(() => {
      waited = false
    })
    await clock.advance(49)
    expect(waited).toBe(true)
    await clock.advance(1)
    expect(waited).toBe(false)
    answer([])
    expect(testbed.warnings).toEqual([])
  })

  test('publishes its remaining state when it closes, and then makes no more calls', async () => {
    const clock = fakeClock()
    const { routing, calls } = watched()
    const testbed = testbedOf(routing, clock)
    testbed.sharing.resume()
    await ask(testbed, clock)
    await testbed.sharing.close()
    expect((await routing.news({ writer: 'nobody' }, clock.now())).statistics).toMatchObject([{ offer: 'cheap', answered: 1 }])
    const before = calls.length
    testbed.sharing.resume()
    await ask(testbed, clock, { cacheKey: 'other' })
    testbed.sharing.pause()
    await testbed.sharing.close()
    await clock.advance(60_000)
    expect(calls).toHaveLength(before)
    expect(clock.pending()).toBe(0)
  })
})

describe('a failing store', () => {
  const down = async (): Promise<never> => {
    throw new Error('no route to the store')
  }
  const silent = (): Promise<never> => new Promise(() => {})
  const hasty = (): never => {
    throw new Error('not even a promise')
  }

  test.each([
    ['refuses', down],
    ['never responds', silent],
    ['throws', hasty],
  ])('that %s changes no routing choice in this process, and is logged once', async (_, verb) => {
    const store = { publish: verb, pause: verb, news: verb, remember: verb, readers: verb }
    const chosen = async (clock: FakeClock, testbed: Process): Promise<readonly string[]> => {
      const chosenOffers: string[] = []
      for (let request = 0; request < 60; request += 1) {
        testbed.sharing.resume()
        const cacheKey = `conversation ${request % 7}`
        const recalled = testbed.sharing.lookUpReaders(cacheKey)
        await clock.advance(50)
        await recalled
        chosenOffers.push(await ask(testbed, clock, { bad: request % 9 === 0, cacheKey }))
        await clock.advance(1_000)
        if (request % 3 === 0) testbed.sharing.pause()
      }
      await clock.advance(10_000)
      await testbed.sharing.close()
      return chosenOffers
    }
    const [alone, troubled] = [fakeClock(), fakeClock()]
    const testbed = testbedOf(store, troubled)
    const closing = chosen(troubled, testbed)
    const others = await chosen(alone, testbedOf(routingStore(), alone))
    // The last publication to a store that does not respond times out.
    for (let second = 0; second < 100; second += 1) await troubled.advance(1_000)
    expect(await closing).toEqual(others)
    expect(testbed.warnings).toHaveLength(1)
  })

  test('is not called for conversations until it responds again', async () => {
    const clock = fakeClock()
    let broken = true
    const good = routingStore()
    const { routing, count } = watched({ news: (...given) => (broken ? down() : good.news(...given)) })
    const testbed = testbedOf(routing, clock)
    testbed.sharing.resume()
    await clock.advance(0)
    expect(testbed.sharing.lookUpReaders('hash')).toBeUndefined()
    broken = false
    await clock.advance(16_000)
    await testbed.sharing.lookUpReaders('hash')
    expect(count('readers')).toBe(1)
    expect(testbed.warnings).toHaveLength(1)
  })
})

test('is called again with the next request if the runtime dropped the timer with an earlier one', async () => {
  const clock = fakeClock()
  let isDropping = true
  const dropping = { ...clock, setTimeout: (run: () => void, ms: number) => (isDropping ? {} : clock.setTimeout(run, ms)) }
  const { routing, calls } = watched()
  const { sharing } = testbedOf(routing, dropping)
  sharing.resume()
  await clock.advance(0)
  isDropping = false
  calls.length = 0
  await clock.advance(20_000)
  expect(calls).toEqual([])
  // The first request still runs.
  sharing.resume()
  await clock.advance(1)
  expect(calls).toContain('news')
})
