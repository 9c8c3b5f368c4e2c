import { expect, test } from 'vitest'
import { traceWithEveryField } from '../../test/trace-with-every-field.ts'
import { countsOf, evidenceOf, routingSummary } from './evidence.ts'
import type { CandidateRecord } from './records.ts'

test('the name of the requested strategy is listed next to the prices that decided', () => {
  expect(evidenceOf(traceWithEveryField, [], 'order')).toMatchObject({ strategy: 'order', weighed_by: 'prices' })
  expect(routingSummary(traceWithEveryField, [])).toMatchObject({ strategy: 'prices', weighed_by: 'prices' })
})

test('a summary has the order, the attempts and the counts of the full evidence, and nothing else', () => {
  const excluded = [{ model: 'm', provider: 'p', provider_model_id: 'x', code: 'no_tools', reason: 'it does not support tools' }]
  const summary = routingSummary(traceWithEveryField, excluded)
  const { seed, strategy, weighed_by, order, attempts } = evidenceOf(traceWithEveryField, excluded)
  expect(summary).toEqual({ seed, strategy, weighed_by, order, attempts, excluded_counts: { no_tools: 1 } })
  expect(attempts.map(({ outcome }) => outcome)).toEqual(traceWithEveryField.decisions.map(({ outcome }) => outcome?.ended))
})

test('exclusions are counted by code', () => {
  expect(countsOf([{ code: 'a' }, { code: 'b' }, { code: 'a' }])).toEqual({ a: 2, b: 1 })
})

test('evidence has every number of a decision, with six digits and milliseconds since the first', () => {
  const [first, second] = traceWithEveryField.decisions
  if (!first || !second) throw new Error('There are two decisions.')
  const later = { ...second, at: first.at + 40.5, score: 0.123456789 }
  const { decisions, attempts } = evidenceOf({ ...traceWithEveryField, decisions: [first, later] })
  expect(decisions[0]).toMatchObject({
    after_ms: 0,
    chosen: 'birch',
    reason: 'exploration',
    score: 0.0625,
    wait_ms: 11,
    timeout_ms: 12,
    hedge_after_ms: 13,
    candidates_omitted: 5,
    candidates: [
      {
        offer: 'alder',
        score: 0.125,
        provider_just_failed: true,
        exploration: null,
        cost_usd: 100,
        late_rate: 106,
        congestion_price_usd: 112,
      },
      {
        offer: 'birch',
        score: 0.375,
        provider_just_failed: false,
        exploration: { score: 0.0625, cost_usd: 300, congestion_price_usd: 312 },
      },
    ],
  })
  expect(decisions[1]).toMatchObject({ after_ms: 40.5, score: 0.123457, timeout_ms: null, hedge_after_ms: null })
  expect(attempts[0]).toMatchObject({
    outcome: 'ok',
    sent_after_ms: 14,
    first_content_ms: 15,
    total_ms: 16,
    output_tokens: 17,
    cached_tokens: 18,
  })
  expect(attempts[1]).toMatchObject({ outcome: 'error', sent_after_ms: 40.5, first_content_ms: null, output_tokens: null })
})

test('in the order, availability comes before a provider that has just failed, and that before the score', () => {
  const [decision] = traceWithEveryField.decisions
  if (!decision) throw new Error('There are two decisions.')
  const [its] = decision.candidates
  if (!its) throw new Error('A decision has candidates.')
  const { providerFailed: _, ...one } = its
  const candidate = (id: string, rest: object, heldMs = 0): CandidateRecord => ({
    ...one,
    ...rest,
    offer: { ...one.offer, id },
    estimate: { ...one.estimate, circuitOpenMs: 0, rateLimitedMs: heldMs },
  })
  const candidates = [
    candidate('held', { score: 1 }, 500),
    candidate('chosen', { score: 2 }),
    candidate('failed', { score: 7, providerFailed: true }),
    candidate('free', { score: 8 }),
  ]
  const { order } = routingSummary({ ...traceWithEveryField, decisions: [{ ...decision, candidates, chosen: 1 }] }, [])
  expect(order).toEqual(['chosen', 'free', 'failed', 'held'])
})
