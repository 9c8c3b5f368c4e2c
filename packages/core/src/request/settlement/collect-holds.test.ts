import { setImmediate } from 'node:timers/promises'
import type { LiveHold } from '@signalbox/storage/ledger'
import { expect, test } from 'vitest'
import type { Clock } from '../../runtime/ports.ts'
import type { RunningRequest } from '../running-requests.ts'
import { createHoldCollector } from './collect-holds.ts'

/** A collector in a runtime that drops its timers, as Workers do once a request is over, and one hold that is not renewed. */
function createFixture(renew: () => Promise<void>, running = new Set<RunningRequest>()) {
  let now = 0
  const clock: Clock = { now: () => now, monotonic: () => now, setTimeout: () => ({}), clearTimeout() {} }
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
