import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeEstimate } from '../test/make-estimate.ts'
import { hedgeDelay } from './hedge-delay.ts'
import { currentLevel, observeLatency, tailMean } from './latency.ts'
import { makeOfferState } from './offer-state.ts'
import { preferences } from './preferences.ts'

const now = 1_000_000

/** An offer with three hundred responses around a second, of which one in twenty is ten times slower. */
function longTailed() {
  const state = makeOfferState(0)
  for (let at = 0; at < 300; at += 1)
    observeLatency(state.latency, (at % 20 === 7 ? 10_000 : 1_000) * Math.exp(((at % 11) - 5) / 20), now - (300 - at) * 1_000)
  return state
}

const sightOf = (readsMs: number) => {
  const { latency } = longTailed()
  return makeEstimate({ firstContentMs: Math.exp(currentLevel(latency, now)) * latency.tail + readsMs })
}

/** Milliseconds of silence before the second call. */
const after = ({ cost = 0.001, nextMs = 500, timeoutMs = 60_000, readsMs = 0, prices = preferences.latency } = {}) =>
  hedgeDelay(
    { state: longTailed(), estimate: sightOf(readsMs) },
    { estimate: makeEstimate({ cost, firstContentMs: nextMs }) },
    { prices, now, timeoutMs },
  )

test('a second call is sent no earlier than twelve in thirteen answers would have arrived', () => {
  const { latency } = longTailed()
  expect(after({ cost: 0 })).toBeCloseTo(Math.exp(currentLevel(latency, now) + latency.p92), 6)
})

test('a second call is sent once the expected further wait costs more than it does, and not a step earlier', () => {
  const { latency } = longTailed()
  const usual = Math.exp(currentLevel(latency, now))
  const gain = (silentMs: number, nextMs: number) => (usual * tailMean(latency, Math.log(silentMs / usual)) - silentMs - nextMs) / 100_000
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.12, noNaN: true }), fc.integer({ min: 0, max: 6_000 }), (cost, nextMs) => {
      const silentMs = after({ cost, nextMs })
      if (silentMs === undefined) return
      expect(gain(silentMs, nextMs)).toBeGreaterThan(cost - 1e-9)
      const first = Math.exp(latency.p92) * usual
      const step = Math.round((silentMs / first - 1) / 0.25)
      for (let at = 0; at < step; at += 1) expect(gain(first * (1 + at * 0.25), nextMs)).toBeLessThanOrEqual(cost + 1e-9)
    }),
  )
})

test('a more expensive second call is made later or never', () => {
  const times = [0, 0.02, 0.05, 0.08, 0.5].map(cost => after({ cost }) ?? Number.POSITIVE_INFINITY)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(times.at(-1)).toBe(Number.POSITIVE_INFINITY)
})

test('no second call is made if the first would be abandoned by then', () => {
  const moment = after() as number
  expect(after({ timeoutMs: moment + 0.001 })).toBe(moment)
  expect(after({ timeoutMs: moment })).toBeUndefined()
})

test('the time to read the prompt is added to the delay', () => {
  expect(after({ readsMs: 700 })).toBeCloseTo((after() as number) + 700, 6)
})
