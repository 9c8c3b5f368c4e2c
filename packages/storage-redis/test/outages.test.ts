import { inspect } from 'node:util'
import { composeStorage, type OutageEvent } from '@signalbox/storage/compose'
import type { CounterRequest } from '@signalbox/storage/counters'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { type RedisStoresOptions, redisStores } from '../src/index.ts'
import { type RedisServer, type RedisServerOptions, testRedis } from './redis-server.ts'

const describeServer = describeWith('redis-server')

const maxWaitMs = 200
/** What one call may take at most: twenty times its wait, for a busy machine. */
const patienceMs = 20 * maxWaitMs
const minute = 60_000

interface Scene extends Partial<RedisStoresOptions> {
  readonly server?: RedisServerOptions
  readonly local?: boolean
}

async function scene({ server: serverOptions, local, ...options }: Scene = {}) {
  const server = await testRedis(serverOptions)
  const events: OutageEvent[] = []
  const lines: unknown[] = []
  const logger = { info: (...line: unknown[]) => lines.push(line), warn: (...line: unknown[]) => lines.push(line) }
  const durable = memoryStorage()
  const ephemeral = redisStores({ url: server.url, maxWaitMs, logger, ...options })
  const fallback = local ? { local: memoryStorage().counters } : 'durable'
  const storage = composeStorage({ durable, ephemeral, fallback, onOutage: event => events.push(event), logger })
  onTestFinished(() => storage.close())
  // A busy machine may be slow to connect.
  await waitFor(() => ephemeral.probe())
  const take = (request: Partial<CounterRequest> = {}) =>
    storage.counters.take([{ key: 'w/rpm', amount: 1, limit: 3, windowMs: minute, ...request }], Date.now())
  const states = () => events.map(({ state }) => state)
  const isOver = () => waitFor(() => expect(states()).toEqual(['begun', 'over']), { interval: 20 })
  return { server, storage, durable, ephemeral, events, lines, take, states, isOver }
}

const timed = async <T>(run: () => T): Promise<readonly [number, Awaited<T>]> => {
  const since = performance.now()
  const value = await run()
  return [performance.now() - since, value]
}

/** How many a counter admits, of 10 that are sent one after the other. */
async function admitted(take: () => unknown): Promise<number> {
  let count = 0
  for (let n = 0; n < 10; n++) if ((await take()) === undefined) count += 1
  return count
}

/** Ways in which a server can be unavailable, and how to recover it. */
const outages: readonly (readonly [string, (server: RedisServer) => Promise<unknown>, (server: RedisServer) => Promise<unknown>])[] = [
  ['is killed', server => server.signal('SIGKILL'), server => server.restart()],
  ['hangs', server => server.signal('SIGSTOP'), server => server.signal('SIGCONT')],
  [
    'becomes a replica',
    server => server.admin(redis => redis.replicaof('127.0.0.1', 1)),
    server => server.admin(redis => redis.replicaof('NO', 'ONE')),
  ],
  [
    'has no memory left',
    server => server.admin(redis => redis.config('SET', 'maxmemory', 1)),
    server => server.admin(redis => redis.config('SET', 'maxmemory', 0)),
  ],
]

