import { composeStorage, type OutageEvent } from '@signalbox/storage/compose'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { redisStores } from '../src/index.ts'
import { type RedisServer, testRedis } from './redis-server.ts'

// The exact number of requests that a limit admits when Redis goes away and comes back within its window.

const describeServer = describeWith('redis-server')
const limit = 10
const windowMs = 60_000
const slotKey = 'w/slots'

/** Processes with one Redis and one durable storage. */
async function fleet(count: number) {
  const server = await testRedis()
  const durable = memoryStorage()
  const processes = Array.from({ length: count }, () => {
    const events: OutageEvent[] = []
    const ephemeral = redisStores({ url: server.url, maxWaitMs: 200 })
    const logger = { info: () => {}, warn: () => {} }
    const storage = composeStorage({ durable, ephemeral, onOutage: event => events.push(event), logger })
    onTestFinished(() => storage.close())
    const take = (window = windowMs) => storage.counters.take([{ key: 'w/rpm', amount: 1, limit, windowMs: window }], Date.now())
    const admitted = async (times: number, window?: number): Promise<number> => {
      let admitted = 0
      for (let n = 0; n < times; n++) if ((await take(window)) === undefined) admitted += 1
      return admitted
    }
    const enter = (slot: string, most = 1) => storage.counters.enter({ key: slotKey, slot, limit: most, ttlMs: windowMs }, Date.now())
    const isOver = () => waitFor(() => expect(events.at(-1)?.state).toBe('over'), { interval: 20 })
    return { ephemeral, storage, take, admitted, enter, isOver }
  })
  for (const { ephemeral } of processes) await waitFor(() => ephemeral.probe())
  const slots = (redis: RedisServer) => redis.admin(client => client.zcard('signalbox:slots:{_w}w/slots'))
  return { server, processes, slots }
}

async function processOf(count = 1) {
  const { server, processes, slots } = await fleet(count)
  const [one, other] = processes
  if (!one) throw new Error('There is no process.')
  return { server, one, other: other ?? one, slots }
}

describeServer('a limit, when Redis does not answer for a moment', () => {
  test('that is full stays full, and a refusal has the end of its window', async () => {
    const { server, one } = await processOf()
    expect(await one.admitted(limit + 1)).toBe(limit)
    await new Promise(resolve => setTimeout(resolve, 1_000))
    await server.signal('SIGSTOP')
    expect(await one.admitted(20)).toBe(0)
    expect((await one.take())?.retryAfterMs).toBeLessThanOrEqual(windowMs - 1_000)
    await server.signal('SIGCONT')
    await one.isOver()
    expect(await one.admitted(20)).toBe(0)
  })

  test('admits its limit in total, in one process', async () => {
    const { server, one } = await processOf()
    expect(await one.admitted(4)).toBe(4)
    await server.signal('SIGSTOP')
    expect(await one.admitted(3)).toBe(3)
    await server.signal('SIGCONT')
    await one.isOver()
    // The call that noticed the outage is counted by Redis too, once it goes on.
    expect([2, 3]).toContain(await one.admitted(20))
  })

  test('exceeds its limit by no more than what another process took since this one last read it', async () => {
    const { server, one, other } = await processOf(2)
    expect([await one.admitted(4), await other.admitted(3)]).toEqual([4, 3])
    await server.signal('SIGSTOP')
    // One knows of 4 and the other of 7: the fallback that they share goes up to 6.
    expect([await other.admitted(20), await one.admitted(20)]).toEqual([3, 3])
    await server.signal('SIGCONT')
    await Promise.all([one.isOver(), other.isOver()])
    expect([await one.admitted(20), await other.admitted(20)]).toEqual([0, 0])
  })

  test('counts what was admitted meanwhile if Redis lost its data', async () => {
    const { server, one } = await processOf()
    expect(await one.admitted(4)).toBe(4)
    await server.signal('SIGKILL')
    expect(await one.admitted(20)).toBe(6)
    await server.restart()
    await one.isOver()
    expect(await one.admitted(20)).toBe(4)
  })

  test('counts what was admitted in the window that is open at the end, not in all of a long outage', async () => {
    const { server, one } = await processOf()
    const short = 2_000
    await server.signal('SIGKILL')
    for (const _ of ['first', 'second']) {
      expect(await one.admitted(20, short)).toBe(limit)
      await new Promise(resolve => setTimeout(resolve, short + 100))
    }
    expect(await one.admitted(4, short)).toBe(4)
    await server.restart()
    await one.isOver()
    // All of it, if the window ended before Redis was used again.
    expect(await one.admitted(20, short)).toBeGreaterThanOrEqual(limit - 4)
  })

  test('includes corrections made meanwhile', async () => {
    const { server, one } = await processOf()
    expect(await one.admitted(4)).toBe(4)
    await server.signal('SIGKILL')
    expect(await one.admitted(6)).toBe(6)
    await one.storage.counters.add('w/rpm', -3, Date.now())
    await server.restart()
    await one.isOver()
    expect(await one.admitted(20)).toBe(7)
  })
})

describeServer('a slot, when the answer of Redis is lost', () => {
  test('is free again if it was taken and freed meanwhile', async () => {
    const { server, one, slots } = await processOf()
    await server.signal('SIGSTOP')
    // It is sent, and done once the server goes on; the answer of the fallback is used.
    expect(await one.enter('r')).toBe(true)
    await one.storage.counters.leave(slotKey, 'r')
    await server.signal('SIGCONT')
    await one.isOver()
    await waitFor(async () => expect(await slots(server)).toBe(0))
    expect(await one.enter('next')).toBe(true)
  })

  test('is one slot if it was taken and its request still runs, and is free once that is settled', async () => {
    const { server, one, slots } = await processOf()
    await server.signal('SIGSTOP')
    expect(await one.enter('r')).toBe(true)
    await server.signal('SIGCONT')
    await one.isOver()
    expect([await slots(server), await one.enter('next')]).toEqual([1, false])
    await one.storage.counters.leave(slotKey, 'r')
    expect([await slots(server), await one.enter('next')]).toEqual([0, true])
  })

  test('is free if the call that failed was the one that frees it', async () => {
    const { server, one, slots } = await processOf()
    expect(await one.enter('r')).toBe(true)
    await server.signal('SIGSTOP')
    await one.storage.counters.leave(slotKey, 'r')
    await server.signal('SIGCONT')
    await one.isOver()
    expect([await slots(server), await one.enter('next')]).toEqual([0, true])
  })
})
