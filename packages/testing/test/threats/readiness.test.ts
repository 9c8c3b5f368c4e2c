import { createApi } from '@signalbox/api'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { ask } from '../../../api/test/asking.ts'
import { fakeClock } from '../../src/fake-clock.ts'
import { testGateway } from '../../src/gateway.ts'

test('/readyz pings the storage at most once a second, also for concurrent requests, and its response is no older', async () => {
  const clock = fakeClock()
  let pings = 0
  let down = false
  const storage = {
    ...memoryStorage(),
    ping: async () => {
      pings += 1
      if (down) throw new Error('/secret/path is gone')
    },
  }
  const { gateway } = await testGateway({ storage, clock })
  const api = createApi(gateway)
  const statuses = async (count: number): Promise<readonly number[]> =>
    (await Promise.all(Array.from({ length: count }, () => ask(api, 'GET /readyz')))).map(({ status }) => status)
  expect(new Set(await statuses(500))).toEqual(new Set([200]))
  expect(pings).toBe(1)
  down = true
  await clock.advance(999)
  expect(await statuses(2)).toEqual([200, 200])
  await clock.advance(1)
  expect(await statuses(2)).toEqual([503, 503])
  expect(pings).toBe(2)
})
