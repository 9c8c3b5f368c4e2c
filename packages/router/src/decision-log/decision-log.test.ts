import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drive, said, world } from '../../test/journeys.ts'
import { makeEstimate } from '../../test/make-estimate.ts'
import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate } from '../offer-estimate.ts'
import { createRouter } from '../router.ts'
import type { AttemptFailure, RouterChoice, RouterOptions } from '../types.ts'
import { standoutsOf } from './counterfactuals.ts'
import { createDecisionLog, type RequestLog, recordDecision } from './decision-log.ts'
import { type DecisionRecord, decisionLogLimits } from './records.ts'
import { encodeTrace } from './trace.ts'

const offer = (id: string, price = 1_000_000): RouterOffer => ({ id, provider: `p-${id}`, price: { input: price, output: 3 * price } })

function make(options: Partial<RouterOptions> = {}) {
  const clock = { nowMs: 5_000 }
  const router = createRouter({
    offers: [offer('a'), offer('b', 2_000_000)],
    clock: { now: () => clock.nowMs },
    decisionLog: {},
    ...options,
  })
  return { clock, router }
}

test('every choice of a router is in its trace, with the returned score and reason', () => {
  fc.assert(
    fc.property(world(), each => {
      const { said: heard, trace } = drive(each, {})
      const recorded = trace.decisions.map(({ candidates, chosen, score, reason, waitMs }) => ({
        offer: candidates[chosen]?.offer.id,
        score,
        reason,
        waitMs,
      }))
      expect(recorded).toEqual(heard)
      expect(trace.dropped).toBe(0)
    }),
  )
})

test('recording, in whole or in part, does not change the choices of a router', () => {
  fc.assert(
    fc.property(world(), each => {
      const { said: heard, trace } = drive(each)
      expect(trace.decisions).toEqual([])
      expect(drive(each, {}).said).toEqual(heard)
      expect(drive(each, { share: 0.4, keep: 3 }).said).toEqual(heard)
    }),
  )
})

test('a decision keeps at most the maximum of candidates, and states how many were omitted', () => {
  const many = fc.record({ count: fc.integer({ min: 1, max: 200 }), ranked: fc.boolean(), seed: fc.integer() })
  fc.assert(
    fc.property(many, ({ count, ranked, seed }) => {
      const offers = Array.from({ length: count }, (_, at) => offer(`o${at}`, 1 + ((at * 7_919 + seed) & 0xfffff)))
      const { router } = make({ offers, seed })
      const plan = router.plan({ inputTokens: 900, ...(ranked && { rank: ({ id }: RouterOffer) => Number(id.slice(1)) % 5 }) })
      const choice = plan.next() as RouterChoice
      const trace = router.trace()
      const [decision] = trace.decisions as [DecisionRecord]
      expect(decision.candidates).toHaveLength(Math.min(count, decisionLogLimits.candidates))
      expect(JSON.stringify(decision).length).toBeLessThanOrEqual(700 + 600 * decision.candidates.length)
      expect(decision.candidates.length + decision.omitted).toBe(count)
      expect(said(choice).offer).toBe(decision.candidates[decision.chosen]?.offer.id)
    }),
  )
})

test('of ten thousand candidates a decision keeps twelve, and its record is small', () => {
  const offers = Array.from({ length: 10_000 }, (_, at) => offer(`o${at}`, 1_000_000 + at))
  const { router } = make({ offers })
  router.plan({ inputTokens: 900 }).next()
  const [decision] = router.trace().decisions as [DecisionRecord]
  expect(decision).toMatchObject({ omitted: 10_000 - 12 })
  expect(decision.candidates[decision.chosen]).toBeDefined()
  expect(encodeTrace(router.trace()).length).toBeLessThan(8_000)
})

test('a record that was read does not change when its attempt ends', () => {
  const { router } = make()
  const attempt = router.startAttempt(router.plan({ inputTokens: 1 }).next() as RouterChoice)
  const before = router.trace()
  router.finishAttempt(attempt)
  expect(before.decisions[0]?.outcome).toBeUndefined()
  expect(router.trace().decisions[0]?.outcome?.ended).toBe('ok')
})

test('if not all fit, those with the best scores are kept, and the cheapest, fastest and most reliable of all', () => {
  const offers = Array.from({ length: 60 }, (_, at) => offer(`o${at}`, 1_000_000 + ((at * 37 + 20) % 60) * 10_000))
  const { router } = make({
    offers,
    preference: ({ unobservedMs }, { id }) => (id === 'o59' ? -1 : Number(id.slice(1)) + unobservedMs * 0),
  })
  const plan = router.plan({ inputTokens: 900 })
  plan.next()
  const [decision] = router.trace().decisions as [DecisionRecord]
  const kept = decision.candidates.map(each => each.offer.id)
  const all = standoutsOf(plan.choices().map(each => each.estimate))
  expect(kept).toEqual(expect.arrayContaining(['o59', 'o0', 'o1', 'o2', 'o3', 'o4', 'o5', 'o6', 'o7', 'o8']))
  expect(kept).toContain(plan.choices()[all.cheapest]?.offer.id)
  expect(kept).toEqual([...kept].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))))
})

