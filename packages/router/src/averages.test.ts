import { expect, test } from 'vitest'
import { makePrefillLatency, observePrefill, prefillMsPerToken } from './prefill-latency.ts'
import { createRandom } from './random.ts'
import { makeRunningAverage, updateAverage } from './running-average.ts'

test('an average of few observations is their mean; with many, each new one moves it by its weight', () => {
  const average = makeRunningAverage(100)
  for (const seen of [10, 20, 60]) updateAverage(average, seen, 0.1)
  expect(average).toEqual({ value: 30, observations: 3 })
  for (let at = 0; at < 7; at += 1) updateAverage(average, 30, 0.1)
  updateAverage(average, 130, 0.1)
  expect(average.value).toBeCloseTo(40, 12)
})

test('the initial value of an average counts for the given number of observations', () => {
  const average = makeRunningAverage(100, 3)
  updateAverage(average, 20, 0.01)
  expect(average).toEqual({ value: 80, observations: 4 })
})

test('the wait per token is the slope of the observations, and a prior before any', () => {
  const reading = makePrefillLatency()
  expect(prefillMsPerToken(reading)).toBe(0.03)
  for (let at = 0; at < 400; at += 1) observePrefill(reading, (at % 10) * 4_000, 500 + (at % 10) * 4_000 * 0.2)
  expect(prefillMsPerToken(reading)).toBeGreaterThan(0.19)
  expect(prefillMsPerToken(reading)).toBeLessThan(0.2)
})

test('a slope is never below zero, nor above two milliseconds a token', () => {
  const slope = (ms: number) => {
    const reading = makePrefillLatency()
    for (let at = 0; at < 200; at += 1) observePrefill(reading, (at % 2) * 50_000, 1_000_000 + (at % 2) * 50_000 * ms)
    return prefillMsPerToken(reading)
  }
  expect([slope(-5), slope(9)]).toEqual([0, 2])
})

test('prompts of one length reveal nothing about the wait per token', () => {
  const reading = makePrefillLatency()
  for (let at = 0; at < 50; at += 1) observePrefill(reading, 3_000, 9_000 + at)
  expect(prefillMsPerToken(reading)).toBeCloseTo(0.03, 3)
})

test('old observations decay by a fiftieth with each new one', () => {
  const reading = makePrefillLatency()
  observePrefill(reading, 10, 100)
  observePrefill(reading, 0, 0)
  expect(reading).toEqual({ tokens: 9.8, milliseconds: 98, squares: 98, products: 980, weight: 1.98 })
})

test('a seed always gives the same numbers, so that old traces can be replayed', () => {
  const random = createRandom(1)
  expect([random(), random()]).toEqual([0.6270739405881613, 0.002735721180215478])
})
