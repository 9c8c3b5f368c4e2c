import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drive, world } from '../../test/journeys.ts'
import { makeEstimate } from '../../test/make-estimate.ts'
import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate } from '../offer-estimate.ts'
import { preferences } from '../preferences.ts'
import { createRouter } from '../router.ts'
import { scoreByPrices } from '../score.ts'
import type { RouterChoice } from '../types.ts'
import { counterfactualsOf, riskOf } from './counterfactuals.ts'
import { evidenceOf } from './evidence.ts'
import type { CandidateRecord, DecisionRecord, Trace } from './records.ts'

const calm = makeEstimate({ cost: 0.002, firstContentMs: 500, generationMs: 4_000, failedAttemptMs: 400, unobservedMs: 10 })

const prices = preferences.balanced
const offer = (id: string): RouterOffer => ({ id, provider: `p-${id}`, price: { input: 1, output: 1 } })
const seen = (id: string, sight: Partial<OfferEstimate>, rest: Partial<CandidateRecord> = {}): CandidateRecord => {
  const its = { ...calm, ...sight }
  return { offer: offer(id), estimate: its, score: scoreByPrices(prices)(its, offer(id)), ...rest }
}

/** A decision that chose the first candidate. */
const decided = (candidates: readonly CandidateRecord[], rest: Partial<DecisionRecord> = {}): DecisionRecord => ({
  at: 0,
  requestNumber: 0,
  attempt: 0,
  strategy: 'balanced',
  prices,
  scale: 1,
  request: { inputTokens: 1_000, outputTokens: 300, stream: true, turns: 1 },
  candidates,
  omitted: 0,
  chosen: 0,
  reason: 'best',
  score: candidates[0]?.score ?? null,
  waitMs: 0,
  ...rest,
})

test('counterfactuals name the cheapest, the fastest and the most reliable offer, with their expected outcomes', () => {
  const counterfactuals = counterfactualsOf(
    decided([
      seen('a', { cost: 0.002, firstContentMs: 500, failureProbability: 0.01, breakProbability: 0.01 }),
      seen('b', { cost: 0.001, firstContentMs: 5_000, failureProbability: 0.01, breakProbability: 0.01 }),
      seen('c', { cost: 0.009, firstContentMs: 100, failureProbability: 0.01, breakProbability: 0.01 }),
      seen('d', { cost: 0.008, firstContentMs: 900, failureProbability: 0 }),
    ]),
  )
  expect(counterfactuals.chosen).toMatchObject({ offer: { id: 'a' }, cost: 0.002, firstContentMs: 500, reason: 'best' })
  expect(counterfactuals.chosen.failure).toBeCloseTo(0.0199)
  expect(counterfactuals.cheapest).toMatchObject({ offer: { id: 'b' }, cost: 0.001, firstContentMs: 5_000, lost: 'was 4.5 s slower' })
  expect(counterfactuals.fastest).toMatchObject({ offer: { id: 'c' }, firstContentMs: 100, lost: 'cost 0.0070 USD more' })
  expect(counterfactuals.mostReliable).toMatchObject({ offer: { id: 'd' }, failure: 0, lost: 'cost 0.0060 USD more' })
})

test('the chosen offer has no reason for losing', () => {
  const { cheapest, fastest, mostReliable } = counterfactualsOf(
    decided([seen('a', {}), seen('b', { cost: 1, firstContentMs: 900, failureProbability: 0.5 })]),
  )
  for (const each of [cheapest, fastest, mostReliable]) expect(each).not.toHaveProperty('lost')
})

