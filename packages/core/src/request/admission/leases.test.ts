import { expect, test } from 'vitest'
import type { Clock } from '../../runtime/ports.ts'
import type { RunningRequest } from '../running-requests.ts'
import { createLeases } from './leases.ts'

/** A clock whose timers can be dropped, as Workers drop the timers of a request that is over. */
function createFixture(renew?: () => Promise<void>) {
  let now = 0
  const timers = new Map<number, { readonly at: number; readonly run: () => void }>()
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimeout(run, milliseconds) {
      timers.set(timers.size + now + 1, { at: now + milliseconds, run })
      return timers.size + now
    },
    clearTimeout: timer => void timers.delete(timer as number),
  }
  const renewed: string[] = []
  const running = new Set<RunningRequest>()
  const leases = createLeases({
    running,
    clock,
    ledger: {
      renew(holds) {
        renewed.push(...holds.map(({ id }) => id))
        return renew?.()
      },
    },
    counters: { enter: () => true, leave() {}, take: () => undefined, add() {} },
    logger: { info() {}, warn() {}, error() {} },
  })
  const advance = (milliseconds: number): void => {
    now += milliseconds
    for (const [id, timer] of [...timers]) {
      if (timer.at > now) continue
      timers.delete(id)
      timer.run()
    }
  }
  return { leases, running, renewed, timers, advance, now: () => now }
}

const request = (requestId: string, holdDueAt: number): RunningRequest =>
  ({ requestId, holdDueAt, slots: [], control: {} }) as unknown as RunningRequest

test('a timer that the runtime has dropped is set again by the next request, and holds are renewed', async () => {
  const { leases, running, renewed, timers, advance, now } = createFixture()
  running.add(request('long', 1))
  leases.begin(now())
  timers.clear()
  advance(10_000)
  expect(renewed).toEqual([])
  running.add(request('next', now() + 1))
  leases.begin(now())
  advance(2_001)
  await Promise.resolve()
  expect(renewed).toEqual(['long', 'next'])
})

test('requests share one timer while it is not late, and no timer is left after the last request', () => {
  const { leases, running, timers, advance, now } = createFixture()
  const one = request('one', 1)
  running.add(one)
  for (let n = 0; n < 100; n++) leases.begin(now())
  expect(timers.size).toBe(1)
  running.delete(one)
  advance(2_001)
  expect(timers.size).toBe(0)
})

test('a renewal that was dropped with its request does not keep later renewals from running', async () => {
  const { leases, running, renewed, timers, advance, now } = createFixture(() => new Promise(() => {}))
  running.add(request('long', 1))
  leases.begin(now())
  advance(2_001)
  expect(renewed).toEqual(['long'])
  // The request whose timer started the renewal is over: neither the store’s response nor the renewal’s own timeout comes.
  timers.clear()
  advance(11_000)
  leases.renewDue()
  expect(renewed).toEqual(['long'])
  advance(2_000)
  leases.renewDue()
  expect(renewed).toEqual(['long', 'long'])
})
