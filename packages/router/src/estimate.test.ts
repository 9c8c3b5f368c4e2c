import { expect, test } from 'vitest'
import { recordRateLimited } from './capacity.ts'
import { priceVector } from './cost.ts'
import { bestKnown, cachedTokensAt, type EstimateInput, estimateOffer, optimisticEstimate } from './estimate.ts'
import { failureProbability, failureProbabilityGiven, recordOutcome } from './failure-model.ts'
import { currentLevel, observeLatency, tailShare } from './latency.ts'
import type { RouterOffer } from './offer.ts'
import { makeOfferState, type OfferState, type RunningAttempt, type TrackedOffer } from './offer-state.ts'

const now = 1_000_000
const offer: RouterOffer = { id: 'alder', price: { input: 500_000, output: 1_600_000, cached: 50_000 } }

/** An offer that gave two hundred answers around this many milliseconds, the last just now. */
function known(ms = 500): TrackedOffer & { readonly state: OfferState } {
  const state = makeOfferState(0)
  for (let at = 1; at <= 200; at += 1) {
    const moment = now - (200 - at) * 1_000
    observeLatency(state.latency, ms * Math.exp((((at * 7) % 11) - 5) / 12), moment)
    recordOutcome(state.failures, { bad: false, now: moment })
  }
  state.observations = 200
  state.observedAt = now
  state.lastAnsweredStart = now - 60_000
  return { offer, prices: priceVector(offer), state }
}

const input = (more: Partial<EstimateInput> = {}): EstimateInput => ({
  now,
  stream: true,
  timeLeftMs: 120_000,
  maxQueueMs: 2_000,
  best: { level: Math.log(400), speed: Math.log(60) },
  inputTokens: 0,
  outputTokens: 120,
  turns: 1,
  turnGrowth: 0,
  cachedTokens: 0,
  ...more,
})

/** Silent calls, by how many milliseconds ago they were sent. */
function silent(tracked: ReturnType<typeof known>, agesMs: readonly number[]) {
  for (const age of agesMs) tracked.state.silentAttempts.add({ startedAt: now - age, uncachedTokens: 0 } as RunningAttempt)
  return tracked
}

test('a conversation is warm at an offer that read it, for as long as the offer caches prompts', () => {
  const readers = [
    { offerId: 'birch', tokens: 9_000, at: now },
    { offerId: 'alder', tokens: 4_000, at: now - 10_000 },
  ]
  const at = (its: RouterOffer, moment: number) => cachedTokensAt(readers, { ...known(), offer: its }, moment)
  expect([at(offer, now), at(offer, now + 289_999), at(offer, now + 290_000)]).toEqual([4_000, 4_000, 0])
  expect([at({ ...offer, cacheMs: 10_001 }, now), at({ ...offer, cacheMs: 10_000 }, now)]).toEqual([4_000, 0])
  expect(at({ ...offer, id: 'cedar' }, now)).toBe(0)
})

test('the best known values are the lowest latency and the highest speed of observed offers', () => {
  const stranger = { ...known(), state: makeOfferState(now) }
  expect(bestKnown([stranger], now)).toEqual({ level: Math.log(600), speed: Math.log(60) })
  const [slow, fast] = [known(900), known(300)]
  Object.assign(slow.state.speed, { value: 5, observations: 1 })
  expect(bestKnown([stranger, slow, fast], now)).toEqual({ level: currentLevel(fast.state.latency, now), speed: 5 })
})

test('calls that are silent for as long as most answers take change nothing', () => {
  expect(estimateOffer(silent(known(), Array(20).fill(400)), input())).toEqual(estimateOffer(known(), input()))
})

test('calls silent for longer than nearly all answers count as expected failures, eight at most', () => {
  const failure = (calls: number) => estimateOffer(silent(known(), Array(calls).fill(20_000)), input()).failureProbability
  const { failures } = known().state
  const given = (calls: number) => failureProbabilityGiven(failures, { now, given: calls })
  expect([1, 2, 7, 8, 9, 30].map(failure)).toEqual([1, 2, 7, 8, 8, 8].map(given))
})

test('several silent calls raise the expected wait; one does not, nor do those followed by a later answer', () => {
  const wait = (tracked: TrackedOffer) => estimateOffer(tracked, input()).firstContentMs
  const usual = wait(known())
  expect(wait(silent(known(), [750]))).toBeLessThan(usual * 1.3)
  expect(wait(silent(known(), Array(6).fill(3_000)))).toBeGreaterThan(3_000)
  const overtaken = silent(known(), Array(6).fill(3_000))
  overtaken.state.lastAnsweredStart = now - 2_000
  expect(wait(overtaken)).toBeLessThan(usual * 1.3)
})

test('an offer without an answer is assumed to be as fast as the best of the others', () => {
  const stranger = { ...known(), state: makeOfferState(now) }
  const { firstContentMs, generationMs } = estimateOffer(stranger, input({ best: { level: Math.log(300), speed: Math.log(200) } }))
  expect(firstContentMs).toBeCloseTo(300 * stranger.state.latency.tail, 3)
  expect(generationMs).toBeCloseTo((120 / 200) * 1_000, 3)
})

