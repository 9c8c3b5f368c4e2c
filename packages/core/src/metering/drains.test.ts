import { expect, test } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { drainLimits, keepDrains } from './drains.ts'
import { keepPaces } from './hidden-tokens.ts'

const never = (): Promise<boolean> => new Promise(() => {})

test('reads until there is nothing more to read', async () => {
  const drains = keepDrains(fakeClock())
  let reads = 0
  await drains.run(async () => ++reads < 7)
  expect(reads).toBe(7)
})

test('ends after five seconds, also where a read never ends', async () => {
  const clock = fakeClock()
  let isOver = false
  void keepDrains(clock)
    .run(never)
    .then(() => {
      isOver = true
    })
  await clock.advance(drainLimits.milliseconds - 1)
  expect(isOver).toBe(false)
  await clock.advance(1)
  expect(isOver).toBe(true)
})

test('ends where a read fails', async () => {
  await keepDrains(fakeClock()).run(() => Promise.reject(new Error('gone')))
})

test('so many run at once and no more; the others end at once', async () => {
  const drains = keepDrains(fakeClock())
  for (let at = 0; at < drainLimits.atOnce; at++) void drains.run(never)
  let reads = 0
  await drains.run(async () => {
    reads += 1
    return false
  })
  expect(reads).toBe(0)
  drains.stop()
})

test('all end when the gateway closes, and none begins', async () => {
  const drains = keepDrains(fakeClock())
  const running = [drains.run(never), drains.run(never)]
  drains.stop()
  await Promise.all([...running, drains.run(never)])
})

test('the pace of an offer is that of its answers, the newest counting a little', () => {
  const paces = keepPaces()
  expect(paces.of('a')).toBe(60)
  paces.learn('a', { outputTokens: 30_000, milliseconds: 60_000 })
  expect(paces.of('a')).toBeCloseTo(500)
  for (let at = 0; at < 100; at++) paces.learn('a', { outputTokens: 100, milliseconds: 1_000 })
  expect(paces.of('a')).toBeGreaterThan(95)
  expect(paces.of('a')).toBeLessThan(110)
  paces.learn('b', { outputTokens: 1, milliseconds: 1_000 })
  paces.learn('b', { outputTokens: 100, milliseconds: 0 })
  expect(paces.of('b')).toBe(60)
})
