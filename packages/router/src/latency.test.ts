import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tuning } from './constants.ts'
import {
  currentLevel,
  currentVariance,
  type Latency,
  makeLatency,
  observeLatency,
  observeTimeout,
  recoveredProbability,
  tailMean,
  tailOdds,
  tailShare,
  tailStart,
} from './latency.ts'

const start = 1_000_000

/** Answers around this many milliseconds, one every `everyMs`, the last at `start`. */
function known(ms: number, { calls = 200, everyMs = 125 } = {}): Latency {
  const latency = makeLatency(start - calls * everyMs, Math.log(600))
  for (let at = 1; at <= calls; at += 1) observeLatency(latency, ms * Math.exp((((at * 7) % 11) - 5) / 12), start - (calls - at) * everyMs)
  return latency
}

const msOf = (latency: Latency, now = start) => Math.exp(currentLevel(latency, now))

/** The level after each of some answers, one every `everyMs`. */
function after(latency: Latency, answers: readonly number[], everyMs: number): readonly number[] {
  return answers.map((ms, at) => {
    const now = start + (at + 1) * everyMs
    observeLatency(latency, ms, now)
    return msOf(latency, now)
  })
}

test('the first answer is the level', () => {
  const latency = makeLatency(0, Math.log(600))
  observeLatency(latency, 2_000, 50)
  expect(msOf(latency, 50)).toBeCloseTo(2_000, 6)
  expect([latency.longRun, latency.variance, latency.observations, latency.at]).toEqual([latency.level, latency.scatter, 1, 50])
})

test('an answer below a millisecond counts as one of a millisecond', () => {
  const latency = makeLatency(0, Math.log(600))
  observeLatency(latency, 0, 50)
  expect(latency.level).toBe(0)
})

test('one slow answer does not change the level, however slow it is', () => {
  const [level] = after(known(400), [40_000], 125) as [number]
  expect(level).toBeLessThan(400 * 1.1)
})

test('a few consecutive slow answers change the level; more are needed if answers arrive quickly one after the other', () => {
  const answersUntilBelieved = (everyMs: number) =>
    after(known(400, { everyMs }), Array(8).fill(2_000), everyMs).findIndex(level => level > 1_200) + 1
  expect([125, 2_000, 30_000].map(answersUntilBelieved)).toEqual([3, 3, 2])
})

test('slow answers with usual ones between them do not change the level', () => {
  const levels = after(
    known(400),
    Array.from({ length: 60 }, (_, at) => (at % 4 === 3 ? 2_000 : 400)),
    125,
  )
  expect(Math.max(...levels)).toBeLessThan(700)
})

test('a moderate slowdown needs more answers to be accepted than a large one', () => {
  const until = (ms: number) => after(known(400), Array(40).fill(ms), 125).findIndex(level => level > Math.sqrt(400 * ms))
  expect(until(620)).toBeGreaterThan(until(4_000))
  expect(until(620)).toBeLessThan(12)
})

test('two answers far below the level end it, one does not', () => {
  const latency = known(2_000)
  const [one, two] = after(latency, [200, 200], 125) as [number, number]
  expect(one).toBeGreaterThan(1_000)
  expect(two).toBeLessThan(400)
})

test('a level returns to the long run, by all but a third in ten minutes', () => {
  const latency = known(400)
  after(latency, Array(20).fill(2_000), 125)
  const { level, longRun, at } = latency
  expect(level).toBeGreaterThan(Math.log(1_500))
  expect(currentLevel(latency, at)).toBeCloseTo(level, 12)
  expect(currentLevel(latency, at + 600_000)).toBeCloseTo(longRun + (level - longRun) / Math.E, 12)
})

test('a slow period hardly moves the long run, a fast one does', () => {
  const moved = (ms: number) => {
    const latency = known(400, { calls: 5_000 })
    const before = latency.longRun
    after(latency, Array(200).fill(ms), 125)
    return latency.longRun - before
  }
  expect(moved(4_000)).toBeGreaterThan(0)
  expect(moved(4_000)).toBeLessThan(0.15)
  expect(moved(40)).toBeLessThan(-1.5)
})

test('the variance of an unobserved level grows, within bounds', () => {
  const latency = known(400)
  expect(currentVariance(latency, start)).toBe(latency.variance)
  expect(currentVariance(latency, start + 100_000)).toBeCloseTo(latency.variance + 0.03, 12)
  expect(currentVariance(latency, start + 1e9)).toBe(0.5)
})

