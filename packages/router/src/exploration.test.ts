import { expect, test } from 'vitest'
import { recordFailure } from './circuit-breaker.ts'
import { priceVector } from './cost.ts'
import type { EstimateInput } from './estimate.ts'
import { accrueBudget, findExploration, makeAttemptBudget, recordExploration, resetForgoneGain } from './exploration.ts'
import { recordOutcome } from './failure-model.ts'
import { observeLatency, recoveredProbability } from './latency.ts'
import type { OfferEstimate, Strategy } from './offer-estimate.ts'
import { makeOfferState, type OfferState, type TrackedOffer } from './offer-state.ts'
import type { ScoredOffer } from './select-by-score.ts'

const now = 1_000_000

/** An offer that has given fifty answers around this many milliseconds, the last a second ago. */
function known(ms: number): TrackedOffer {
  const state = makeOfferState(0)
  for (let at = 0; at < 50; at += 1) {
    const moment = now - (50 - at) * 1_000
    observeLatency(state.latency, ms, moment)
    recordOutcome(state.failures, { bad: false, now: moment })
    recordOutcome(state.breaks, { bad: false, now: moment })
  }
  state.observations = 50
  state.observedAt = now - 1_000
  return contender(state)
}

function contender(state: OfferState): TrackedOffer {
  const offer = { id: 'alder', price: { input: 500_000, output: 1_600_000 } }
  return { offer, prices: priceVector(offer), state }
}

const stranger = () => contender(makeOfferState(now))

/** An offer that was fast, and whose last few calls failed. */
function failed(calls = 3): TrackedOffer {
  const its = known(200)
  for (let at = 0; at < calls; at += 1) recordOutcome(its.state.failures, { bad: true, now })
  return its
}

/** An offer that was as fast as any for long, and was slow when it was last observed. */
function slowed(): TrackedOffer {
  const its = known(200)
  for (let at = 0; at < 6; at += 1) observeLatency(its.state.latency, 2_000, now - 500)
  return its
}

const input = (more: Partial<EstimateInput> = {}): EstimateInput => ({
  now,
  stream: true,
  timeLeftMs: 20_000,
  maxQueueMs: 2_000,
  best: { level: Math.log(400), speed: Math.log(60) },
  inputTokens: 100,
  outputTokens: 100,
  turns: 1,
  turnGrowth: 0,
  cachedTokens: 0,
  ...more,
})

/** Only waiting counts, and a failure as three seconds of it. */
const strategy: Strategy = ({ firstContentMs, failureProbability }) => firstContentMs + 3_000 * failureProbability

interface Scene {
  readonly sights?: readonly Partial<OfferEstimate>[]
  readonly saved?: number
  readonly brief?: boolean
  readonly looking?: EstimateInput
}

/** Whether an offer other than the first should be tried. The first is the best known. */
function hope(
  candidates: readonly TrackedOffer[],
  { sights: estimates = [], saved = 2, brief: shortTimeout = true, looking: its = input() }: Scene = {},
) {
  const seen = candidates.map(
    (_, at) =>
      ({ firstContentMs: at === 0 ? 400 : 900, failureProbability: 0.01, failedAttemptMs: 400, ...estimates[at] }) as OfferEstimate,
  )
  const leader = (): ScoredOffer => ({ at: 0, score: 430, exploring: false })
  return findExploration(candidates, its, { budget: { saved }, strategy, estimates: seen, shortTimeout, leader })
}

/** Requests, one every tenth of a second, until one tries the second offer. */
function requestsUntilTry(second: TrackedOffer, scene: Omit<Scene, 'looking'> = {}, most = 5_000): number {
  const first = known(400)
  for (let at = 1; at <= most; at += 1) {
    const moment = now + at * 100
    first.state.observedAt = moment
    second.state.observedAt = Math.max(second.state.observedAt, moment - 60_000)
    if (hope([first, second], { ...scene, looking: input({ now: moment }) })) return at
  }
  return Number.POSITIVE_INFINITY
}

test('a healthy offer that scores worse than the best is not tried: its performance is known', () => {
  expect(requestsUntilTry(known(900))).toBe(Number.POSITIVE_INFINITY)
})

