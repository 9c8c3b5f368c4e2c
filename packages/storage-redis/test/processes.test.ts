import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith, redisUrl as url } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { redisStores } from '../src/index.ts'

const describeRedis = describeWith('redis')

const child = fileURLToPath(new URL('race-child.ts', import.meta.url))

interface Racer {
  readonly process: ChildProcess
  readonly isReady: () => boolean
  /** Requests of it that were admitted. */
  readonly admitted: () => number
  readonly over: Promise<unknown>
}

function race(prefix: string): Racer {
  const folder = mkdtempSync(join(tmpdir(), 'race-'))
  const file = join(folder, 'admitted')
  const started = spawn(process.execPath, ['--conditions=signalbox-source', child, url, prefix, `${limit}`, file], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  onTestFinished(() => {
    started.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const admitted = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return { process: started, isReady: () => existsSync(file), admitted, over: once(started, 'close') }
}

/** Stores to look at a counter with, whose keys are removed after the test. */
function look() {
  const prefix = `signalbox-test:${randomUUID()}:`
  const stores = redisStores({ url, prefix, maxWaitMs: 5_000 })
  onTestFinished(() => stores.close())
  const isFull = async (limit: number): Promise<boolean> =>
    (await stores.counters.take([{ key: 'w/rpm', amount: 0, limit, windowMs: 120_000 }], 0)) !== undefined
  return { prefix, isFull }
}

const limit = 6_000

/** Two processes that begin together. */
async function startRace(prefix: string): Promise<readonly [Racer, Racer]> {
  const racers = [race(prefix), race(prefix)] as const
  await waitFor(() => expect(racers.every(({ isReady }) => isReady())).toBe(true), { interval: 5 })
  for (const { process } of racers) process.stdin?.end('go')
  return racers
}

describeRedis('two processes race for one limit', () => {
  test('and exactly as many requests are admitted as it allows', async () => {
    const { prefix, isFull } = look()
    const racers = await startRace(prefix)
    await Promise.all(racers.map(({ over }) => over))
    const counts = racers.map(({ admitted }) => admitted())
    expect(counts.reduce((sum, count) => sum + count)).toBe(limit)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect([await isFull(limit - 1), await isFull(limit)]).toEqual([true, false])
  })

  test('and after one is killed, the other takes the rest: no more, and no less except what the killed one had been granted', async () => {
    const { prefix, isFull } = look()
    const [dead, alive] = await startRace(prefix)
    while (dead.admitted() < 100) await new Promise(resolve => setTimeout(resolve, 1))
    dead.process.kill('SIGKILL')
    await Promise.all([dead.over, alive.over])
    const sum = dead.admitted() + alive.admitted()
    expect(sum).toBeLessThanOrEqual(limit)
    // Its eight clients may each have been admitted without having written it.
    expect(sum).toBeGreaterThanOrEqual(limit - 8)
    expect([await isFull(limit - 1), await isFull(limit)]).toEqual([true, false])
  })
})
