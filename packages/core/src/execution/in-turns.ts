import type { Clock } from '../runtime/ports.ts'
import type { Batch, Batches } from './commit.ts'

/** Events that are handed on in one turn of the event loop. To seal one and write it for a client takes 50 µs. */
const eventsPerTurn = 1_000

/**
 * The events of an answer that is here to its end, no more than `eventsPerTurn` at a time. A large answer is worked on and
 * written in parts, and other requests are served between them.
 */
export function inTurns(events: Batches, clock: Pick<Clock, 'setTimeout'>): Batches {
  let batch: Batch = []
  let at = 0
  let inThisTurn = 0
  const turn = (): Promise<void> => new Promise(resolve => void clock.setTimeout(resolve, 0))
  const take = (): Batch => {
    const part = at === 0 && batch.length <= eventsPerTurn ? batch : batch.slice(at, at + eventsPerTurn)
    at += part.length
    inThisTurn += part.length
    return part
  }
  return {
    async next() {
      if (at === batch.length) {
        const step = await events.next()
        if (step.done) return step
        batch = step.value
        at = 0
      }
      if (inThisTurn > 0 && inThisTurn + Math.min(batch.length - at, eventsPerTurn) > eventsPerTurn) {
        await turn()
        inThisTurn = 0
      }
      return { done: false, value: take() }
    },
    async return() {
      batch = []
      at = 0
      return (await events.return?.()) ?? { done: true, value: undefined }
    },
  }
}
