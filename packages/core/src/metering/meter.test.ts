import { expect, test } from 'vitest'
import type { InferenceEvent } from '../protocol/event.ts'
import { webClock } from '../runtime/web.ts'
import { meter, type Seen, type Stage } from './meter.ts'

const delta = (text: string): InferenceEvent => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text } })
const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, estimated: true }
const finished: InferenceEvent = { type: 'finished', outcome: { status: 'completed' } }

const watched = (
  batches: readonly (readonly InferenceEvent[])[],
  { stuck = false, through }: { stuck?: boolean; through?: Stage } = {},
) => {
  const ends: Seen[] = []
  let closed = 0
  const queue = [...batches]
  const source = {
    next: (): Promise<IteratorResult<readonly InferenceEvent[], undefined>> => {
      const value = queue.shift()
      if (value) return Promise.resolve({ done: false, value })
      return stuck ? new Promise(() => {}) : Promise.resolve({ done: true, value: undefined })
    },
    return: async () => {
      closed += 1
      return { done: true as const, value: undefined }
    },
  }
  const metered = meter(source, { clock: webClock(), ...(through && { through }) }, async seen => {
    ends.push(seen)
    return usage
  })
  return { metered, ends, closed: () => closed }
}

test('the books are closed before the last batch is handed on', async () => {
  const { metered, ends } = watched([[delta('ab')], [delta('c'), finished]])
  await metered.events.next()
  expect(ends).toHaveLength(0)
  expect((await metered.events.next()).value?.at(-1)).toMatchObject({ type: 'finished', usage })
  expect(ends).toMatchObject([{ characters: 3, outcome: { status: 'completed' } }])
  await metered.events.next()
  await metered.events.return?.()
  expect(ends).toHaveLength(1)
})

test('a stream that is left before its first read is closed and counted once', async () => {
  const { metered, ends, closed } = watched([[delta('ab')]])
  await metered.events.return?.()
  await metered.leave()
  expect(ends).toMatchObject([{ characters: 0 }])
  expect(closed()).toBe(1)
})

test('a stream can be left while a read waits for ever', async () => {
  const { metered, ends } = watched([[delta('ab')]], { stuck: true })
  await metered.events.next()
  void metered.events.next()
  await metered.leave()
  expect(ends).toMatchObject([{ characters: 2 }])
  expect(ends[0]?.outcome).toBeUndefined()
})

const throwing: readonly (readonly [string, Stage])[] = [
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
]
test.each(throwing)('a stage that %s ends the stream, and the books are closed once', async (_, through) => {
  const { metered, ends, closed } = watched([[delta('ab')], [finished]], { through })
  await expect(metered.events.next()).rejects.toThrow('broken')
  expect([ends.length, closed()]).toEqual([1, 1])
  await metered.leave()
  expect(ends).toHaveLength(1)
})