const plain = makeEstimate({ cost: 0.5, firstContentMs: 500, generationMs: 500 })
const forty = Array.from({ length: 40 }, (_, at) => offer(`o${at}`, 1_000_000 + at))

/** The record of a choice among forty offers, of which the middle one fails nearly always. */
function recorded(chosen: { readonly at: number; readonly reason: RouterChoice['reason'] }, hoped: boolean): DecisionRecord {
  const estimates = forty.map((_, at) => (at === 20 ? { ...plain, failureProbability: 0.75 } : plain))
  const score = ({ failureProbability }: OfferEstimate, { price }: RouterOffer): number => (failureProbability > 0.5 ? 1e12 : price.input)
  const among = forty.map(each => ({ offer: each }))
  const log = createDecisionLog({}, 1)
  const request = log.openRequest({ preference: score, prices: undefined, strategy: score, rank: undefined, among }) as RequestLog
  recordDecision(
    request,
    {
      offers: forty,
      estimates,
      exploration: hoped ? { at: 20, estimate: plain } : undefined,
      input: { now: 1, inputTokens: 1, outputTokens: 1, stream: true, turns: 1, timeLeftMs: 1 },
    },
    {
      offer: forty[chosen.at] as RouterOffer,
      estimate: plain,
      score: 1,
      reason: chosen.reason,
      waitMs: 0,
      maxFurtherWaitMs: 0,
      timeoutMs: 1,
    },
  )
  return log.trace().decisions[0] as DecisionRecord
}

test('the chosen offer is kept even if its score is the worst', () => {
  const decision = recorded({ at: 20, reason: 'last_resort' }, false)
  expect(decision.omitted).toBeGreaterThan(0)
  expect(decision.candidates[decision.chosen]).toMatchObject({ offer: { id: 'o20' }, score: 1e12 })
})

test.each<[string, { readonly at: number; readonly reason: RouterChoice['reason'] }]>([
  ['chosen', { at: 20, reason: 'exploration' }],
  ['not good enough', { at: 0, reason: 'best' }],
])('an offer considered for exploration that was %s is kept even if its score is the worst', (_, chosen) => {
  const decision = recorded(chosen, true)
  expect(decision.candidates[decision.exploration?.at ?? -1]).toMatchObject({ offer: { id: 'o20' }, score: 1e12 })
  expect(decision.exploration?.score).toBe(1_000_020)
  expect(decision.candidates[decision.chosen]?.offer.id).toBe(`o${chosen.at}`)
  expect(decision.candidates.length + decision.omitted).toBe(40)
})

test('the oldest decisions are dropped beyond the limit', () => {
  const { router, clock } = make({ decisionLog: { keep: 3 } })
  for (let at = 0; at < 10; at += 1) {
    clock.nowMs += 1
    router.plan({ inputTokens: 1 }).next()
  }
  expect(router.trace()).toMatchObject({ dropped: 7 })
  expect(router.trace().decisions.map(({ requestNumber, at }) => [requestNumber, at])).toEqual([
    [7, 5_008],
    [8, 5_009],
    [9, 5_010],
  ])
})

test('a plan keeps its own decisions even if the router drops them, with their later outcomes', () => {
  const { router, clock } = make({ decisionLog: { keep: 0 } })
  const plan = router.plan({ inputTokens: 1 })
  const attempt = router.startAttempt(plan.next() as RouterChoice)
  expect(plan.trace?.().decisions.map(({ outcome }) => outcome)).toEqual([undefined])
  clock.nowMs += 40
  router.failAttempt(attempt, { kind: 'error' })
  plan.next()
  expect(plan.trace?.().decisions.map(({ attempt, outcome }) => [attempt, outcome?.ended])).toEqual([
    [0, 'error'],
    [1, undefined],
  ])
  expect(router.trace().decisions).toEqual([])
  expect(router.trace().dropped).toBe(2)
})

test('reading the order of a plan first does not record its first choice twice', () => {
  const { router } = make()
  const plan = router.plan({ inputTokens: 1 })
  plan.choices()
  plan.next()
  plan.choices()
  expect(router.trace().decisions).toHaveLength(1)
})

