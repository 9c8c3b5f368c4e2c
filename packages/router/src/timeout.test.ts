import { expect, test } from 'vitest'
import type { EstimateInput } from './estimate.ts'
import { failureProbability, recordOutcome } from './failure-model.ts'
import { currentLevel, observeLatency, tailStart } from './latency.ts'
import type { OfferEstimate } from './offer-estimate.ts'
import { makeOfferState, type OfferState } from './offer-state.ts'
import { prefillMsPerToken } from './prefill-latency.ts'
import { attemptTimeout } from './timeout.ts'

const now = 1_000_000

/** An offer that gave a hundred answers around this many milliseconds. */
function known(ms: number, calls = 100): OfferState {
  const state = makeOfferState(0)
  for (let at = 0; at < calls; at += 1) {
    const moment = now - (calls - at) * 1_000
    observeLatency(state.latency, ms * Math.exp(((at % 11) - 5) / 20), moment)
    recordOutcome(state.failures, { bad: false, now: moment })
  }
  state.hangShare.value = 0
  return state
}

/** The same offer, with this many of its last calls never answered. */
function silent(ms: number, calls: number): OfferState {
  const state = known(ms)
  for (let at = 0; at < calls; at += 1) recordOutcome(state.failures, { bad: true, now })
  state.hangShare.value = 1
  return state
}

const input = (more: Partial<EstimateInput> = {}) => ({ now, stream: true, timeLeftMs: 120_000, inputTokens: 0, ...more }) as EstimateInput

const estimate = { generationMs: 3_000 } as OfferEstimate

const limits = { maxMs: 300_000, newOfferMs: 10_000, timedOut: false, minMs: 0, retryable: undefined }

const timeout = (state: OfferState, next: OfferState | undefined, more: { readonly [name: string]: unknown } = {}) => {
  const { exploring = false, input: its = input(), ...bounds } = more
  return attemptTimeout({ state, estimate, exploring: exploring as boolean }, next, { ...limits, input: its as EstimateInput, ...bounds })
}

/** How much longer than usual the longest of nearly all answers took. */
const longest = ({ latency }: OfferState): number => Math.exp(currentLevel(latency, now) + latency.p997)

test('an offer that was never silent gets twice the time of nearly all of its answers', () => {
  const state = known(3_000)
  expect(timeout(state, known(500))).toBeCloseTo(2 * longest(state), 3)
})

test('no stream is abandoned before two and a half seconds, however fast its offer usually is', () => {
  expect(timeout(known(50), known(50))).toBe(2_500)
})

test('without another offer an attempt gets all the time, up to its maximum', () => {
  expect(timeout(known(500), undefined)).toBe(120_000)
  expect(timeout(known(500), undefined, { maxMs: 30_000 })).toBe(30_000)
  expect(timeout(known(500), undefined, { input: input({ timeLeftMs: -5 }) })).toBe(1)
})

test('an offer that has already failed the request is no reason to abandon a healthy one', () => {
  expect(timeout(known(500), undefined, { retryable: known(500) })).toBe(120_000)
})

test('an offer that leaves calls unanswered is abandoned early, also for one that has already failed the request', () => {
  const sick = silent(500, 4)
  expect(failureProbability(sick.failures, now)).toBeGreaterThan(0.2)
  expect(timeout(sick, known(500))).toBeLessThan(1_500)
  expect(timeout(sick, undefined, { retryable: known(500) })).toBe(timeout(sick, known(500)))
})

test('an offer whose failures are errors instead of silence gets as much time as a healthy one', () => {
  const failing = silent(3_000, 4)
  failing.hangShare.value = 0
  expect(timeout(failing, known(500))).toBeCloseTo(2 * longest(failing), 3)
})

test('a usual failure rate does not shorten the timeout, because that would cut healthy answers', () => {
  const state = known(3_000)
  state.failures.baseline = 0.024
  state.hangShare.value = 1
  expect(failureProbability(state.failures, now)).toBeGreaterThan(0.02)
  expect(timeout(state, known(500))).toBeCloseTo(2 * longest(state), 3)
})

