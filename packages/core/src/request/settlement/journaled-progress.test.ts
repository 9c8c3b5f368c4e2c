import type { Usage } from '@signalbox/dialects/protocol'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import type { Candidate } from '../../routing/plan.ts'
import { progressOf } from './journaled-progress.ts'

type Context = Parameters<typeof progressOf>[1]

const offer = { model: 'm', price: { input: 10_000_000, cached: 1_000_000, output: 0 }, contextWindow: 100_000 }
const candidate = { provider: { id: 'p' }, model: { id: 'm' }, offer, credential: { owner: 'platform' } } as unknown as Candidate
const seen = { candidate, characters: 0, tokens: 0, reasoningCharacters: 0 }
const stated: Usage = { input_tokens: 5_000, output_tokens: 1, cached_tokens: 4_000, cache_write_tokens: 0, reasoning_tokens: 0 }

/** A request whose prompt counts how often its text was read. */
function requestOf(text: string) {
  const state = { reads: 0 }
  const part = {
    type: 'text',
    get text() {
      state.reads += 1
      return text
    },
  }
  const context = {
    request: { prompt: { input: [{ type: 'message', role: 'user', content: [part] }] }, routing: {} },
    bounds: { sentCap: () => 100 },
    inputTokens: text.length / 4,
    allowance: { least: () => Number.POSITIVE_INFINITY },
    attempts: { count: 1, discarded: [] },
    startedAt: 0,
  } as unknown as Context
  return { state, context }
}

test('a prompt is counted as its provider reported it, as soon as it did, cached tokens included', () => {
  const { context } = requestOf('a word '.repeat(4_000))
  const before = progressOf(fakeClock(), context, seen)
  expect(before.bill.cost).toBeGreaterThan(50_000)
  const { usage, bill } = progressOf(fakeClock(), context, { ...seen, startUsage: stated })
  expect(usage).toMatchObject({ input_tokens: 5_000, cached_tokens: 4_000, estimated: true })
  expect(bill.cost).toBe(1_000 * 10 + 4_000)
})

test('the usage that a provider reports is clamped to what is possible', () => {
  const { context } = requestOf('a word')
  const { usage } = progressOf(fakeClock(), context, { ...seen, startUsage: { ...stated, input_tokens: 90_000 } })
  expect(usage.input_tokens).toBeLessThan(2_000)
})

test('a prompt is counted once, however often its journal is written', () => {
  const { context, state } = requestOf('a word')
  const first = progressOf(fakeClock(), context, seen)
  const { reads } = state
  expect(reads).toBeGreaterThan(0)
  for (let time = 0; time < 5; time++) expect(progressOf(fakeClock(), context, seen)).toEqual(first)
  expect(state.reads).toBe(reads)
})
