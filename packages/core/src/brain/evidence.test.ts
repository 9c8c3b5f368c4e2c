import { expect, test } from 'vitest'
import { traceWithEveryField } from '../../test/brain/trace-with-every-field.ts'
import { countsOf, evidenceOf, evidenceOfSummary } from './evidence.ts'
import type { FlightSummary } from './flight-summary.ts'

const summary: FlightSummary = {
  version: 1,
  seed: 5,
  strategy: 2,
  offers: [
    ['alder', 'p', 'm'],
    ['birch', null, null],
  ],
  order: [1, 0],
  attempts: [
    [1, 0, 3, 0, -1, 2_500],
    [0, 2, 1, 2_510, 0, 900],
    [0, 3, 0, 0, 0, 0],
  ],
}

test('evidence of a summary has the order and the attempts; what was not kept is null or empty', () => {
  expect(evidenceOfSummary(summary, { no_tools: 2 })).toEqual({
    detail: 'summary',
    seed: 5,
    strategy: 'latency',
    weighed_by: 'latency',
    worth: null,
    request: null,
    order: ['birch', 'alder'],
    excluded: [],
    excluded_counts: { no_tools: 2 },
    decisions: [],
    attempts: [
      {
        offer: 'birch',
        provider: null,
        model: null,
        why: 'best',
        outcome: 'timeout',
        sent_after_ms: 0,
        first_content_ms: null,
        total_ms: 2_500,
        output_tokens: null,
        cached_tokens: null,
      },
      {
        offer: 'alder',
        provider: 'p',
        model: 'm',
        why: 'fallback',
        outcome: 'ok',
        sent_after_ms: 2_510,
        first_content_ms: 0,
        total_ms: 900,
        output_tokens: null,
        cached_tokens: null,
      },
      {
        offer: 'alder',
        provider: 'p',
        model: 'm',
        why: 'last_resort',
        outcome: null,
        sent_after_ms: null,
        first_content_ms: null,
        total_ms: null,
        output_tokens: null,
        cached_tokens: null,
      },
    ],
    counterfactuals: null,
  })
})

test('the strategy that was asked for by name stands beside the weights that decided', () => {
  expect(evidenceOfSummary(summary, {}, 'order')).toMatchObject({ strategy: 'order', weighed_by: 'latency' })
  expect(evidenceOfSummary({ ...summary, strategy: 55 }, {})).toMatchObject({ strategy: null, weighed_by: null })
  expect(evidenceOf(traceWithEveryField, [], 'order')).toMatchObject({ strategy: 'order', weighed_by: 'worth' })
})

test('a summary of another version is refused by its number', () => {
  expect(() => evidenceOfSummary({ ...summary, version: 2 as 1 }, {})).toThrow('This summary has version 2; version 1 can be read here.')
})

test('exclusions are counted by code', () => {
  expect(countsOf([{ code: 'a' }, { code: 'b' }, { code: 'a' }])).toEqual({ a: 2, b: 1 })
})

test('evidence has every number of a decision, in milliseconds since the first and with six digits', () => {
  const [first, second] = traceWithEveryField.decisions
  if (!first || !second) throw new Error('There are two decisions.')
  const later = { ...second, at: first.at + 40.5, loss: 0.123456789 }
  const { decisions, attempts } = evidenceOf({ ...traceWithEveryField, decisions: [first, later] })
  expect(decisions[0]).toMatchObject({
    after_ms: 0,
    chosen: 'birch',
    why: 'probe',
    loss: 0.0625,
    wait_ms: 11,
    timeout_ms: 12,
    hedge_after_ms: 13,
    candidates_omitted: 5,
    candidates: [
      { offer: 'alder', loss: 0.125, provider_just_failed: true, hope: null, cost_usd: 100, lateness_rate: 106, scarcity_usd: 112 },
      { offer: 'birch', loss: 0.375, provider_just_failed: false, hope: { loss: 0.0625, cost_usd: 300, scarcity_usd: 312 } },
    ],
  })
  expect(decisions[1]).toMatchObject({ after_ms: 40.5, loss: 0.123457, timeout_ms: null, hedge_after_ms: null })
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
