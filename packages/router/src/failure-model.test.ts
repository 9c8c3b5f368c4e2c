import { expect, test } from 'vitest'
import {
  afterContent,
  beforeContent,
  type FailureModel,
  failureProbability,
  failureProbabilityGiven,
  healthyProbability,
  isFailureRateHigh,
  makeFailureModel,
  recordOutcome,
} from './failure-model.ts'

const before = (bads: readonly boolean[], everyMs = 100) => {
  const rate = makeFailureModel(0, beforeContent)
  for (const [at, bad] of bads.entries()) recordOutcome(rate, { bad, now: at * everyMs })
  return rate
}
const good = (times: number) => Array.from({ length: times }, () => false)
const bad = (times: number) => Array.from({ length: times }, () => true)
const sum = ({ states }: FailureModel) => states.reduce((all, each) => all + each, 0)
const last = (count: number) => (count - 1) * 100

test('before any observation the failure probability is the baseline plus the prior of faults', () => {
  const rate = makeFailureModel(0, beforeContent)
  expect(failureProbability(rate, 0)).toBeCloseTo(0.006 * 0.991 + 0.003 * (0.08 + 0.3 + 0.96), 5)
  expect(isFailureRateHigh(rate, 0)).toBe(false)
})

test('one failure among hundreds is chance, several in a row are not', () => {
  const at = (bads: number) => failureProbability(before([...good(300), ...bad(bads)]), last(300 + bads))
  expect(at(1)).toBeLessThan(0.02)
  expect(at(3)).toBeGreaterThan(0.2)
  expect(at(6)).toBeGreaterThan(0.8)
})

test('an offer whose first two calls fail is expected to fail mostly', () => {
  expect(failureProbability(before(bad(2)), 100)).toBeGreaterThan(0.5)
})

test('a few successes end the state down, more of them the state degraded', () => {
  const dead = before([...good(100), ...bad(10), ...good(2)])
  expect(failureProbability(dead, last(112))).toBeLessThan(0.35)
  expect(failureProbability(before([...good(100), ...bad(10), ...good(40)]), last(150))).toBeLessThan(0.02)
})

test('observations decay over ten minutes', () => {
  const rate = before([...good(100), ...bad(10)])
  const now = last(110)
  const [fresh, later, long] = [0, 600_000, 6_000_000].map(ms => failureProbability(rate, now + ms)) as [number, number, number]
  expect(fresh).toBeGreaterThan(0.9)
  expect(later / fresh).toBeCloseTo(Math.exp(-1), 1)
  expect(long).toBeLessThan(0.02)
  expect(healthyProbability(rate, now)).toBeLessThan(0.01)
  expect(healthyProbability(rate, now + 600_000)).toBeCloseTo(1 - Math.exp(-1), 1)
})

test('a failure rate is high beyond five times the baseline', () => {
  const rate = makeFailureModel(0, afterContent)
  const healthy = { ...rate, states: Float64Array.of(1, 0, 0, 0) }
  expect([0.0049, 0.0051].map(baseline => isFailureRateHigh({ ...healthy, baseline }, 0))).toEqual([false, true])
})

test('the baseline moves slowly: one failure among thousands by about a three-thousandth, and within four times the prior', () => {
  const rate = before(good(20))
  const { baseline } = rate
  recordOutcome(rate, { bad: true, now: 2_000 })
  expect(rate.baseline - baseline).toBeGreaterThan(1 / 7_000)
  expect(rate.baseline - baseline).toBeLessThan(1 / 2_500)
  const flawless = before(good(60_000))
  expect(flawless.baseline).toBeCloseTo(0.0015, 6)
  const pattern = Array.from({ length: 60_000 }, (_, at) => at % 25 === 0)
  expect(before(pattern).baseline).toBeLessThanOrEqual(0.024)
  expect(before(pattern).baseline).toBeGreaterThan(0.012)
})

test('failures during a fault do not change the baseline', () => {
  const rate = before([...good(50), ...bad(200)])
  expect(rate.baseline).toBeLessThan(0.0075)
})

test('the state probabilities sum to one', () => {
  const rate = before([...good(10), ...bad(3), ...good(200), ...bad(1)])
  expect(sum(rate)).toBeCloseTo(1, 10)
})