describeServer('while Redis cannot be used', () => {
  test.each(outages.slice(0, inject('isLongRun') ? undefined : 3))(
    'if it %s, limits hold in the fallback, one call waits, and it is used again by itself',
    async (_, begin, end) => {
      const { server, take, events, lines, isOver, states } = await scene({ maxWaitMs: 1_000 })
      expect(await admitted(take)).toBe(3)
      await begin(server)
      // Another one: a server that only cannot write refuses what is full already, and rightly so.
      const takeOther = () => take({ key: 'w/rpm2' })
      expect(await takeOther()).toBeUndefined()
      const [nextMs, count] = await timed(() => admitted(takeOther))
      // Ten calls that each wait would take 10 s.
      expect(nextMs).toBeLessThan(5_000)
      expect(count).toBe(2)
      await new Promise(resolve => setTimeout(resolve, 1_000))
      expect(states()).toEqual(['begun'])
      await end(server)
      await isOver()
      expect(events[1]).toMatchObject({ reason: events[0]?.reason, calls: expect.any(Number) })
      expect(events[1]?.calls).toBeGreaterThanOrEqual(11)
      expect(lines).toHaveLength(2)
      // In Redis, where a server that kept its memory knows the counter still.
      expect([0, 3]).toContain(await admitted(take))
      expect(await server.admin(redis => redis.keys('*w/rpm'))).toHaveLength(1)
    },
  )

  test('under load no call waits longer than its bound, and none fails, whatever the outage', async () => {
    const { server, storage, states, isOver } = await scene()
    let isDone = false
    const waits: number[] = []
    const failures: unknown[] = []
    const client = async (name: number): Promise<void> => {
      for (let n = 0; !isDone; n++) {
        const slot = `${name}:${n}`
        const steps = [
          () => storage.counters.take([{ key: 'w/load', amount: 1, limit: 1e9, windowMs: minute }], Date.now()),
          () => storage.counters.enter({ key: 'w/slots', slot, limit: 100, ttlMs: minute }, Date.now()),
          () => storage.counters.leave('w/slots', slot),
        ]
        for (const step of steps) waits.push((await timed(async () => step()).catch(error => [failures.push(error)] as const))[0])
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    }
    const load = Promise.all(Array.from({ length: 20 }, (_, name) => client(name)))
    const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))
    await pause(500)
    await server.signal('SIGKILL')
    await pause(800)
    await server.restart()
    await isOver()
    await pause(300)
    await server.signal('SIGSTOP')
    await pause(1_200)
    await server.signal('SIGCONT')
    await waitFor(() => expect(states()).toEqual(['begun', 'over', 'begun', 'over']))
    isDone = true
    await load
    expect(failures).toEqual([])
    expect(Math.max(...waits)).toBeLessThan(patienceMs)
    expect(waits.length).toBeGreaterThan(100)
    // Every slot was given back, also those freed during an outage.
    expect(await server.admin(redis => redis.zcard('signalbox:slots:{_w}w/slots'))).toBe(0)
  })

  test('slots of running requests are merged: those taken meanwhile count afterwards, those freed meanwhile are free', async () => {
    const { server, storage, isOver } = await scene()
    const { counters } = storage
    const slot = { key: 'w/slots', limit: 2, ttlMs: minute }
    await counters.enter({ ...slot, slot: 'before' }, Date.now())
    await counters.enter({ ...slot, slot: 'before too' }, Date.now())
    await server.signal('SIGSTOP')
    await counters.leave('w/slots', 'before')
    expect(await counters.enter({ ...slot, slot: 'meanwhile' }, Date.now())).toBe(true)
    await server.signal('SIGCONT')
    await isOver()
    expect(await counters.enter({ ...slot, slot: 'after' }, Date.now())).toBe(false)
    await counters.leave('w/slots', 'meanwhile')
    expect(await counters.enter({ ...slot, slot: 'after' }, Date.now())).toBe(true)
  })

  test('the share of one process of two is half a limit, and never 0', async () => {
    const { server, take, ephemeral } = await scene({ local: true })
    const other = redisStores({ url: server.url })
    onTestFinished(() => other.close())
    await other.counters.take([{ key: 'w/other', amount: 1, limit: 1, windowMs: minute }], 0)
    await take({ key: 'w/first' })
    await waitFor(() => expect(ephemeral.processes()).toBe(2))
    await server.signal('SIGKILL')
    expect(await admitted(() => take({ limit: 8 }))).toBe(4)
    expect(await admitted(() => take({ key: 'w/one', limit: 1 }))).toBe(1)
    expect(await admitted(() => take({ key: 'w/shut', limit: 0 }))).toBe(0)
    expect(await admitted(() => take({ key: 'w/large', amount: 6, limit: 8 }))).toBe(1)
    expect(await admitted(() => take({ key: 'w/too large', amount: 9, limit: 8 }))).toBe(0)
  })

  test('routing state fails, and readiness depends on the durable storage alone', async () => {
    const { server, storage } = await scene()
    await server.signal('SIGKILL')
    await expect(storage.routing?.news({ writer: 'me' }, 0)).rejects.toThrow('Redis at 127.0.0.1')
    await expect(storage.routing?.readers('hash', 0)).rejects.toThrow('Redis at')
    await storage.ping()
  })

  test('a server that is down when the process starts is used once it is up', async () => {
    const { server } = await scene()
    await server.signal('SIGKILL')
    const events: OutageEvent[] = []
    const storage = composeStorage({
      durable: memoryStorage(),
      ephemeral: redisStores({ url: server.url, maxWaitMs }),
      onOutage: event => events.push(event),
      logger: { info: () => {}, warn: () => {} },
    })
    onTestFinished(() => storage.close())
    const [milliseconds, refusal] = await timed(() => storage.counters.take([{ key: 'a', amount: 1, limit: 1, windowMs: minute }], 0))
    expect(milliseconds).toBeLessThan(patienceMs)
    expect(refusal).toBeUndefined()
    await server.restart()
    await waitFor(() => expect(events.map(({ state }) => state)).toEqual(['begun', 'over']))
  })
})