test('a raised level is likelier to be over with time, and most likely after an answer far below it', () => {
  const latency = known(400)
  expect(recoveredProbability(latency, start)).toBe(0)
  expect(recoveredProbability(latency, start + 600_000)).toBeCloseTo(1 - 1 / Math.E, 12)
  after(latency, [40], 125)
  expect(recoveredProbability(latency, start + 125)).toBe(0.8)
})

test('the share of answers beyond a quantile is the share of that quantile', () => {
  const latency = known(400, { calls: 1_001 })
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.9, noNaN: true }), share => {
      expect(tailShare(latency, tailStart(latency, share))).toBeCloseTo(share, 9)
    }),
  )
  expect([latency.p92, latency.p95, latency.p996, latency.p997]).toEqual([0.08, 0.05, 0.004, 0.003].map(share => tailStart(latency, share)))
})

test('all answers lie above the lowest quantile, none above the highest', () => {
  const latency = known(400)
  expect([tailShare(latency, -9), tailShare(latency, 9)]).toEqual([1, 0])
})

test('the odds of an answer match the share of those that take longer, and fall for longer answers', () => {
  const latency = known(400)
  expect(tailOdds(latency, latency.p92)).toBeCloseTo(12.5, 9)
  expect(tailOdds(latency, latency.p996)).toBeCloseTo(250, 9)
  expect(tailOdds(latency, latency.p996 + 0.1)).toBeGreaterThan(250)
  expect(tailOdds(latency, 1e6)).toBeCloseTo(Math.exp(20), 3)
})

test('a call that is silent for longer is expected to take longer in total, and never less than it has waited', () => {
  const latency = known(400, { calls: 1_000 })
  fc.assert(
    fc.property(fc.double({ min: -1, max: 3, noNaN: true }), fc.double({ min: 0, max: 0.5, noNaN: true }), (off, more) => {
      expect(tailMean(latency, off + more)).toBeGreaterThanOrEqual(tailMean(latency, off))
      expect(tailMean(latency, off)).toBeGreaterThan(Math.exp(off - 0.125))
    }),
  )
  expect(tailMean(latency, 5)).toBeCloseTo(Math.exp(5), 9)
})

test('an answer that was cut off counts among the longer ones, unless it would never have come', () => {
  const share = (hung: number, ms = 1_500) => {
    const latency = known(400)
    const off = Math.log(ms) - currentLevel(latency, start)
    const before = tailShare(latency, off)
    observeTimeout(latency, ms, { now: start, hung })
    return tailShare(latency, off) - before
  }
  expect(share(1)).toBeCloseTo(0, 12)
  expect(share(0)).toBeGreaterThan(0.004)
  expect(share(0.001)).toBeGreaterThan(share(0.01))
  expect(share(0.01)).toBeGreaterThan(0)
  expect(share(0, 8_000)).toBeGreaterThan(0.004)
})

test('the mean over the level includes slow answers, each as eight levels at most', () => {
  const tail = (ms: number) => {
    const latency = known(400)
    const before = latency.tail
    observeLatency(latency, ms, start + 125)
    return latency.tail - before
  }
  expect(tail(400 * 7)).toBeGreaterThan(tail(400 * 4))
  expect(tail(400 * 9)).toBeCloseTo(tail(400 * 900), 12)
  expect(tail(400 * 900)).toBeCloseTo((8 - known(400).tail) / (200 + tuning.latency.priorTailAnswers), 6)
})

test('a wait longer than any answer counts as half an answer at most, and less if calls are often never answered', () => {
  const massOf = ({ bins }: Latency) => bins.reduce((sum, each) => sum + each, 0)
  for (const hung of [0.1, 0.9]) {
    const latency = known(500)
    const before = massOf(latency)
    observeTimeout(latency, 1e9, { now: start, hung })
    const share = 0.5 / before
    expect(massOf(latency) - before).toBeCloseTo((share * (1 - hung)) / (share * (1 - hung) + hung), 4)
  }
})

test('the prior histogram counts for the given number of answers, and its percentiles are those of its tail', () => {
  const latency = makeLatency(0, Math.log(600))
  expect(latency.bins.reduce((sum, each) => sum + each, 0)).toBeCloseTo(tuning.latency.priorAnswers, 4)
  expect([latency.p92, latency.p95, latency.p996, latency.p997]).toEqual([0.08, 0.05, 0.004, 0.003].map(share => tailStart(latency, share)))
})