test('a new offer is tried at once, by its optimistic estimate, and costs no budget', () => {
  const found = hope([known(400), stranger()], { saved: 0 })
  expect(found?.at).toBe(1)
  expect(found?.estimate.firstContentMs).toBeLessThan(400)
})

test('new offers are tried one at a time: not while the best is one itself', () => {
  expect(hope([stranger(), stranger()])).toBeUndefined()
})

test('an offer with a running call is not tried a second time', () => {
  const its = stranger()
  its.state.runningAttempts = 1
  expect(hope([known(400), its])).toBeUndefined()
})

test('no new offer is tried if a silent call would be waited for long', () => {
  expect(hope([known(400), stranger()], { brief: false })).toBeUndefined()
})

test('a paused offer is not tried', () => {
  const its = stranger()
  its.state.capacity.pausedUntil = now + 5_000
  expect(hope([known(400), its])).toBeUndefined()
})

test('a failed offer is tried once the forgone gain may exceed the cost of a trial, sooner if a trial costs less', () => {
  const cheap = requestsUntilTry(failed(), { sights: [{}, { firstContentMs: 500, failureProbability: 0.3 }] })
  const dear = requestsUntilTry(failed(), { sights: [{}, { firstContentMs: 500, failureProbability: 0.9 }] })
  expect(cheap).toBeGreaterThan(1)
  expect(dear).toBeGreaterThan(1.5 * cheap)
  expect(dear).toBeLessThan(5_000)
})

test('an offer that would not win even after recovery is not tried, however long it is unused', () => {
  const its = known(600)
  for (let at = 0; at < 3; at += 1) recordOutcome(its.state.failures, { bad: true, now })
  expect(requestsUntilTry(its)).toBe(Number.POSITIVE_INFINITY)
})

test('an offer that broke streams is tried again like one that failed before content', () => {
  const its = known(200)
  for (let at = 0; at < 2; at += 1) recordOutcome(its.state.breaks, { bad: true, now })
  const found = requestsUntilTry(its, { sights: [{}, { firstContentMs: 500, failureProbability: 0.3 }] })
  expect(found).toBeGreaterThan(1)
  expect(found).toBeLessThan(5_000)
})

test('an offer that became slow is tried to detect its recovery', () => {
  const found = requestsUntilTry(slowed(), { sights: [{}, { firstContentMs: 2_300 }] })
  expect(found).toBeGreaterThan(1)
  expect(found).toBeLessThan(5_000)
})

test('an open circuit alone is a reason to explore, and its pause a reason to wait', () => {
  const its = known(200)
  for (let at = 0; at < 4; at += 1) recordFailure(its.state.circuit, now, { failing: 0.2, chance: 0.5 })
  const found = requestsUntilTry(its, { sights: [{}, { firstContentMs: 431 }] })
  expect(found).toBeGreaterThanOrEqual(20)
  expect(found).toBeLessThan(100)
})

test('an offer that cannot win is considered again only two seconds later', () => {
  const its = failed()
  expect(hope([known(400), its])).toBeUndefined()
  expect(its.state.exploreAt).toBe(now + 2_000)
  expect([its.state.passedOver, its.state.forgoneGain > 0]).toEqual([0, true])
})

test('the best offer itself is not explored, whatever has failed at it', () => {
  expect(hope([failed(), known(900)])).toBeUndefined()
})

/** The gain that one request forgoes by not using the offer. */
function missedBy(its: TrackedOffer, moment = now): number {
  its.state.observedAt = moment - 1_000
  hope([known(400), its], { sights: [{}, { firstContentMs: 1e9 }], looking: input({ now: moment }) })
  return its.state.forgoneGain
}

test('the forgone gain of an offer is weighted by the probability of its recovery', () => {
  const broken = known(200)
  for (let at = 0; at < 4; at += 1) recordOutcome(broken.state.breaks, { bad: true, now })
  expect(missedBy(broken)).toBeLessThan(10)
  expect(missedBy(broken, now + 600_000)).toBeGreaterThan(100)
  expect(missedBy(slowed())).toBeLessThan(1)
  expect(missedBy(slowed(), now + 300_000)).toBeGreaterThan(30)
})

