import { expect, test } from 'vitest'
import {
  applyHeadroom,
  type Capacity,
  currentCongestionPrice,
  currentHeadroom,
  makeCapacity,
  pauseFor,
  recordAccepted,
  recordRateLimited,
  takeSlot,
  timeUntilFree,
} from './capacity.ts'

/** A call that was sent when the offer was expected to have room. */
const sentAt = (startedAt: number) => ({ startedAt, beyondLimit: false })

/** Number of calls that were sent, when one is attempted every `everyMs` and sent only if the offer is expected to have room. */
function press(
  capacity: Capacity,
  { from, to, everyMs }: { readonly from: number; readonly to: number; readonly everyMs: number },
): number {
  let calls = 0
  for (let now = from; now < to; now += everyMs) {
    if (timeUntilFree(capacity, now) > 0) continue
    takeSlot(capacity, now)
    recordAccepted(capacity, now)
    calls += 1
  }
  return calls
}

/** An offer that accepted ten calls a second for a minute and then returned 429. */
function limited(): Capacity {
  const capacity = makeCapacity(0)
  press(capacity, { from: 0, to: 60_000, everyMs: 100 })
  recordRateLimited(capacity, 60_000, { chance: 0.5, call: sentAt(60_000) })
  return capacity
}

test('nothing is held back before a limit is observed', () => {
  expect(press(makeCapacity(0), { from: 0, to: 10_000, everyMs: 10 })).toBe(1_000)
})

test('after a 429 about nine tenths of the accepted rate are sent, and slowly more', () => {
  const capacity = limited()
  const calls = press(capacity, { from: 60_000, to: 70_000, everyMs: 10 })
  expect(calls).toBeGreaterThan(75)
  expect(calls).toBeLessThan(105)
  const later = press(capacity, { from: 70_000, to: 80_000, everyMs: 10 })
  expect(later).toBeGreaterThan(calls * 1.1)
  expect(later).toBeLessThan(calls * 1.6)
})

test('a call under a learned limit takes a slot: the next waits for its share of a second', () => {
  const capacity = limited()
  const now = 61_000
  for (let calls = 0; timeUntilFree(capacity, now) === 0 && calls < 1_000; calls += 1) takeSlot(capacity, now)
  const wait = timeUntilFree(capacity, now)
  expect(wait).toBeGreaterThan(0)
  takeSlot(capacity, now)
  expect(timeUntilFree(capacity, now) - wait).toBeCloseTo(1_000 / capacity.limitPerSecond, 3)
  expect(1_000 / capacity.limitPerSecond).toBeGreaterThan(90)
})

test('unused slots are kept for two seconds and no longer', () => {
  const capacity = limited()
  const now = 70_000
  let burst = 0
  while (timeUntilFree(capacity, now) === 0 && burst < 1_000) {
    takeSlot(capacity, now)
    burst += 1
  }
  expect(burst).toBeGreaterThan(1.5 * capacity.limitPerSecond)
  expect(burst).toBeLessThanOrEqual(Math.ceil(2 * capacity.limitPerSecond))
})

test('no queue is assumed to be longer than half a minute', () => {
  const capacity = limited()
  for (let at = 0; at < 10_000; at += 1) takeSlot(capacity, 61_000)
  expect(timeUntilFree(capacity, 61_000)).toBeGreaterThan(29_000)
  expect(timeUntilFree(capacity, 61_000)).toBeLessThan(30_000 + 2 * (1_000 / capacity.limitPerSecond))
})

test('a limit far above the request rate is dropped', () => {
  const capacity = limited()
  press(capacity, { from: 60_000, to: 400_000, everyMs: 1_000 })
  expect(capacity.limitPerSecond).toBe(Number.POSITIVE_INFINITY)
  expect(press(capacity, { from: 400_000, to: 401_000, everyMs: 10 })).toBe(100)
})

