import { expect, test } from 'vitest'
import { broke, isClosed, makeBreaker, restOf, tried, untried, worked } from './breaker.ts'

const often = { failing: 0.2, chance: 0.5 }
const mostly = { failing: 0.6, chance: 0.5 }

const opened = (by = often, times = 4) => {
  const breaker = makeBreaker()
  for (let at = 0; at < times; at += 1) broke(breaker, 0, by)
  return breaker
}

test('it opens at the fourth failure in a row, and at the second of an offer that fails more often than not', () => {
  expect([3, 4].map(times => isClosed(opened(often, times)))).toEqual([true, false])
  expect([1, 2].map(times => isClosed(opened(mostly, times)))).toEqual([true, false])
})

test('a good answer in between begins the row anew', () => {
  const breaker = opened(often, 3)
  worked(breaker)
  for (let at = 0; at < 3; at += 1) broke(breaker, 0, often)
  expect(isClosed(breaker)).toBe(true)
})

test('the first pause is two seconds, spread by a fifth either way', () => {
  expect([0, 0.5, 1].map(chance => Math.round(restOf(opened({ failing: 0.2, chance }), 0)))).toEqual([1_600, 2_000, 2_400])
})

test('each failed try makes the pause longer, up to 25 seconds', () => {
  const breaker = opened()
  const pauses: number[] = []
  for (let at = 0; at < 8; at += 1) {
    pauses.push(restOf(breaker, breaker.openUntil - 1) > 0 ? breaker.openUntil : 0)
    tried(breaker)
    broke(breaker, breaker.openUntil, often)
  }
  const lasted = pauses.map((until, at) => until - (pauses[at - 1] ?? 0))
  expect(lasted.map(Math.round)).toEqual([2_000, 3_600, 6_480, 11_664, 20_995, 25_000, 25_000, 25_000])
})

test('a failure of a call from before does not make a pause longer', () => {
  const breaker = opened()
  broke(breaker, 1_999, often)
  expect(breaker.openUntil).toBe(2_000)
})

test('after a pause one call at a time may go out', () => {
  const breaker = opened()
  expect([restOf(breaker, 500), restOf(breaker, 2_000)]).toEqual([1_500, 0])
  tried(breaker)
  expect(restOf(breaker, 2_500)).toBe(2_000)
  untried(breaker)
  expect(restOf(breaker, 2_500)).toBe(0)
})

test('two good answers close it, and a failure in between does not count them', () => {
  const breaker = opened()
  worked(breaker)
  expect(isClosed(breaker)).toBe(false)
  broke(breaker, breaker.openUntil, often)
  worked(breaker)
  expect(isClosed(breaker)).toBe(false)
  worked(breaker)
  expect(isClosed(breaker)).toBe(true)
})

test('after a recovery the pause of the next trouble is the first again', () => {
  const breaker = opened()
  broke(breaker, breaker.openUntil, often)
  worked(breaker)
  worked(breaker)
  for (let at = 0; at < 4; at += 1) broke(breaker, 100_000, often)
  expect(restOf(breaker, 100_000)).toBe(2_000)
  worked(breaker)
  expect(isClosed(breaker)).toBe(false)
})

test('a closed one is not made to wait for a call under way', () => {
  const breaker = makeBreaker()
  tried(breaker)
  expect([breaker.trying, restOf(breaker, 5)]).toEqual([false, 0])
})
