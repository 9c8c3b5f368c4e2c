import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createOutputPaces } from './hidden-tokens.ts'
import { createUsageDrains, usageDrainLimits } from './usage-drains.ts'

test('a drain that finishes in time is not ended, and leaves no timer', async () => {
  const clock = fakeClock()
  let ends = 0
  const done = createUsageDrains(clock).begin(() => {
    ends += 1
  })
  done?.()
  await clock.advance(usageDrainLimits.milliseconds)
  expect([ends, clock.pending()]).toEqual([0, 0])
})

test('a drain is ended after five seconds, once', async () => {
  const clock = fakeClock()
  const drains = createUsageDrains(clock)
  let ends = 0
  drains.begin(() => {
    ends += 1
  })
  await clock.advance(usageDrainLimits.milliseconds - 1)
  expect(ends).toBe(0)
  await clock.advance(1)
  drains.stop()
  expect(ends).toBe(1)
})

test('only the maximum number of drains runs at once; each that finishes makes room for another', async () => {
  const clock = fakeClock()
  const drains = createUsageDrains(clock)
  const done = Array.from({ length: usageDrainLimits.atOnce }, () => drains.begin(() => {}))
  let ends = 0
  const begin = () =>
    drains.begin(() => {
      ends += 1
    })
  expect(begin()).toBeUndefined()
  done[0]?.()
  expect(begin()).toBeDefined()
  expect([begin(), clock.pending()]).toEqual([undefined, usageDrainLimits.atOnce])
  await clock.advance(usageDrainLimits.milliseconds)
  expect(ends).toBe(1)
  expect(begin()).toBeDefined()
  drains.stop()
})

test('all drains end when the gateway closes, and no new one starts', () => {
  const clock = fakeClock()
  const drains = createUsageDrains(clock)
  const ended: string[] = []
  drains.begin(() => ended.push('a'))
  drains.begin(() => ended.push('b'))
  drains.stop()
  expect(drains.begin(() => ended.push('c'))).toBeUndefined()
  expect([ended, clock.pending()]).toEqual([['a', 'b'], 0])
})

test('the output rate of an offer is that of its responses, the newest weighing little', () => {
  const paces = createOutputPaces()
  expect(paces.of('a')).toBeUndefined()
  paces.learn('a', { outputTokens: 30_000, milliseconds: 60_000 })
  expect(paces.of('a')).toBeCloseTo(500)
  for (let at = 0; at < 100; at++) paces.learn('a', { outputTokens: 100, milliseconds: 1_000 })
  expect(paces.of('a')).toBeGreaterThan(95)
  expect(paces.of('a')).toBeLessThan(110)
  paces.learn('b', { outputTokens: 1, milliseconds: 1_000 })
  paces.learn('b', { outputTokens: 100, milliseconds: 0 })
  expect(paces.of('b')).toBeUndefined()
})