test('a dry run, and a plan of a router that records nothing, has no trace', () => {
  expect(make().router.plan({ inputTokens: 1, dryRun: true }).trace).toBeUndefined()
  const offers = [offer('a')]
  const bare = createRouter({ offers, clock: { now: () => 0 } })
  expect(bare.plan({ inputTokens: 1 }).trace).toBeUndefined()
  expect(bare.trace()).toEqual({ version: 2, seed: 1, dropped: 0, decisions: [] })
})

test('the requested share of requests is recorded, each completely, and the same ones with the same seed', () => {
  const recordedBy = (seed: number) => {
    const { router } = make({ seed, decisionLog: { share: 0.25 } })
    for (let at = 0; at < 1_000; at += 1) {
      const plan = router.plan({ inputTokens: 1 })
      router.failAttempt(router.startAttempt(plan.next() as RouterChoice), { kind: 'refused' })
      plan.next()
    }
    return router.trace().decisions.map(({ requestNumber, attempt }) => `${requestNumber}.${attempt}`)
  }
  const recorded = recordedBy(7)
  expect(recorded).toEqual(recordedBy(7))
  expect(recorded).not.toEqual(recordedBy(8))
  expect(recorded.length / 2_000).toBeGreaterThan(0.2)
  expect(recorded.length / 2_000).toBeLessThan(0.3)
  expect(recorded.filter(id => id.endsWith('.0')).map(id => id.replace('.0', '.1'))).toEqual(recorded.filter(id => id.endsWith('.1')))
})

test('a share of zero records nothing', () => {
  const { router } = make({ decisionLog: { share: 0 } })
  router.plan({ inputTokens: 1 }).next()
  expect(router.trace().decisions).toEqual([])
})

const failures: readonly AttemptFailure['kind'][] = ['error', 'timeout', 'rate_limited', 'credential', 'refused']

test.each(failures)('an attempt that ended with %s is recorded with its duration', kind => {
  const { router, clock } = make()
  const choice = router.plan({ inputTokens: 1 }).next() as RouterChoice
  clock.nowMs += 15
  const attempt = router.startAttempt(choice)
  clock.nowMs += 250
  router.failAttempt(attempt, { kind })
  expect(router.trace().decisions[0]?.outcome).toEqual({ ended: kind, sentAfterMs: 15, totalMs: 250 })
})

test('an answer is recorded with its first content, its end and its tokens', () => {
  const { router, clock } = make()
  const attempt = router.startAttempt(router.plan({ inputTokens: 1 }).next() as RouterChoice)
  clock.nowMs += 400
  router.recordFirstContent(attempt)
  clock.nowMs += 600
  router.finishAttempt(attempt, { outputTokens: 120, cachedTokens: 0 })
  expect(router.trace().decisions[0]?.outcome).toEqual({
    ended: 'ok',
    sentAfterMs: 0,
    firstContentMs: 400,
    totalMs: 1_000,
    outputTokens: 120,
    cachedTokens: 0,
  })
})

test('a non-streamed response has no first content; a broken and an abandoned one are recorded as such', () => {
  const { router, clock } = make()
  const whole = router.startAttempt(router.plan({ inputTokens: 1, stream: false }).next() as RouterChoice)
  clock.nowMs += 900
  router.finishAttempt(whole)
  const broken = router.startAttempt(router.plan({ inputTokens: 1 }).next() as RouterChoice)
  router.recordFirstContent(broken)
  router.failAttempt(broken, { kind: 'error' })
  const left = router.startAttempt(router.plan({ inputTokens: 1 }).next() as RouterChoice)
  router.abandonAttempt(left)
  router.finishAttempt(left)
  expect(router.trace().decisions.map(({ outcome }) => [outcome?.ended, outcome?.firstContentMs])).toEqual([
    ['ok', undefined],
    ['broken', 0],
    ['left', undefined],
  ])
})

test('fields that an owner adds to an offer are not in a trace', () => {
  const kept = { ...offer('a'), secret: 'sk-1', price: { input: 1, output: 2, cached: 1, note: 'sk-2' }, cacheMs: 60_000 }
  const { router } = make({ offers: [kept] })
  router.plan({ inputTokens: 1 }).next()
  expect(router.trace().decisions[0]?.candidates[0]?.offer).toEqual({
    id: 'a',
    provider: 'p-a',
    price: { input: 1, output: 2, cached: 1 },
    cacheMs: 60_000,
  })
})

test.each([
  [{ keep: -1 }, /`decisionLog.keep` is -1/],
  [{ keep: 1.5 }, /`decisionLog.keep` is 1.5/],
  [{ share: 2 }, /`decisionLog.share` is 2/],
  [{ share: Number.NaN }, /`decisionLog.share` is NaN/],
])('invalid options are refused by name: %j', (decisionLog, message) => {
  expect(() => make({ decisionLog })).toThrow(message)
})
