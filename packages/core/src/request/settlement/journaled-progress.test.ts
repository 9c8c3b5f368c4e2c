import type { Usage } from '@signalbox/dialects/protocol'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createMeter, type Meter } from '../../metering/meter.ts'
import { makeCandidate } from '../../routing/plan.ts'
import type { JournalProgress } from '../admission/journal.ts'
import type { RequestRun } from '../run.ts'
import { progressOf } from './journaled-progress.ts'

const offer = { provider: 'p', api: 'chat', model: 'm', price: { input: 10_000_000, cached: 1_000_000, output: 0 }, contextWindow: 100_000 }
const credential = { id: 'c', owner: 'platform', secret: '' } as const
const provider = { id: 'p', dialects: [], endpoint: () => '', authorize: () => {} }
const candidate = makeCandidate({ provider, model: { id: 'm', offers: [] }, offer, credential })
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
  const clock = fakeClock()
  const run = {
    engine: { clock },
    request: { prompt: { input: [{ type: 'message', role: 'user', content: [part] }] }, routing: {} },
    bounds: { sentCap: () => 100 },
    inputTokens: text.length / 4,
    allowance: { least: () => Number.POSITIVE_INFINITY },
    attempts: 1,
    discarded: [],
    lastSent: candidate,
    startedAt: 0,
    meter: createMeter(clock),
  } as unknown as RequestRun & { readonly meter: Meter }
  return { state, run, progress: () => progressOf(run) as JournalProgress }
}

test('a prompt is counted as its provider reported it, as soon as it did, cached tokens included', () => {
  const { run, progress } = requestOf('a word '.repeat(4_000))
  expect(progress().bill.cost).toBeGreaterThan(50_000)
  run.meter.startUsage = stated
  const { usage, bill } = progress()
  expect(usage).toMatchObject({ input_tokens: 5_000, cached_tokens: 4_000, estimated: true })
  expect(bill.cost).toBe(1_000 * 10 + 4_000)
})

test('the usage that a provider reports is clamped to what is possible', () => {
  const { run, progress } = requestOf('a word')
  run.meter.startUsage = { ...stated, input_tokens: 90_000 }
  expect(progress().usage.input_tokens).toBeLessThan(2_000)
})

test('a prompt is counted once, however often its journal is written', () => {
  const { progress, state } = requestOf('a word')
  const first = progress()
  const { reads } = state
  expect(reads).toBeGreaterThan(0)
  for (let time = 0; time < 5; time++) expect(progress()).toEqual(first)
  expect(state.reads).toBe(reads)
})

test('a request that has called no provider has made no progress', () => {
  const { run } = requestOf('a word')
  expect(progressOf({ ...run, lastSent: undefined } as unknown as RequestRun)).toBeUndefined()
})