test('calls that are expected to fail count like failures, and change no state', () => {
  const rate = before(good(100))
  const kept = structuredClone(rate)
  const now = last(100)
  const given = [0, 1, 2, 4].map(each => failureProbabilityGiven(rate, { now, given: each }))
  expect(given[0]).toBeCloseTo(failureProbability(rate, now), 10)
  expect(given[1]).toBeGreaterThan(given[0] as number)
  expect(given[2]).toBeGreaterThan(0.03)
  expect(given[3]).toBeGreaterThan(0.5)
  expect(rate).toEqual(kept)
  expect(failureProbabilityGiven(before([...good(50), ...bad(8)]), { now: 1e9, given: 0 })).toBeLessThan(0.02)
})

test('after a long silence an offer is estimated like one that was never called', () => {
  for (const by of [beforeContent, afterContent]) {
    const [fresh, forgotten] = [makeFailureModel(1e9, by), makeFailureModel(0, by)]
    for (const bad of [true, false, true, true]) recordOutcome(forgotten, { bad, now: 0 })
    const { baseline } = forgotten
    const same = { ...fresh, baseline }
    expect(failureProbability(forgotten, 1e9)).toBeCloseTo(failureProbability(same, 1e9), 12)
    expect(failureProbabilityGiven(forgotten, { now: 1e9, given: 2 })).toBeCloseTo(
      failureProbabilityGiven(same, { now: 1e9, given: 2 }),
      12,
    )
    expect(healthyProbability(forgotten, 1e9)).toBeCloseTo(healthyProbability(fresh, 1e9), 12)
    recordOutcome(forgotten, { bad: false, now: 1e9 })
    expect(sum(forgotten)).toBeCloseTo(1, 12)
  }
})

test('the effect of running calls is computed from the decayed evidence', () => {
  const rate = before([...good(50), ...bad(8)])
  const at = last(58)
  for (const laterMs of [10_000, 60_000, 300_000])
    expect(failureProbabilityGiven(rate, { now: at + laterMs, given: 0 })).toBeCloseTo(failureProbability(rate, at + laterMs), 10)
})

/** An offer that answers prompts up to a limit and fails longer ones: this many calls, long and short alternating. */
const limitedTo = (limit: number, calls: number, sizes = [300, 6_000]) => {
  const rate = before(good(100))
  for (let at = 0; at < calls; at += 1) {
    const tokens = sizes[at % sizes.length] as number
    recordOutcome(rate, { bad: tokens > limit, now: last(100) + at * 100, tokens })
  }
  return { at: (tokens: number) => failureProbability(rate, last(100) + calls * 100, tokens), rate }
}

test('an offer that fails only long prompts keeps its short ones', () => {
  const { at, rate } = limitedTo(2_500, 8)
  expect(at(6_000)).toBeGreaterThan(0.8)
  expect(at(60_000)).toBeGreaterThan(0.8)
  expect(at(300)).toBeLessThan(0.05)
  const now = last(100) + 800
  expect(healthyProbability(rate, now, 6_000)).toBeLessThan(0.2)
  expect(healthyProbability(rate, now, 300)).toBeGreaterThan(0.85)
  expect(isFailureRateHigh(rate, now, 6_000)).toBe(true)
})

test('successes with short prompts do not end the state in which long prompts fail; those with long prompts do', () => {
  const after = (tokens: number) => {
    const { rate } = limitedTo(2_500, 8)
    for (let at = 0; at < 30; at += 1) recordOutcome(rate, { bad: false, now: last(100) + 800 + at * 100, tokens })
    return failureProbability(rate, last(100) + 3_800, 6_000)
  }
  expect(after(300)).toBeGreaterThan(0.75)
  expect(after(6_000)).toBeLessThan(0.02)
})

test('the limit is found between the longest prompt that is answered and the shortest that fails', () => {
  const { at } = limitedTo(5_000, 12, [300, 3_900, 8_100])
  expect(at(8_100)).toBeGreaterThan(0.8)
  expect(at(3_900)).toBeLessThan(0.05)
})

test('failures of long and short prompts alike are a fault of the offer', () => {
  const { at } = limitedTo(0, 6)
  expect(at(300)).toBeGreaterThan(0.8)
  expect(at(6_000)).toBeGreaterThan(0.8)
})