test('a slow offer is tried once its forgone gain equals the cost of a trial that is slow', () => {
  const moment = now + 300_000
  const tried = (missed: number) => {
    const its = slowed()
    Object.assign(its.state, { forgoneGain: missed, observedAt: moment - 1_000 })
    return hope([known(400), its], { sights: [{}, { firstContentMs: 1_400 }], looking: input({ now: moment }) }) !== undefined
  }
  expect(1 - recoveredProbability(slowed().state.latency, moment)).toBeCloseTo(0.6, 1)
  expect([tried(400), tried(700)]).toEqual([false, true])
})

test('requests since the last check count, each with the gain that it may have forgone', () => {
  const missed = (requests: number) => {
    const its = failed()
    its.state.passedOver = requests - 1
    hope([known(400), its], { sights: [{}, { firstContentMs: 1e9 }] })
    return its.state.forgoneGain
  }
  expect(missed(10)).toBeCloseTo(10 * missed(1), 6)
})

test('a trial of a stream is priced at a second of silence, however long earlier attempts waited', () => {
  const lost: Strategy = ({ firstContentMs, failureProbability, failedAttemptMs }) => firstContentMs + failureProbability * failedAttemptMs
  const cost = (stream: boolean) => {
    const prices: number[] = []
    const [first, its] = [known(400), failed()]
    const estimates = [400, 900].map(
      firstContentMs => ({ firstContentMs, failureProbability: 0.5, failedAttemptMs: 30_000 }) as OfferEstimate,
    )
    findExploration([first, its], input({ stream }), {
      budget: { saved: 2 },
      strategy: (estimate, offer) => {
        prices.push(estimate.failedAttemptMs)
        return lost(estimate, offer)
      },
      estimates,
      shortTimeout: true,
      leader: () => ({ at: 0, score: 430, exploring: false }),
    })
    return Math.max(...prices)
  }
  expect(cost(true)).toBe(1_000)
  expect(cost(false)).toBe(30_000)
})

test('an offer unobserved for minutes is tried within the budget, and then left alone for a while', () => {
  const its = known(900)
  its.state.observedAt = now - 400_001
  expect(hope([known(400), its], { saved: 1.99 })).toBeUndefined()
  expect(hope([known(400), its], { saved: 2, brief: false })).toBeUndefined()
  expect(hope([known(400), its], { saved: 2 })?.at).toBe(1)
  const budget = makeAttemptBudget()
  recordExploration(its.state, now, budget)
  expect([budget.saved, its.state.exploreAt]).toEqual([0, now + 25_000])
  its.state.observedAt = now - 399_999
  its.state.exploreAt = 0
  expect(hope([known(400), its])).toBeUndefined()
})

test('of several offers due for a trial, the one that could score best is tried first', () => {
  const unheard = (ms: number): TrackedOffer => {
    const its = known(ms)
    its.state.observedAt = now - 500_000
    return its
  }
  expect(hope([known(400), unheard(200), unheard(100)])?.at).toBe(2)
  expect(hope([known(400), unheard(100), unheard(200)])?.at).toBe(1)
})

test('trials of new offers and of recently observed offers cost no budget', () => {
  for (const { state } of [stranger(), contender(makeOfferState(0)), known(400)]) {
    const budget = makeAttemptBudget()
    recordExploration(state, now, budget)
    expect([budget.saved, state.exploreAt]).toEqual([2, 0])
  }
})

test('the budget grows by one trial in fifty requests, and never exceeds one trial', () => {
  const budget = { saved: 0 }
  for (let request = 0; request < 49; request += 1) accrueBudget(budget)
  expect(budget.saved).toBeLessThan(2)
  for (let request = 0; request < 100; request += 1) accrueBudget(budget)
  expect(budget.saved).toBe(2)
  expect(makeAttemptBudget().saved).toBe(2)
})

test('calling an offer resets its forgone gain', () => {
  const { state } = failed()
  Object.assign(state, { forgoneGain: 3, passedOver: 7 })
  resetForgoneGain(state)
  expect([state.forgoneGain, state.passedOver]).toEqual([0, 0])
})
