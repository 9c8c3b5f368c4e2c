import type { InferenceEvent, Sink } from '@signalbox/dialects/protocol'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { sourceOf } from '../runtime/source.ts'
import type { EventBatch } from './event-batches.ts'
import { batchesOf } from './event-batches.ts'

const deltas = (count: number): EventBatch =>
  Array.from(
    { length: count },
    (_, at): InferenceEvent => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text: String(at) } }),
  )

function open(batch: EventBatch) {
  const clock = fakeClock()
  const source = sourceOf(batchesOf(batch, clock))
  const parts: EventBatch[] = []
  const state = { parts, isEnded: false }
  const sink: Sink<EventBatch> = {
    next: part => void parts.push(part),
    end: () => {
      state.isEnded = true
    },
    fail: error => {
      throw error
    },
  }
  return { clock, source, state, sink, lengths: () => parts.map(({ length }) => length) }
}

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('a large batch is split into parts of 1,000 events, in order, with a turn of the event loop between them', async () => {
  const batch = deltas(3_500)
  const { clock, source, state, sink, lengths } = open(batch)
  source.read(sink)
  await settled()
  expect([lengths(), state.isEnded]).toEqual([[1_000], false])
  for (let turns = 0; turns < 3; turns += 1) await clock.advance(0)
  await settled()
  expect([lengths(), state.isEnded]).toEqual([[1_000, 1_000, 1_000, 500], true])
  expect(state.parts.flat()).toEqual(batch)
})

test('a response of ordinary size waits for no turn of the event loop', async () => {
  const batch = deltas(1_000)
  const { clock, source, state, sink } = open(batch)
  source.read(sink)
  await settled()
  expect(state).toEqual({ parts: [batch], isEnded: true })
  expect([state.parts[0] === batch, clock.pending()]).toEqual([true, 0])
})

test('a response without events ends at once', async () => {
  const { source, state, sink } = open([])
  source.read(sink)
  await settled()
  expect(state).toEqual({ parts: [], isEnded: true })
})

test('a paused reader receives nothing, not even the end, until it resumes', async () => {
  const { clock, source, state, sink, lengths } = open(deltas(2_000))
  source.pause()
  source.read(sink)
  await settled()
  expect(lengths()).toEqual([])
  source.resume()
  await settled()
  source.pause()
  await clock.advance(0)
  expect(lengths()).toEqual([1_000])
  source.resume()
  source.resume()
  await settled()
  expect([lengths(), state.isEnded]).toEqual([[1_000, 1_000], true])
})

test('a response that is paused at its last part ends once it is resumed', async () => {
  const { clock, source, state, sink } = open(deltas(5))
  source.read({ ...sink, next: () => source.pause() })
  await clock.advance(0)
  expect(state.isEnded).toBe(false)
  source.resume()
  await settled()
  expect(state.isEnded).toBe(true)
})

test('a response that is abandoned in the middle yields nothing more, and leaves no timer', async () => {
  const { clock, source, state, sink, lengths } = open(deltas(2_005))
  source.read(sink)
  await settled()
  source.cancel()
  await clock.advance(0)
  expect([lengths(), state.isEnded, clock.pending()]).toEqual([[1_000], false, 0])
})
