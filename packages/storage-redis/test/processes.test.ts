import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith, services } from '../../testing/test/services.ts'
import { redisStores } from '../src/index.ts'

const describeRedis = await describeWith('redis')

const url = `redis://${services.redis.host}:${services.redis.port}`
const child = fileURLToPath(new URL('race-child.ts', import.meta.url))

interface Racer {
  readonly process: ChildProcess
  /** Requests of it that were admitted. */
  readonly admitted: () => number
  readonly over: Promise<unknown>
}

function race(prefix: string, limit: number): Racer {
  const started = spawn(process.execPath, ['--conditions=signalbox-source', child, url, prefix, `${limit}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void started.kill('SIGKILL'))
  let admitted = 0
  started.stdout.on('data', (text: Buffer) => {
    admitted += text.length
  })
  return { process: started, admitted: () => admitted, over: once(started, 'close') }
}

/** Stores to look at a counter with, whose keys are removed after the test. */
function look() {
  const prefix = `signalbox-test:${randomUUID()}:`
  const stores = redisStores({ url, prefix, maxWaitMs: 5_000 })
  onTestFinished(() => stores.close())
  const isFull = async (limit: number): Promise<boolean> =>
    (await stores.counters.take([{ key: 'w/rpm', amount: 0, limit, windowMs: 3_600_000 }], 0)) !== undefined
  return { prefix, isFull }
}

const limit = 3_000

describeRedis('two processes race for one limit', () => {
  test('and exactly as many requests are admitted as it allows', async () => {
    const { prefix, isFull } = look()
    const racers = [race(prefix, limit), race(prefix, limit)]
    await Promise.all(racers.map(({ over }) => over))
    const counts = racers.map(({ admitted }) => admitted())
    expect(counts.reduce((sum, count) => sum + count)).toBe(limit)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect([await isFull(limit - 1), await isFull(limit)]).toEqual([true, false])
  })

  test('and where one is killed, the other takes what is left: no more, and no less but what the dead one had been given', async () => {
    const { prefix, isFull } = look()
    const [dead, alive] = [race(prefix, limit), race(prefix, limit)]
    while (dead.admitted() < limit / 6) await new Promise(resolve => setTimeout(resolve, 1))
    dead.process.kill('SIGKILL')
    await Promise.all([dead.over, alive.over])
    const sum = dead.admitted() + alive.admitted()
    expect(sum).toBeLessThanOrEqual(limit)
    // Its eight clients may each have been admitted without having written it.
    expect(sum).toBeGreaterThanOrEqual(limit - 8)
    expect([await isFull(limit - 1), await isFull(limit)]).toEqual([true, false])
  })
})
