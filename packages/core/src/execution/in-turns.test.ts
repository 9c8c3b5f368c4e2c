import { expect, test } from 'vitest'
import type { InferenceEvent } from '../protocol/event.ts'
import { inTurns } from './in-turns.ts'

const deltas = (count: number, from = 0): readonly InferenceEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text: String(from + at) } }))

/** A clock whose timers fire at once, and are counted. */
function countedTurns() {
  const counted = { turns: 0 }
  const setTimeout = (run: () => void): void => {
    counted.turns += 1
    queueMicrotask(run)
  }
  return { counted, clock: { setTimeout } }
}

async function* given(batches: readonly (readonly InferenceEvent[])[]): AsyncGenerator<readonly InferenceEvent[], undefined> {
  yield* batches
  return undefined
}

async function read(batches: readonly (readonly InferenceEvent[])[]) {
  const { counted, clock } = countedTurns()
  const events = inTurns(given(batches), clock)
  const parts: (readonly InferenceEvent[])[] = []
  for (let step = await events.next(); !step.done; step = await events.next()) parts.push(step.value)
  return { parts, turns: counted.turns }
}

test('a large batch comes in parts of 1,000 events, in order, with a turn of the event loop between them', async () => {
  const batch = deltas(3_500)
  const { parts, turns } = await read([batch])
  expect(parts.map(part => part.length)).toEqual([1_000, 1_000, 1_000, 500])
  expect(parts.flat()).toEqual(batch)
  expect(turns).toBe(3)
})

test('many small batches stay as they are, and share a turn up to 1,000 events', async () => {
  const batches = Array.from({ length: 30 }, (_, at) => deltas(100, at))
  const { parts, turns } = await read(batches)
  expect(parts).toEqual(batches)
  expect(turns).toBe(2)
})

test('an answer of the usual size waits for no turn', async () => {
  const batch = deltas(500)
  const { parts, turns } = await read([batch])
  expect(parts).toEqual([batch])
  expect(parts[0]).toBe(batch)
  expect(turns).toBe(0)
})

test('what is left in the middle gives no more', async () => {
  const { clock } = countedTurns()
  const events = inTurns(given([deltas(2_000), deltas(5)]), clock)
  await events.next()
  await events.return?.()
  expect(await events.next()).toMatchObject({ done: true })
})
