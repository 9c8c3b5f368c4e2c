import { setImmediate } from 'node:timers/promises'
import type { LiveHold } from '@signalbox/storage/ledger'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import type { Clock } from '../../runtime/ports.ts'
import type { RunningRequest } from '../running-requests.ts'
import { createHoldCollector } from './collect-holds.ts'

/** A collector, and one hold that is not renewed. */
function createCollector(clock: Clock, renew: () => Promise<void>, running = new Set<RunningRequest>()) {
  let holds: readonly LiveHold[] = [{ id: 'r1', version: 1, journal: '' } as LiveHold]
  const settled: string[] = []
  const ledger = {
    renew,
    holds: async () => holds,
    async settle({ id }: { readonly id: string }) {
      settled.push(id)
      holds = []
    },
  }
  const collector = createHoldCollector({
    storage: { ledger } as never,
    settlements: { adopt: async () => {}, has: () => false },
    policies: { of: async () => undefined },
    running,
    clock,
    logger: { info() {}, warn() {}, error() {} },
  })
  return { collector, settled }
}

/** The collector in a runtime that drops its timers, as Workers do once a request is over. */
function createFixture(renew: () => Promise<void>, running?: Set<RunningRequest>) {
  let now = 0
  const clock: Clock = { now: () => now, monotonic: () => now, setTimeout: () => ({}), clearTimeout() {} }
  const { collector, settled } = createCollector(clock, renew, running)
  /** Uses the gateway every so many milliseconds; resolves to when the hold was settled. */
  const useEvery = async (milliseconds: number): Promise<number | undefined> => {
    for (; now <= 180_000; now += milliseconds) {
      collector.wake()
      await setImmediate()
      if (settled.length > 0) return now
    }
    return undefined
  }
  return { collector, useEvery }
}

const lost = new Promise<never>(() => {})

test('if timers are dropped, every request past the due time collects expired holds', async () => {
  expect(await createFixture(async () => {}).useEvery(10_000)).toBe(50_000)
})

test('a collection that was dropped with its request is started again by a request soon after it', async () => {
  let collections = 0
  const { useEvery } = createFixture(() => (collections++ === 0 ? lost : Promise.resolve()))
  expect(await useEvery(10_000)).toBe(70_000)
})

test('a collection that failed is repeated without further requests, less and less often', async () => {
  const clock = fakeClock()
  const attempts: number[] = []
  let isLocked = true
  const { collector, settled } = createCollector(clock, async () => {
    attempts.push(clock.monotonic() / 1_000)
    if (isLocked) throw new Error('locked')
  })
  collector.wake()
  await clock.advance(2_500_000)
  expect(attempts).toEqual([0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430])
  isLocked = false
  await clock.advance(700_000)
  expect(settled).toEqual(['r1'])
})

test('a collection is passed to the waitUntil of the request that started it', () => {
  const { collector } = createFixture(() => lost)
  const handed: Promise<unknown>[] = []
  collector.wake(work => void handed.push(work))
  expect(handed).toHaveLength(1)
})

test('only a request that has not ended a minute after its deadline is settled as interrupted', async () => {
  const runningTo = (deadlineAt: number) => new Set<RunningRequest>([{ requestId: 'r1', slots: [], deadlineAt }])
  const gone = runningTo(30_000)
  expect(await createFixture(async () => {}, gone).useEvery(10_000)).toBe(150_000)
  expect(gone.size).toBe(0)
  const alive = runningTo(130_000)
  expect(await createFixture(async () => {}, alive).useEvery(10_000)).toBeUndefined()
  expect(alive.size).toBe(1)
})
