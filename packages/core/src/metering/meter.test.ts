import type { Delta, InferenceEvent, InferenceResponse, Item } from '@signalbox/dialects/protocol'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createMeter, meterEvent, meteredAnswer, meterLeft, meterResponse } from './meter.ts'

const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
const finished: InferenceEvent = { type: 'finished', outcome: { status: 'completed' }, usage }
const delta = (kind: 'text' | 'refusal' | 'arguments' | 'summary' | 'reasoning', text: string): InferenceEvent => {
  const of: Delta = { kind, part: 0, text }
  return { type: 'delta', index: 0, delta: of }
}
const annotation: InferenceEvent = { type: 'delta', index: 0, delta: { kind: 'annotation', part: 0, annotation: {} } }
const native: Item = { type: 'native', dialect: 'responses', body: { type: 'image_generation_call' } }

test('delivered characters are counted, and those of raw reasoning also on their own', () => {
  const meter = createMeter(fakeClock())
  for (const event of [delta('text', 'ab'), delta('refusal', 'c'), delta('arguments', 'de'), delta('summary', 'f')])
    meterEvent(meter, event)
  for (const event of [annotation, delta('reasoning', 'ghij')]) meterEvent(meter, event)
  expect(meteredAnswer(meter)).toMatchObject({ characters: 10, reasoningCharacters: 4 })
})

test('the time of the first content is that of the first text or first whole item, not of its start event', async () => {
  const clock = fakeClock()
  const meter = createMeter(clock)
  meterEvent(meter, { type: 'started', id: 'r', model: 'm', created_at: 1 })
  meterEvent(meter, { type: 'item_started', index: 0, item: native })
  expect(meteredAnswer(meter).firstContentAt).toBeUndefined()
  await clock.advance(5)
  meterEvent(meter, { type: 'item_finished', index: 0, item: native })
  await clock.advance(5)
  meterEvent(meter, delta('text', 'a'))
  expect(meteredAnswer(meter)).toMatchObject({ firstContentAt: 5, hasNative: true })
})

test('the end is unknown before it arrives', () => {
  const meter = createMeter(fakeClock())
  meterEvent(meter, delta('text', 'a'))
  expect(Object.keys(meteredAnswer(meter)).sort()).toEqual(['characters', 'firstContentAt', 'reasoningCharacters', 'tokens'])
  meterEvent(meter, finished)
  expect(meteredAnswer(meter)).toMatchObject({ outcome: { status: 'completed' }, usage })
})

test('content after the client disconnected does not count as delivered, and the end is still known', async () => {
  const clock = fakeClock()
  const meter = createMeter(clock)
  meterEvent(meter, delta('text', 'ab'))
  await clock.advance(7)
  meterLeft(meter)
  meterEvent(meter, delta('text', 'cdef'))
  meterEvent(meter, finished)
  expect(meteredAnswer(meter)).toMatchObject({ characters: 2, leftAt: 7, outcome: { status: 'completed' }, usage })
})

test('reasoning time is that before the first text and that of later reasoning, until text arrives or the client disconnects', async () => {
  const clock = fakeClock()
  const meter = createMeter(clock)
  const pass = async (event: InferenceEvent, milliseconds: number): Promise<void> => {
    meterEvent(meter, event)
    await clock.advance(milliseconds)
  }
  await clock.advance(100)
  await pass(delta('summary', 'a'), 20)
  await pass(delta('text', 'b'), 3_000)
  await pass({ type: 'item_started', index: 1, item: native }, 400)
  await pass(delta('text', 'c'), 50_000)
  await pass(delta('reasoning', 'd'), 600_000)
  meterLeft(meter)
  await pass(delta('text', 'e'), 7_000_000)
  expect(meteredAnswer(meter)).toMatchObject({ firstTextAt: 120, laterReasoningMs: 600_400, hasReasoning: true })
})

test('a whole response has the same counts as its stream', () => {
  const output: readonly Item[] = [
    { type: 'reasoning', summary: ['ab'], content: ['cde', 'f'] },
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'ghi' },
        { type: 'refusal', refusal: 'j' },
      ],
    },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    native,
  ]
  const response: InferenceResponse = { id: 'r', model: 'm', created_at: 1, output, outcome: { status: 'completed' }, usage }
  const meter = createMeter(fakeClock())
  meterResponse(meter, response)
  expect(meteredAnswer(meter)).toEqual({
    ...{ characters: 12, reasoningCharacters: 4, hasNative: true, firstContentAt: 0 },
    ...{ outcome: { status: 'completed' }, usage },
  })
  const empty = createMeter(fakeClock())
  meterResponse(empty, { ...response, output: [] })
  expect(meteredAnswer(empty)).toMatchObject({ characters: 0, outcome: { status: 'completed' } })
  expect(meteredAnswer(empty).firstContentAt).toBeUndefined()
})

test('a stream that is cut at its cap has the reasoning time of one that was left, and a completed one has none', async () => {
  const answerAfter = async (end: InferenceEvent) => {
    const clock = fakeClock()
    const meter = createMeter(clock, { pausedMs: 500, pausedAt: undefined })
    await clock.advance(20_500)
    meterEvent(meter, delta('text', 'a'))
    await clock.advance(100)
    meterEvent(meter, end)
    return meteredAnswer(meter)
  }
  const outcome = { status: 'incomplete', reason: 'max_output_tokens' } as const
  expect(await answerAfter({ type: 'finished', outcome })).toMatchObject({ cutAt: 20_600, firstTextAt: 20_000, pausedMs: 500 })
  expect(await answerAfter({ type: 'finished', outcome, usage })).not.toHaveProperty('cutAt')
  expect(await answerAfter({ type: 'finished', outcome: { status: 'completed' } })).not.toHaveProperty('cutAt')
})