test('a response is certainly late if no time is left', () => {
  const late = (timeLeftMs: number) => estimateOffer(known(), input({ timeLeftMs })).lateProbability
  expect([late(-1), late(0)]).toEqual([1, 1])
  expect(late(60_000)).toBeLessThan(0.1)
})

test('of equal offers the one observed longer ago looks faster', () => {
  const { state } = known()
  const at = (moment: number) => estimateOffer({ ...known(), state }, input({ now: moment })).firstContentMs
  expect(at(now + 300_000)).toBeLessThan(at(now) * 0.95)
})

test('a break of a non-streamed response counts as a failure, because another offer can still be tried', () => {
  const { state } = known()
  const stream = estimateOffer({ ...known(), state }, input())
  const whole = estimateOffer({ ...known(), state }, input({ stream: false }))
  expect(stream.breakProbability).toBe(failureProbability(state.breaks, now))
  expect(whole.breakProbability).toBe(0)
  expect(whole.failureProbability).toBeCloseTo(1 - (1 - stream.failureProbability) * (1 - stream.breakProbability), 6)
  expect(whole.failedAttemptMs).toBeCloseTo(stream.failedAttemptMs + state.hangShare.value * 4 * whole.generationMs, 1)
})

test('an answer is late with the share of answers that take longer than the remaining time', () => {
  const { state } = known()
  const late = (timeLeftMs: number) => estimateOffer({ ...known(), state }, input({ timeLeftMs })).lateProbability
  const level = Math.log(estimateOffer(known(), input()).firstContentMs / state.latency.tail)
  expect(late(120_000)).toBe(0)
  expect(late(700)).toBeCloseTo(tailShare(state.latency, Math.log(700) - level), 5)
  expect(late(300)).toBeGreaterThan(late(700))
  expect([late(0), late(-5)]).toEqual([1, 1])
})

test('an offer that is rate limited for less than the queue limit counts as available, with its wait added', () => {
  const held = (ms: number, cachedTokens: number) => {
    const its = known()
    its.state.capacity.pausedUntil = now + ms
    const estimate = estimateOffer(its, input({ cachedTokens, inputTokens: cachedTokens }))
    return [
      estimate.rateLimitedMs,
      Math.round(estimate.firstContentMs - estimateOffer(known(), input({ cachedTokens, inputTokens: cachedTokens })).firstContentMs),
    ]
  }
  expect(held(2_000, 5_000)).toEqual([0, 2_000])
  expect(held(2_001, 5_000)).toEqual([2_001, 2_001])
  expect(held(160, 0)).toEqual([0, 160])
  expect(held(161, 0)).toEqual([161, 161])
  expect(held(90_000, 0)).toEqual([90_000, 30_000])
})

test('an optimistic estimate ignores faults, but not rate limits', () => {
  const its = known()
  for (let at = 0; at < 4; at += 1) recordOutcome(its.state.failures, { bad: true, now })
  its.state.failedAttemptMs.value = 9_000
  recordRateLimited(its.state.capacity, now, { retryAfterMs: 3_000, chance: 0.5, call: { startedAt: 0, beyondLimit: false } })
  const hope = optimisticEstimate(its, input({ cachedTokens: 7 }))
  expect(estimateOffer(its, input()).failureProbability).toBeGreaterThan(0.2)
  expect(hope.failureProbability).toBeLessThanOrEqual(0.006)
  expect(hope).toMatchObject({ failedAttemptMs: 400, rateLimitedMs: 3_000, lateProbability: 0, cachedTokens: 0 })
})

test('the optimistic estimate of a non-streamed response has no breaks, because another offer can still be tried', () => {
  expect(optimisticEstimate(known(), input()).breakProbability).toBe(known().state.breaks.baseline)
  expect(optimisticEstimate(known(), input({ stream: false })).breakProbability).toBe(0)
})

test('the optimistic estimate of a slow offer is its long run; that of an unobserved one is better than the best', () => {
  const its = known()
  const { longRun, tail } = its.state.latency
  its.state.latency.level = longRun + 2
  expect(optimisticEstimate(its, input()).firstContentMs).toBeCloseTo(Math.exp(longRun) * tail, 1)
  its.state.observedAt = now - 400_000
  expect(optimisticEstimate(its, input()).firstContentMs).toBeCloseTo(Math.exp(longRun) * tail, 1)
  its.state.observedAt = now - 400_001
  expect(optimisticEstimate(its, input()).firstContentMs).toBeCloseTo(Math.exp(Math.min(longRun, Math.log(400)) - 0.5) * tail, 1)
})

test('an offer is assumed to be faster than observed while it has fewer than three answers', () => {
  const hopedAfter = (answers: number) => {
    const tracked = known()
    tracked.state.latency.observations = answers
    return optimisticEstimate(tracked, input()).firstContentMs
  }
  expect(hopedAfter(2)).toBeLessThan(hopedAfter(3))
  expect(hopedAfter(3)).toBe(hopedAfter(4))
})