describeServer('what is no outage', () => {
  test('a server that lost the script gets it again, during calls', async () => {
    const { server, take, states } = await scene({ maxWaitMs: 10_000 })
    for (let round = 0; round < 5; round++) {
      await server.admin(redis => redis.script('FLUSH'))
      const takes = Array.from({ length: 50 }, () => take({ key: `w/${round}` }))
      expect((await Promise.all(takes)).filter(refusal => refusal === undefined)).toHaveLength(3)
    }
    expect(states()).toEqual([])
  })

  test('a key written by another program fails only its own calls', async () => {
    const { server, take, states } = await scene({ maxWaitMs: 10_000 })
    await server.admin(redis => redis.lpush('signalbox:counter:{_w}w/foreign', 'x'))
    const takes = [take({ key: 'w/foreign' }), take({ key: 'w/sound' }), take({ key: 'w/foreign' })]
    expect(await Promise.all(takes)).toEqual([undefined, undefined, undefined])
    expect(await admitted(() => take({ key: 'w/foreign' }))).toBe(1)
    expect(await admitted(() => take({ key: 'w/sound' }))).toBe(2)
    expect(states()).toEqual([])
  })

  test('an invalid argument fails with the caller’s own error', async () => {
    const { storage, states } = await scene({ maxWaitMs: 10_000 })
    await expect(storage.counters.take([{ key: 'a', amount: 0.5, limit: 1, windowMs: minute }], 0)).rejects.toThrow('amount')
    expect(states()).toEqual([])
  })

  test('a server that is slow within the bound is awaited', async () => {
    const { server, take, states } = await scene({ maxWaitMs: 5_000 })
    for (let round = 0; round < 3; round++) {
      await server.admin(redis => redis.call('CLIENT', 'PAUSE', 300, 'ALL'))
      const [milliseconds, refusal] = await timed(take)
      expect(milliseconds).toBeGreaterThan(50)
      expect(refusal).toBeUndefined()
    }
    expect(await take()).toMatchObject({ key: 'w/rpm' })
    expect(states()).toEqual([])
  })

  test('calls in progress when the storage is closed fail, and none is reported as an outage', async () => {
    const { server, storage, take, states, lines } = await scene()
    await server.signal('SIGSTOP')
    const taken = Promise.resolve(take()).catch((error: Error) => error.message)
    await new Promise(resolve => setTimeout(resolve, 20))
    await storage.close()
    expect(await taken).toContain('the storage is closed')
    expect([states(), lines]).toEqual([[], []])
  })

  test('a long turn of the event loop does not make an arrived response late', async () => {
    const { take, states } = await scene()
    const taken = take()
    await new Promise(resolve => setImmediate(resolve))
    const until = performance.now() + 5 * maxWaitMs
    while (performance.now() < until);
    expect(await taken).toBeUndefined()
    expect(states()).toEqual([])
  })
})

describe('the password of a URL', () => {
  const password = 'p@ss/w0rd'

  test('is in no message, log line or error, whatever the failure', async () => {
    const url = `redis://user:${encodeURIComponent(password)}@`
    const seen: unknown[] = []
    for (const bad of [`${url}`, `http${url.slice(5)}host`, `${url}host/x`, `${url}host:99999999`])
      try {
        redisStores({ url: bad })
        expect.unreachable()
      } catch (error) {
        seen.push(error)
      }
    expect(inspect(seen, { depth: 20 })).not.toMatch(/w0rd/)
  })

  describeServer('on a server', () => {
    test('is used to connect, and a wrong one is an outage that does not reveal it', async () => {
      const { server, take, lines, states } = await scene({ server: { password } })
      expect(await admitted(take)).toBe(3)
      const seen: unknown[] = [lines]
      const wrong = redisStores({ url: server.url.replace('w0rd', 'w1rd'), maxWaitMs, logger: { warn: (...line) => seen.push(line) } })
      onTestFinished(() => wrong.close())
      const error: unknown = await Promise.resolve(wrong.probe()).catch(caught => caught)
      seen.push(error)
      expect(error).toMatchObject({ failure: 'refusing', message: expect.stringContaining('WRONGPASS') })
      await server.signal('SIGKILL')
      await take()
      seen.push(await Promise.resolve(wrong.probe()).catch(caught => caught))
      expect(states()).toEqual(['begun'])
      expect(inspect(seen, { depth: 20, showHidden: true })).not.toMatch(/w[01]rd/)
    })
  })
})

