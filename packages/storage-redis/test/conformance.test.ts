import { randomUUID } from 'node:crypto'
import { composeStorage } from '@signalbox/storage/compose'
import { memoryStorage } from '@signalbox/storage-memory'
import { describeStorage } from '@signalbox/testing/storage'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { describeWith, redisUrl } from '../../testing/test/services.ts'
import { redisStores } from '../src/index.ts'
import { startCluster } from './redis-server.ts'

const describeRedis = describeWith('redis')

const storageOn = async (url: string | readonly string[]) => {
  const prefix = `signalbox-test:${randomUUID()}:`
  const ephemeral = redisStores({ url, prefix, clock: 'caller', maxWaitMs: 10_000 })
  return { storage: composeStorage({ durable: memoryStorage(), ephemeral, onOutage: ({ reason }) => expect.unreachable(reason) }) }
}

describeRedis('on one server', () => {
  describeStorage('memory and Redis', () => storageOn(redisUrl), {
    share: inject('isLongRun') ? 1 : 0.2,
    only: ['counters', 'admissions', 'routing'],
  })
})

if (inject('isLongRun'))
  describeWith('redis-server')('on a cluster of three nodes', () => {
    let cluster: Awaited<ReturnType<typeof startCluster>>
    beforeAll(async () => {
      cluster = await startCluster()
    })
    afterAll(() => cluster.stop())

    describeStorage('memory and Redis Cluster', () => storageOn(cluster.urls), { lacks: ['reopen', 'spool'] })

    test('counters of one workspace share a take, and those of 50 workspaces are on all nodes', async () => {
      const { storage } = await storageOn(cluster.urls)
      const at = Date.now()
      for (let workspace = 0; workspace < 50; workspace++) {
        const keys = ['rpm', 'rpm:key_1:model', 'tpm:key_1:5'].map(key => `ws_${workspace}/${key}`)
        const take = () =>
          storage.counters.take(
            keys.map((key, place) => ({ key, amount: 1, limit: 3 - place, windowMs: 60_000 })),
            at,
          )
        expect(await take()).toBeUndefined()
        expect(await take()).toMatchObject({ key: keys[2] })
        expect(await storage.counters.take([{ key: `ws_${workspace}/rpm`, amount: 2, limit: 3, windowMs: 60_000 }], at)).toBeUndefined()
      }
      const sizes = await Promise.all(cluster.servers.map(server => server.admin(redis => redis.dbsize())))
      for (const size of sizes) expect(size).toBeGreaterThan(10)
      await storage.close()
    })

    test('a take of counters that may be on two nodes is refused and counts none of them', async () => {
      const { storage } = await storageOn(cluster.urls)
      const requests = ['ws_1/a', 'ws_2/a'].map(key => ({ key, amount: 1, limit: 1, windowMs: 60_000 }))
      await expect(storage.counters.take(requests, 0)).rejects.toThrow('`ws_1/a` and `ws_2/a` may be on two nodes')
      for (const request of requests) expect(await storage.counters.take([request], 0)).toBeUndefined()
      await storage.close()
    })
  })