test('a 429 lowers the limit only if the call was sent when room was expected, and after the last 429 was known', () => {
  const limitAfter = (...calls: readonly (readonly [sent: number, answered: number, beyondLimit: boolean])[]): number => {
    const capacity = limited()
    recordAccepted(capacity, 60_500)
    for (const [startedAt, now, beyondLimit] of calls) recordRateLimited(capacity, now, { chance: 0.5, call: { startedAt, beyondLimit } })
    takeSlot(capacity, 70_000)
    return capacity.limitPerSecond
  }
  const untouched = limitAfter()
  expect(limitAfter([60_600, 60_700, false])).toBeLessThan(0.95 * untouched)
  expect(limitAfter([60_600, 60_700, true])).toBe(untouched)
  expect(limitAfter([59_900, 60_700, false])).toBe(untouched)
  const once = limitAfter([60_600, 60_700, false])
  expect(limitAfter([60_600, 60_700, false], [60_650, 60_800, false], [60_660, 60_900, false])).toBeCloseTo(once, 9)
  // Nothing was accepted since: the offer is closed for now, which says nothing about its rate.
  expect(limitAfter([60_600, 60_700, false], [61_000, 61_100, false], [62_000, 62_100, false])).toBeCloseTo(once, 9)
})

test('a known limit is lowered by at most a fifth at once, however few calls were accepted lately', () => {
  const capacity: Capacity = { ...makeCapacity(0), limitPerSecond: 4, acceptedPerSecond: 0.2 }
  recordRateLimited(capacity, 0, { chance: 0.5, call: sentAt(0) })
  expect(capacity.limitPerSecond).toBeCloseTo(0.8 * 4, 6)
})

test('calls that are accepted although the offer was expected to be full raise the limit to the accepted rate', () => {
  const capacity: Capacity = { ...makeCapacity(0), limitPerSecond: 2 }
  for (let now = 0; now < 30_000; now += 100) recordAccepted(capacity, now, { beyondLimit: true })
  expect(capacity.limitPerSecond).toBeGreaterThan(9)
})

test('an offer that answers everything with 429 is paused for five seconds at most, and never gets a limit', () => {
  const capacity = makeCapacity(0)
  let calls = 0
  for (let now = 0; now < 600_000; now += 250) {
    const beyondLimit = timeUntilFree(capacity, now) > 0
    if (!beyondLimit) calls += 1
    recordRateLimited(capacity, now, { chance: 0.5, call: { startedAt: now, beyondLimit } })
    expect(timeUntilFree(capacity, now)).toBeLessThanOrEqual(5_000)
  }
  expect(capacity.limitPerSecond).toBe(Number.POSITIVE_INFINITY)
  expect(calls).toBeGreaterThan(100)
  expect(calls).toBeLessThan(140)
})

test('an offer that accepted nothing before a 429 is paused, but gets no limit', () => {
  const capacity = makeCapacity(0)
  recordRateLimited(capacity, 1_000, { chance: 0.5, call: sentAt(1_000) })
  expect(capacity.limitPerSecond).toBe(Number.POSITIVE_INFINITY)
  expect(timeUntilFree(capacity, 1_000)).toBe(250)
  expect(timeUntilFree(capacity, 1_250)).toBe(0)
})

test('each further 429 without Retry-After doubles the pause, up to five seconds, and an answer resets it', () => {
  const capacity = makeCapacity(0)
  const holds = [0, 0, 0, 0, 0, 0, 0].map((_, at) => {
    const now = at * 100_000
    recordRateLimited(capacity, now, { chance: 0.5, call: sentAt(now) })
    return timeUntilFree(capacity, now)
  })
  expect(holds).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
  recordAccepted(capacity, 800_000)
  recordRateLimited(capacity, 900_000, { chance: 0.5, call: sentAt(900_000) })
  expect(timeUntilFree(capacity, 900_000)).toBe(250)
})

test('a pause is spread randomly by a quarter either way', () => {
  const of = (chance: number) => {
    const capacity = makeCapacity(0)
    recordRateLimited(capacity, 0, { chance, call: sentAt(0) })
    return timeUntilFree(capacity, 0)
  }
  expect([of(0), of(1)]).toEqual([187.5, 312.5])
})

test.each([
  [3_000, 3_000],
  [1e9, 600_000],
  [-5, 0],
  [Number.NaN, 0],
])('Retry-After of %d ms pauses for %d', (retryAfterMs, held) => {
  const capacity = makeCapacity(0)
  recordRateLimited(capacity, 0, { retryAfterMs, chance: 0, call: sentAt(0) })
  expect(timeUntilFree(capacity, 0)).toBe(held)
})