test('a silent offer is abandoned once a hang is four times likelier than a slow answer, and never before a second', () => {
  const state = silent(3_000, 4)
  const slow = Math.exp(currentLevel(state.latency, now))
  const given = timeout(state, known(500))
  expect(given).toBeGreaterThan(slow)
  expect(given).toBeLessThan(slow * Math.exp(state.latency.p95))
  expect(timeout(silent(50, 4), known(500))).toBe(1_000)
  const rather = silent(3_000, 0)
  rather.failures.states.fill(0).set([0.7, 0.3])
  const share = 0.3 * (0.08 - rather.failures.baseline)
  const odds = share / (1 - share) / 4
  expect(odds).toBeGreaterThan(0.003)
  expect(timeout(rather, known(500))).toBeGreaterThan(given)
  expect(timeout(rather, known(500))).toBeLessThan(longest(rather) * 1.01)
  const never = failureProbability(rather.failures, now) - rather.failures.baseline
  const given4 = never / (1 - never) / 4
  expect(timeout(rather, known(500))).toBeCloseTo(Math.exp(currentLevel(rather.latency, now) + tailStart(rather.latency, given4)), 6)
})

test('an exploration ends early, after a second at the least, and an unknown offer gets the timeout of new offers', () => {
  expect(timeout(known(50), known(50), { exploring: true })).toBe(1_000)
  expect(timeout(known(400, 5), known(400))).toBe(10_000)
  expect(timeout(known(400, 5), known(400), { newOfferMs: 4_000 })).toBe(4_000)
  expect(timeout(known(400, 5), known(400), { exploring: true })).toBeLessThan(10_000)
})

test('enough time is kept for the next attempt, but an attempt gets its minimum', () => {
  const next = known(1_000)
  const needs = Math.exp(currentLevel(next.latency, now) + next.latency.p95)
  expect(timeout(known(8_000), next, { input: input({ timeLeftMs: 10_000 }) })).toBeCloseTo(10_000 - needs, 3)
  expect(timeout(known(8_000), next, { input: input({ timeLeftMs: 3_000 }) })).toBe(2_500)
  expect(timeout(known(100), next, { minMs: 30_000 })).toBe(30_000)
})

test('a non-streamed response is cut off at most once, never before ten seconds, and gets a share of the time left', () => {
  const whole = input({ stream: false })
  const state = known(500)
  expect(timeout(state, known(500), { input: whole, timedOut: true })).toBe(120_000)
  expect(timeout(state, known(500), { input: whole })).toBeCloseTo(2 * longest(state) + 10 * 3_000, 3)
  expect(timeout(state, known(500), { input: input({ stream: false, timeLeftMs: 40_000 }) })).toBeCloseTo(0.55 * 40_000, 3)
  expect(timeout(known(500, 5), known(500), { input: whole })).toBe(40_000)
  const doubted = timeout(silent(500, 4), known(500), { input: whole })
  expect(doubted).toBeGreaterThanOrEqual(10_000)
  expect(doubted).toBeLessThan(2 * longest(state) + 10 * 3_000)
})

test('the expected time to read the prompt is added to the timeout', () => {
  const state = known(3_000)
  const more = timeout(state, known(500), { input: input({ inputTokens: 100_000 }) }) - timeout(state, known(500))
  expect(more).toBeCloseTo(3_000, 0)
})

test('the time that the next offer needs to read the prompt is kept too', () => {
  const next = known(1_000)
  const needs = Math.exp(currentLevel(next.latency, now) + next.latency.p95)
  const given = (inputTokens: number) => timeout(known(8_000), next, { input: input({ timeLeftMs: 10_000, inputTokens }) })
  expect(given(50_000)).toBeCloseTo(10_000 - needs - 50_000 * prefillMsPerToken(next.prefill), 3)
  expect(given(50_000)).toBeLessThan(given(0))
})
