import { expect, test } from 'vitest'
import { makeReading, observeReading, perToken } from './reading.ts'
import { blend, makeAverage } from './speed.ts'

test('an average of few observations is their mean; of many, each new one moves it by its weight', () => {
  const average = makeAverage(100)
  for (const seen of [10, 20, 60]) blend(average, seen, 0.1)
  expect(average).toEqual({ value: 30, seen: 3 })
  for (let at = 0; at < 7; at += 1) blend(average, 30, 0.1)
  blend(average, 130, 0.1)
  expect(average.value).toBeCloseTo(40, 12)
})

test('what an average begins with weighs as many observations as are given', () => {
  const average = makeAverage(100, 3)
  blend(average, 20, 0.01)
  expect(average).toEqual({ value: 80, seen: 4 })
})

test('what a token adds to the wait is the slope of what was observed, and a guess before', () => {
  const reading = makeReading()
  expect(perToken(reading)).toBe(0.03)
  for (let at = 0; at < 400; at += 1) observeReading(reading, (at % 10) * 4_000, 500 + (at % 10) * 4_000 * 0.2)
  expect(perToken(reading)).toBeGreaterThan(0.19)
  expect(perToken(reading)).toBeLessThan(0.2)
})

test('a slope is never below zero, nor above two milliseconds a token', () => {
  const slope = (ms: number) => {
    const reading = makeReading()
    for (let at = 0; at < 200; at += 1) observeReading(reading, (at % 2) * 50_000, 1_000_000 + (at % 2) * 50_000 * ms)
    return perToken(reading)
  }
  expect([slope(-5), slope(9)]).toEqual([0, 2])
})

test('prompts of one length say nothing of what a token adds', () => {
  const reading = makeReading()
  for (let at = 0; at < 50; at += 1) observeReading(reading, 3_000, 9_000 + at)
  expect(perToken(reading)).toBeCloseTo(0.03, 3)
})

test('what was observed first is forgotten, by a fiftieth with each observation', () => {
  const reading = makeReading()
  observeReading(reading, 10, 100)
  observeReading(reading, 0, 0)
  expect(reading).toEqual({ tokens: 9.8, milliseconds: 98, squares: 98, products: 980, weight: 1.98 })
})