test.each<[string, { readonly won: Partial<OfferEstimate>; readonly lost: Partial<OfferEstimate> }, string]>([
  ['slowness', { won: {}, lost: { cost: 0.0019, firstContentMs: 900 } }, 'was 0.4 s slower'],
  ['little slowness', { won: {}, lost: { cost: 0.00199, firstContentMs: 550 } }, 'was 50 ms slower'],
  ['its end', { won: {}, lost: { cost: 0.0019, generationMs: 9_500 } }, 'took 5.5 s longer to complete'],
  ['price', { won: { firstContentMs: 501 }, lost: { firstContentMs: 500, cost: 0.0041 } }, 'cost 0.0021 USD more'],
  [
    'a small price',
    { won: { cost: 0.0000001, firstContentMs: 501 }, lost: { firstContentMs: 500.99, cost: 0.00000033 } },
    'cost 0.00000023 USD more',
  ],
  ['a large price', { won: { firstContentMs: 501 }, lost: { firstContentMs: 500, cost: 31.2 } }, 'cost 31 USD more'],
  ['failures', { won: {}, lost: { cost: 0.0019, failureProbability: 0.123 } }, 'failed 12 % of recent requests'],
  ['rare failures', { won: {}, lost: { cost: 0.0019999, failureProbability: 0.0031 } }, 'failed 0.31 % of recent requests'],
  ['breaks', { won: {}, lost: { cost: 0.0019, breakProbability: 0.04 } }, 'interrupted 4 % of its recent responses'],
  ['the deadline', { won: {}, lost: { cost: 0.0019, lateProbability: 0.5 } }, 'would have missed the deadline in 50 % of cases'],
  ['a rest', { won: {}, lost: { cost: 0.0001, circuitOpenMs: 0.5 } }, 'was paused after failures'],
  ['a limit', { won: {}, lost: { cost: 0.0001, rateLimitedMs: 1_000 } }, 'had reached its rate limit'],
  ['a longer wait', { won: { rateLimitedMs: 500 }, lost: { cost: 0.0001, rateLimitedMs: 2_000 } }, 'would have been available 1.5 s later'],
])('a sentence states why another offer was not chosen: %s', (_, { won, lost }, says) => {
  const { cheapest, fastest } = counterfactualsOf(decided([seen('a', won), seen('b', lost)]))
  expect([cheapest.lost, fastest.lost]).toContain(says)
})

test('of several reasons the one with the largest weight is named, by the prices of the request', () => {
  const both = [seen('a', {}), seen('b', { cost: 0.0019, firstContentMs: 900, generationMs: 9_000 })]
  expect(counterfactualsOf(decided(both)).cheapest.lost).toBe('took 5.0 s longer to complete')
  expect(counterfactualsOf(decided(both, { prices: preferences.latency })).cheapest.lost).toBe('was 0.4 s slower')
})

test('a provider that had just failed, a caller’s order and ties have their own sentences', () => {
  const cheap = { cost: 0.001 }
  expect(counterfactualsOf(decided([seen('a', {}), seen('b', cheap, { providerFailed: true })], { attempt: 1 })).cheapest.lost).toBe(
    'belonged to a provider that had just failed this request',
  )
  expect(counterfactualsOf(decided([seen('a', {}, { rank: 0 }), seen('b', cheap, { rank: 1 })])).cheapest.lost).toBe(
    'ranked later in the requested order',
  )
  expect(counterfactualsOf(decided([seen('a', {}, { rank: 0 }), seen('b', cheap, { rank: null })])).cheapest.lost).toBe(
    'ranked later in the requested order',
  )
  expect(counterfactualsOf(decided([seen('a', {}), seen('b', { headroom: 0.5 })], { chosen: 1 })).cheapest.lost).toBe(
    'had the same score, and was listed later',
  )
})

test('for a custom strategy the only reason is a worse score', () => {
  const { prices: _, ...own } = decided([seen('a', {}, { score: 1 }), seen('b', { cost: 0.001 }, { score: null })], {
    strategy: 'own',
    score: 1,
  })
  expect(counterfactualsOf(own).cheapest.lost).toBe('was ranked lower by the strategy')
})

test('an exploration is compared by its optimistic estimate', () => {
  const exploration = { at: 0, estimate: { ...calm, firstContentMs: 200 }, score: 0.001 }
  const counterfactuals = counterfactualsOf(
    decided([seen('a', { firstContentMs: 2_000 }), seen('b', { cost: 0.0019, firstContentMs: 800 })], {
      exploration,
      reason: 'exploration',
    }),
  )
  expect(counterfactuals.chosen.firstContentMs).toBe(200)
  expect(counterfactuals.cheapest.lost).toBe('was 0.6 s slower, compared with the optimistic estimate of the explored offer')
})

test('in any world no offer is cheaper, faster or more reliable than the one named so, and all others have a reason', () => {
  fc.assert(
    fc.property(world(), each => {
      for (const decision of drive(each, {}).trace.decisions) {
        const { cheapest, fastest, mostReliable } = counterfactualsOf(decision)
        const sights = decision.candidates.map(({ estimate }) => estimate)
        expect(cheapest.cost).toBe(Math.min(...sights.map(({ cost }) => cost)))
        expect(fastest.firstContentMs).toBe(Math.min(...sights.map(({ firstContentMs }) => firstContentMs)))
        expect(mostReliable.failure).toBe(Math.min(...sights.map(riskOf)))
        for (const { offer, lost } of [cheapest, fastest, mostReliable]) {
          expect(lost === undefined).toBe(offer.id === decision.candidates[decision.chosen]?.offer.id)
          expect(lost ?? 'was').toMatch(/^[a-z][^\n]*[a-z%D]$/)
          expect(lost ?? 'was').not.toMatch(/NaN|Infinity|undefined|-\d/)
        }
      }
    }),
  )
})

