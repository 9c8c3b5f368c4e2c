import { expect, test } from 'vitest'
import {
  afterContent,
  beforeContent,
  failureProbability,
  failureProbabilityGiven,
  healthyProbability,
  isFailureRateHigh,
  makeFailureModel,
  recordOutcome,
} from './failure-model.ts'

const before = (bads: readonly boolean[], everyMs = 100) => {
  const rate = makeFailureModel(0, beforeContent)
  for (const [at, bad] of bads.entries()) recordOutcome(rate, beforeContent, { bad, now: at * everyMs })
  return rate
}
const good = (times: number) => Array.from({ length: times }, () => false)
const bad = (times: number) => Array.from({ length: times }, () => true)
const last = (count: number) => (count - 1) * 100

test('before anything was seen a call fails as seldom as usual, and a bit for what may be wrong', () => {
  const rate = makeFailureModel(0, beforeContent)
  expect(failureProbability(rate, beforeContent, 0)).toBeCloseTo(0.006 * 0.991 + 0.003 * (0.08 + 0.3 + 0.96), 5)
  expect(isFailureRateHigh(rate, beforeContent, 0)).toBe(false)
})

test('one failure among hundreds is chance, several in a row are not', () => {
  const at = (bads: number) => failureProbability(before([...good(300), ...bad(bads)]), beforeContent, last(300 + bads))
  expect(at(1)).toBeLessThan(0.02)
  expect(at(3)).toBeGreaterThan(0.2)
  expect(at(6)).toBeGreaterThan(0.8)
})

test('an offer whose first two calls fail is believed to fail mostly', () => {
  expect(failureProbability(before(bad(2)), beforeContent, 100)).toBeGreaterThan(0.5)
})

test('a few good answers end a belief in death, more of them one in sickness', () => {
  const dead = before([...good(100), ...bad(10), ...good(2)])
  expect(failureProbability(dead, beforeContent, last(112))).toBeLessThan(0.35)
  expect(failureProbability(before([...good(100), ...bad(10), ...good(40)]), beforeContent, last(150))).toBeLessThan(0.02)
})

test('what was seen fades over ten minutes', () => {
  const rate = before([...good(100), ...bad(10)])
  const now = last(110)
  const [fresh, later, long] = [0, 600_000, 6_000_000].map(ms => failureProbability(rate, beforeContent, now + ms)) as [
    number,
    number,
    number,
  ]
  expect(fresh).toBeGreaterThan(0.9)
  expect(later / fresh).toBeCloseTo(Math.exp(-1), 1)
  expect(long).toBeLessThan(0.02)
  expect(healthyProbability(rate, beforeContent, now)).toBeLessThan(0.01)
  expect(healthyProbability(rate, beforeContent, now + 600_000)).toBeCloseTo(1 - Math.exp(-1), 1)
})

test('a failure rate is high beyond five times what is usual', () => {
  const rate = makeFailureModel(0, afterContent)
  const healthy = { ...rate, healthy: 1, degraded: 0, failing: 0, down: 0 }
  expect([0.0049, 0.0051].map(baseline => isFailureRateHigh({ ...healthy, baseline }, afterContent, 0))).toEqual([false, true])
})

test('what is usual moves slowly: one failure among thousands by about a three-thousandth, and within four times the prior', () => {
  const rate = before(good(20))
  const { baseline } = rate
  recordOutcome(rate, beforeContent, { bad: true, now: 2_000 })
  expect(rate.baseline - baseline).toBeGreaterThan(1 / 7_000)
  expect(rate.baseline - baseline).toBeLessThan(1 / 2_500)
  const flawless = before(good(60_000))
  expect(flawless.baseline).toBeCloseTo(0.0015, 6)
  const pattern = Array.from({ length: 60_000 }, (_, at) => at % 25 === 0)
  expect(before(pattern).baseline).toBeLessThanOrEqual(0.024)
  expect(before(pattern).baseline).toBeGreaterThan(0.012)
})

test('failures of a fault are not what is usual', () => {
  const rate = before([...good(50), ...bad(200)])
  expect(rate.baseline).toBeLessThan(0.0075)
})

test('beliefs about the four states stay shares of one', () => {
  const rate = before([...good(10), ...bad(3), ...good(200), ...bad(1)])
  expect(rate.healthy + rate.degraded + rate.failing + rate.down).toBeCloseTo(1, 10)
})

test('calls that have not failed, but will, count as failures would, and teach nothing', () => {
  const rate = before(good(100))
  const kept = { ...rate }
  const now = last(100)
  const given = [0, 1, 2, 4].map(each => failureProbabilityGiven(rate, beforeContent, { now, given: each }))
  expect(given[0]).toBeCloseTo(failureProbability(rate, beforeContent, now), 10)
  expect(given[1]).toBeGreaterThan(given[0] as number)
  expect(given[2]).toBeGreaterThan(0.03)
  expect(given[3]).toBeGreaterThan(0.5)
  expect(rate).toEqual(kept)
  expect(failureProbabilityGiven(before([...good(50), ...bad(8)]), beforeContent, { now: 1e9, given: 0 })).toBeLessThan(0.02)
})

test('after a long silence an offer is believed to be as one that was never asked', () => {
  for (const by of [beforeContent, afterContent]) {
    const [fresh, forgotten] = [makeFailureModel(1e9, by), makeFailureModel(0, by)]
    for (const bad of [true, false, true, true]) recordOutcome(forgotten, by, { bad, now: 0 })
    const { baseline } = forgotten
    const same = { ...fresh, baseline }
    expect(failureProbability(forgotten, by, 1e9)).toBeCloseTo(failureProbability(same, by, 1e9), 12)
    expect(failureProbabilityGiven(forgotten, by, { now: 1e9, given: 2 })).toBeCloseTo(
      failureProbabilityGiven(same, by, { now: 1e9, given: 2 }),
      12,
    )
    expect(healthyProbability(forgotten, by, 1e9)).toBeCloseTo(fresh.healthy, 12)
    recordOutcome(forgotten, by, { bad: false, now: 1e9 })
    expect(forgotten.healthy + forgotten.degraded + forgotten.failing + forgotten.down).toBeCloseTo(1, 12)
  }
})

test('what running calls would teach is reckoned from what is left of the evidence', () => {
  const rate = before([...good(50), ...bad(8)])
  const at = last(58)
  for (const laterMs of [10_000, 60_000, 300_000])
    expect(failureProbabilityGiven(rate, beforeContent, { now: at + laterMs, given: 0 })).toBeCloseTo(
      failureProbability(rate, beforeContent, at + laterMs),
      10,
    )
})