describeServer('memory', () => {
  test('every key expires, and an idle server is empty again', async () => {
    const { server, storage } = await scene()
    const at = Date.now()
    const { counters, routing } = storage
    for (let n = 0; n < 50; n++) {
      await counters.take([{ key: `w/${n}`, amount: 1, limit: 5, windowMs: 3_000 }], at)
      await counters.add(`w/${n}`, 1, at)
      await counters.enter({ key: `w/s${n}`, slot: 'a', limit: 1, ttlMs: 3_000 }, at)
    }
    await routing?.pause([{ offer: 'o', until: at + minute }], at)
    await routing?.remember([{ key: 'hash', offer: 'o', tokens: 1, at }], at)
    await server.admin(async redis => {
      const keys = await redis.keys('*')
      expect(keys.length).toBeGreaterThan(100)
      for (const key of keys) expect([key, (await redis.pttl(key)) > 0]).toEqual([key, true])
      await waitFor(async () => expect((await redis.keys('*')).filter(key => /w\//.test(key))).toEqual([]))
    })
  })

  test('slots of crashed processes do not accumulate in a set that is never full', async () => {
    const { server, ephemeral } = await scene({ clock: 'caller' })
    const from = 1_750_000_000_000
    for (let n = 0; n < 500; n++) await ephemeral.counters.enter({ key: 'w/s', slot: `${n}`, limit: 1e6, ttlMs: 90_000 }, from + n * 10_000)
    expect(await server.admin(redis => redis.zcard('signalbox:slots:{_w}w/s'))).toBeLessThan(100)
  })

  test('a server that evicts keys causes a warning', async () => {
    const { server, lines } = await scene({ server: { args: ['--maxmemory', '10mb', '--maxmemory-policy', 'allkeys-lru'] } })
    await waitFor(() =>
      expect(lines).toEqual([[{ server: `127.0.0.1:${server.port}`, policy: 'allkeys-lru' }, expect.stringContaining('noeviction')]]),
    )
  })
})

describeServer('time', () => {
  test("is the server's: processes whose clocks differ by hours share one window", async () => {
    const { storage } = await scene()
    const request = { key: 'w/rpm', amount: 1, limit: 2, windowMs: minute }
    const now = Date.now()
    expect(await storage.counters.take([request], now - 7_200_000)).toBeUndefined()
    expect(await storage.counters.take([request], now + 7_200_000)).toBeUndefined()
    const refusal = await storage.counters.take([request], 0)
    expect(refusal?.retryAfterMs).toBeGreaterThan(minute - 10_000)
    expect(refusal?.retryAfterMs).toBeLessThanOrEqual(minute)
  })

  test('advances: a retry after the stated time is admitted', async () => {
    const { storage } = await scene()
    const request = { key: 'w/rpm', amount: 1, limit: 1, windowMs: 300 }
    await storage.counters.take([request], 0)
    const refusal = await storage.counters.take([request], 0)
    await new Promise(resolve => setTimeout(resolve, (refusal?.retryAfterMs ?? 0) + 5))
    expect(await storage.counters.take([request], 0)).toBeUndefined()
    expect(await storage.counters.enter({ key: 'w/s', slot: 'a', limit: 1, ttlMs: 200 }, 0)).toBe(true)
    expect(await storage.counters.enter({ key: 'w/s', slot: 'b', limit: 1, ttlMs: 200 }, 0)).toBe(false)
    await new Promise(resolve => setTimeout(resolve, 210))
    expect(await storage.counters.enter({ key: 'w/s', slot: 'b', limit: 1, ttlMs: 200 }, 0)).toBe(true)
  })
})
