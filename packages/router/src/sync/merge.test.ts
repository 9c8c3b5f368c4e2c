import { expect, test } from 'vitest'
import { failureProbability } from '../failure-model.ts'
import { observeLatency } from '../latency.ts'
import { makeOfferState, type OfferState } from '../offer-state.ts'
import { makeFractionalCounts, mergeEvidence } from './merge.ts'
import { makeOutcomeCounts, type OutcomeCounts } from './outcome-counts.ts'

const now = 1_000_000

/** An offer with thirty responses around a second, the last one just now. */
function known(): OfferState {
  const state = makeOfferState(0)
  for (let at = 1; at <= 30; at += 1) observeLatency(state.latency, 1_000 * Math.exp((((at * 7) % 11) - 5) / 12), now - (30 - at) * 1_000)
  return state
}

const evidence = (counts: Partial<OutcomeCounts>, { from = now, to = now } = {}) => ({
  from,
  to,
  counts: { ...makeOutcomeCounts(), ...counts },
})

const context = (more: object = {}) => ({ fractions: makeFractionalCounts(), now, others: 3, chance: 0.5, ...more })

/** Sums of the logs of waits. */
const waits = (milliseconds: readonly number[]) => {
  const logs = milliseconds.map(Math.log)
  return {
    waits: logs.length,
    lnWaits: logs.reduce((sum, each) => sum + each, 0),
    lnWaitsSquared: logs.reduce((sum, each) => sum + each * each, 0),
  }
}

test('answers, failures and broken answers each count as a call', () => {
  const state = known()
  mergeEvidence(state, evidence({ answered: 5, failed: 2, broken: 1 }), context())
  expect(state.observations).toBe(8)
  mergeEvidence(state, evidence({ broken: 4 }), context())
  expect(state.observations).toBe(12)
})

test('half an answer is kept until another half arrives', () => {
  const state = known()
  state.failures.states.fill(0).set([0.5, 0.5])
  const fractions = makeFractionalCounts()
  // At this age, a response counts half.
  const old = now - 240_000 * Math.log(2)
  const merge = () => mergeEvidence(state, evidence({ answered: 1 }, { from: old, to: old }), context({ fractions }))
  const before = failureProbability(state.failures, now)
  merge()
  expect(failureProbability(state.failures, now)).toBe(before)
  expect(fractions.before.good).toBeCloseTo(0.5, 9)
  fractions.before.good += 0.25
  merge()
  expect(failureProbability(state.failures, now)).toBeLessThan(before)
  expect(fractions.before.good).toBeCloseTo(0.25, 9)
})

test('the scatter of remote answers counts by their share of all observations, and widens the local one', () => {
  const state = known()
  const { scatter, observations } = state.latency
  const far = waits([500, 1_000, 2_000, 1_000])
  const mean = far.lnWaits / 4
  const theirs = ((far.lnWaitsSquared / 4 - mean * mean) * 4) / 3
  expect(theirs).toBeGreaterThan(scatter)
  mergeEvidence(state, evidence(far), context())
  const within = Math.min(theirs, 6 * scatter)
  expect(state.latency.scatter).toBeCloseTo(scatter + (4 / (observations + 4 + 150)) * (within - scatter), 9)
})

test('many similar remote answers narrow the scatter', () => {
  const state = known()
  const { scatter } = state.latency
  mergeEvidence(state, evidence(waits(Array.from({ length: 20 }, () => 1_000))), context())
  expect(state.latency.scatter).toBeLessThan(scatter)
})

test('a failing offer is explored by all processes in turn, each from fifteen seconds up to fifteen per process later', () => {
  for (const seen of [{ failed: 8 }, { broken: 8 }, { failed: 4, broken: 4 }]) {
    const state = known()
    mergeEvidence(state, evidence(seen), context({ others: 4, chance: 0.5 }))
    expect(state.exploreAt).toBe(now + 15_000 * (1 + 4 * 0.5))
  }
  const healthy = known()
  mergeEvidence(healthy, evidence({ answered: 8 }), context({ others: 4, chance: 0.5 }))
  expect(healthy.exploreAt).toBe(0)
})

test('remote answers that agree are as uncertain as single local answers', () => {
  const state = known()
  state.latency.variance = 0.5
  const { scatter } = state.latency
  const alike = waits([1_000, 1_001])
  mergeEvidence(state, evidence(alike), context())
  const noise = scatter / 2
  expect(state.latency.variance).toBeCloseTo((1 - 0.5 / (0.5 + noise)) * 0.5, 3)
})

test('one remote answer moves the level by two deviations at most', () => {
  for (const [milliseconds, sign] of [
    [1, -1],
    [60_000, 1],
  ] as const) {
    const state = known()
    const { level, variance, scatter } = state.latency
    mergeEvidence(state, evidence(waits([milliseconds])), context())
    const most = 2 * Math.sqrt(variance + scatter)
    expect((state.latency.level - level) * sign).toBeCloseTo((variance / (variance + scatter)) * most, 3)
  }
})
