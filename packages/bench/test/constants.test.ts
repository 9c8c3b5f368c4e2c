import { beforeAll, expect, test } from 'vitest'
import { bundleTunableRouter } from '../src/bundle.ts'
import { trades } from '../src/routing/constant-notes.ts'
import { scaled } from '../src/routing/constants.ts'
import { ours } from '../src/routing/policies.ts'
import { simulate } from '../src/routing/simulate.ts'
import { loadRouter } from '../src/routing/tunable-router.ts'
import { worlds } from '../src/routing/worlds.ts'

let code: string
beforeAll(async () => {
  code = await bundleTunableRouter()
})

test('every tuning constant, and nothing else, has a description of its trade-off', () => {
  const { constants } = loadRouter(code, {})
  expect(Object.keys(trades).sort()).toEqual(Object.keys(constants).sort())
})

test('a router loaded with another constant routes differently, and one loaded next to it as shipped', () => {
  const [gray] = worlds.filter(({ name }) => name === 'gray failure')
  if (!gray) throw new Error('There is no gray world.')
  const run = { seed: 1, minutes: 8, rate: 8 }
  const tuned = loadRouter(code, { 'circuitBreaker.failuresToOpen': 1, 'failures.beforeContent.prior': 0.1 })
  const untouched = loadRouter(code, {})
  expect([tuned, untouched].map(({ constants }) => constants['circuitBreaker.failuresToOpen'])).toEqual([1, 4])
  const shipped = simulate(gray, ours, run).meanLoss
  expect(simulate(gray, untouched.policy, run).meanLoss).toBe(shipped)
  expect(simulate(gray, tuned.policy, run).meanLoss).not.toBe(shipped)
})

test('an unknown constant is an error that names it', () => {
  expect(() => loadRouter(code, { 'circuitBreaker.patience': 1 })).toThrow('There is no tuning constant "circuitBreaker.patience".')
  expect(() => loadRouter(code, { breaker: 1 })).toThrow('There is no tuning constant "breaker".')
})

test('values near one are halved and doubled by their distance from one', () => {
  expect(scaled('circuitBreaker.firstPauseMs', 2_000, 2)).toBe(4_000)
  expect(scaled('latency.histogramDecay', 0.992, 0.5)).toBeCloseTo(0.996, 12)
  expect(scaled('capacity.limitGrowthPerSecond', 1.02, 2)).toBeCloseTo(1.04, 12)
})