const nothing: Trace = { version: 2, seed: 0, dropped: 0, decisions: [] }

const excluded = [
  { model: 'm', provider: 'z', provider_model_id: 'z-m', code: 'capability_mismatch', reason: 'it does not support tools', param: 'tools' },
] as const

/** A request whose first offer fails and whose second one succeeds. */
function routed() {
  const clock = { nowMs: 1_000 }
  const offers = [
    { id: 'a', provider: 'p', model: 'm', price: { input: 500_000, output: 1_600_000 } },
    { id: 'b', provider: 'q', model: 'm', price: { input: 900_000, output: 2_000_000 } },
  ]
  const router = createRouter({ offers, seed: 9, clock: { now: () => clock.nowMs }, decisionLog: {} })
  const plan = router.plan({ inputTokens: 900, deadlineMs: 20_000 })
  const first = router.startAttempt(plan.next() as RouterChoice)
  clock.nowMs += 250
  router.failAttempt(first, { kind: 'error' })
  const second = router.startAttempt(plan.next() as RouterChoice)
  clock.nowMs += 400
  router.recordFirstContent(second)
  clock.nowMs += 1_000
  router.finishAttempt(second, { outputTokens: 100, cachedTokens: 5 })
  return plan
}

test('the evidence of a request has the seed, the order, the exclusions, the estimates, the attempts and the three counterfactuals', () => {
  const plan = routed()
  const evidence = evidenceOf(plan.trace?.() ?? nothing, excluded)
  expect(evidence).toMatchObject({
    seed: 9,
    strategy: 'balanced',
    prices,
    request: { input_tokens: 900, expected_output_tokens: 300, stream: true, expected_turns: 1, deadline_ms: 20_000 },
    order: ['a', 'b'],
    excluded,
    decisions: [
      { after_ms: 0, chosen: 'a', candidates_omitted: 0, candidates: [{ offer: 'a', provider: 'p', model: 'm' }, { offer: 'b' }] },
      { after_ms: 250, chosen: 'b', reason: 'fallback', candidates: [{ offer: 'b', provider_just_failed: false }] },
    ],
    attempts: [
      { offer: 'a', outcome: 'error', sent_after_ms: 0, first_content_ms: null, total_ms: 250, output_tokens: null },
      { offer: 'b', outcome: 'ok', sent_after_ms: 250, first_content_ms: 400, total_ms: 1_400, output_tokens: 100, cached_tokens: 5 },
    ],
    counterfactuals: { cheapest: { offer: 'a', chosen: true, lost_because: null } },
  })
  expect(evidence.decisions[0]?.candidates[0]).toMatchObject({ rate_limited_ms: 0, circuit_open_ms: 0, headroom: 1 })
  expect(evidence.order).toEqual(plan.choices().map(({ offer: { id } }) => id))
})

test('evidence is plain JSON in snake case, in every world', () => {
  const namesIn = (value: unknown): readonly string[] =>
    typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([name, its]) => [name, ...namesIn(its)]) : []
  fc.assert(
    fc.property(world(), each => {
      for (const plan of drive(each, {}).plans) {
        const evidence = evidenceOf(plan.trace?.() ?? nothing)
        expect(JSON.parse(JSON.stringify(evidence))).toEqual(evidence)
        expect(namesIn(evidence).filter(name => !/^[a-z\d_]+$/.test(name))).toEqual([])
        expect(evidence.attempts).toHaveLength(evidence.decisions.length)
      }
    }),
    { numRuns: 40 },
  )
})

test('a request without recorded decisions has evidence that says so', () => {
  expect(evidenceOf({ ...nothing, seed: 4 }, excluded)).toEqual({
    detail: 'full',
    excluded_counts: { capability_mismatch: 1 },
    seed: 4,
    strategy: null,
    weighed_by: null,
    prices: null,
    request: null,
    order: [],
    excluded,
    decisions: [],
    attempts: [],
    counterfactuals: null,
  })
})
