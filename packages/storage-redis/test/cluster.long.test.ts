import { composeStorage, type OutageEvent } from '@signalbox/storage/compose'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { redisStores } from '../src/index.ts'
import { type RedisServer, startCluster } from './redis-server.ts'

// What happens to a Redis Cluster while it is used. The conformance suite on one is in `conformance.test.ts`.

const describeCluster = describeWith('redis-server')

const minute = 60_000
const maxWaitMs = 300

describeCluster('a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  function open(name: string, maxWait = maxWaitMs) {
    const events: OutageEvent[] = []
    const storage = composeStorage({
      durable: memoryStorage(),
      ephemeral: redisStores({ url: cluster.urls, prefix: `${name}:`, maxWaitMs: maxWait, logger: { warn: () => {} } }),
      onOutage: event => events.push(event),
      logger: { info: () => {}, warn: () => {} },
    })
    onTestFinished(() => storage.close())
    const take = (workspace: string, limit: number) =>
      storage.counters.take(
        ['rpm', 'rpm:key:model'].map(key => ({ key: `${workspace}/${key}`, amount: 1, limit, windowMs: minute })),
        Date.now(),
      )
    return { storage, take, states: () => events.map(({ state }) => state) }
  }

  test.each([
    ['is killed', (server: RedisServer) => server.signal('SIGKILL'), (server: RedisServer) => server.restart()],
    ['hangs', (server: RedisServer) => server.signal('SIGSTOP'), (server: RedisServer) => server.signal('SIGCONT')],
  ])('with one node that %s fails no call, delays none for long, and uses the node again by itself', async (name, begin, end) => {
    const { take, states } = open(name)
    // Enough workspaces for every node.
    const workspaces = Array.from({ length: 20 }, (_, n) => `ws_${n}`)
    for (const workspace of workspaces) expect(await take(workspace, 1)).toBeUndefined()
    const [, server] = cluster.servers
    if (!server) throw new Error('The cluster has three nodes.')
    await begin(server)
    const waits: number[] = []
    for (let round = 0; round < 30; round++) {
      for (const workspace of workspaces) {
        const since = performance.now()
        await take(workspace, 1_000)
        waits.push(performance.now() - since)
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    expect(Math.max(...waits)).toBeLessThan(20 * maxWaitMs)
    expect(states()[0]).toBe('begun')
    await end(server)
    await waitFor(
      async () => {
        for (const workspace of workspaces) await take(workspace, 1_000)
        expect(states().at(-1)).toBe('over')
      },
      { interval: 200 },
    )
    const before = states().length
    for (const workspace of workspaces) await take(workspace, 1_000)
    expect(states()).toHaveLength(before)
  })

  test('whose slots move to another node counts exactly, during calls', async () => {
    const { take, states } = open('move', 5_000)
    const [one, two, three] = cluster.servers
    if (!one || !two || !three) throw new Error('The cluster has three nodes.')
    await take('w', 1e6)
    const slot = await one.admin(async redis => Number(await redis.call('CLUSTER', 'KEYSLOT', 'move:counter:{_w}')))
    const owner = async (): Promise<RedisServer> => {
      for (const server of cluster.servers)
        if (Number(await server.admin(redis => redis.call('CLUSTER', 'COUNTKEYSINSLOT', slot))) > 0) return server
      throw new Error('No node has the slot.')
    }
    const idOf = (server: RedisServer): Promise<string> => server.admin(async redis => String(await redis.call('CLUSTER', 'MYID')))
    let admitted = 1
    let isMoving = true
    const client = async (): Promise<void> => {
      while (isMoving) if ((await take('w', 1e6)) === undefined) admitted += 1
    }
    const load = Promise.all(Array.from({ length: 10 }, client))
    for (let round = 0; round < 4; round++) {
      const from = await owner()
      const to = from === one ? two : one
      const [fromId, toId] = [await idOf(from), await idOf(to)]
      await to.admin(redis => redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId))
      await from.admin(async redis => {
        await redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
        for (;;) {
          const keys = (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as string[]
          if (keys.length === 0) break
          for (const key of keys) await redis.call('MIGRATE', '127.0.0.1', to.port, key, 0, 5_000)
          await new Promise(resolve => setTimeout(resolve, 20))
        }
      })
      for (const server of [to, from, three]) await server.admin(redis => redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId))
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    isMoving = false
    await load
    expect(admitted).toBeGreaterThan(100)
    expect(await take('w', admitted)).toMatchObject({ key: 'w/rpm' })
    expect(await take('w', admitted + 1)).toBeUndefined()
    expect(states()).toEqual([])
  })
})