test('a later, shorter pause does not shorten an earlier one', () => {
  const capacity = makeCapacity(0)
  pauseFor(capacity, 0, 10_000)
  pauseFor(capacity, 1_000, 2_000)
  expect(timeUntilFree(capacity, 1_000)).toBe(9_000)
})

test('headers tell what remains until the limit is fully available again', () => {
  const capacity = makeCapacity(0)
  applyHeadroom(capacity, 0, { share: 0.4, resetsInMs: 10_000 })
  expect([currentHeadroom(capacity, 9_999), currentHeadroom(capacity, 10_000), timeUntilFree(capacity, 0)]).toEqual([0.4, 1, 0])
  applyHeadroom(capacity, 0, { share: 5, resetsInMs: 10_000 })
  expect(currentHeadroom(capacity, 0)).toBe(1)
  applyHeadroom(capacity, 0, { share: Number.NaN, resetsInMs: 10_000 })
  expect(currentHeadroom(capacity, 0)).toBe(1)
})

test.each([
  [1_000, 100],
  [20_000, 1_000],
  [500_000, 2_000],
])('an exhausted limit that is full again in %d ms pauses for %d', (resetsInMs, held) => {
  const capacity = makeCapacity(0)
  applyHeadroom(capacity, 0, { share: 0, resetsInMs })
  expect(timeUntilFree(capacity, 0)).toBe(held)
})

test('the price of slots rises while fewer than a quarter are free, and falls while more are', () => {
  const capacity = makeCapacity(0)
  applyHeadroom(capacity, 0, { share: 0.1, resetsInMs: 600_000 })
  for (let now = 1_000; now <= 20_000; now += 1_000) takeSlot(capacity, now)
  const dear = currentCongestionPrice(capacity, 20_000)
  expect(dear).toBeCloseTo(0.016 * 0.6 * 20, 3)
  applyHeadroom(capacity, 20_000, { share: 0.9, resetsInMs: 600_000 })
  takeSlot(capacity, 21_000)
  expect(currentCongestionPrice(capacity, 21_000)).toBeLessThan(dear)
  expect(currentCongestionPrice(capacity, 25_000)).toBeLessThan(currentCongestionPrice(capacity, 21_000))
  expect(currentCongestionPrice(capacity, 500_000)).toBe(0)
})

test('a slot never costs more than four typical requests, and a pause counts for ten seconds at most', () => {
  const capacity = makeCapacity(0)
  applyHeadroom(capacity, 0, { share: 0, resetsInMs: 600_000 })
  takeSlot(capacity, 500_000)
  expect(currentCongestionPrice(capacity, 500_000)).toBeCloseTo(0.16, 3)
  applyHeadroom(capacity, 500_000, { share: 0, resetsInMs: 600_000 })
  for (let now = 500_000; now < 1_000_000; now += 1_000) takeSlot(capacity, now)
  expect(currentCongestionPrice(capacity, 999_000)).toBeLessThanOrEqual(4)
  expect(currentCongestionPrice(capacity, 999_000)).toBeGreaterThan(3.9)
})

test('a paused offer has no free slot', () => {
  const capacity = makeCapacity(0)
  pauseFor(capacity, 0, 100_000)
  takeSlot(capacity, 10_000)
  expect(currentCongestionPrice(capacity, 10_000)).toBeCloseTo(0.16, 3)
})

test('a queue is dropped with the limit that it waited for', () => {
  const capacity: Capacity = { ...makeCapacity(0), limitPerSecond: 10, tokens: -40 }
  takeSlot(capacity, 100)
  expect(capacity.limitPerSecond).toBe(Number.POSITIVE_INFINITY)
  for (let now = 100; now < 10_100; now += 100) recordAccepted(capacity, now)
  recordRateLimited(capacity, 10_100, { chance: 0.5, retryAfterMs: 1, call: sentAt(10_100) })
  // As soon as another request fits at nine tenths of ten a second.
  expect(timeUntilFree(capacity, 10_101)).toBeLessThan(250)
})
