import type { EventDecoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Batch, Batches } from './commit.ts'
import type { Line } from './line.ts'
import type { Frames } from './send.ts'

/** A whole answer as a stream that arrives at once. */
export function arrivedAtOnce(events: Batch): Batches {
  let told = false
  return {
    next: () => {
      if (told) return Promise.resolve({ done: true, value: undefined })
      told = true
      return Promise.resolve({ done: false, value: events })
    },
    return: () => Promise.resolve({ done: true, value: undefined }),
  }
}

/** Frames → events. However the frames stop (an end, a break, a hang-up), the last event is `finished`. */
export function decoded(
  { source, toFrames, last }: Frames,
  decoder: EventDecoder,
  { line, clock }: { readonly line: Line; readonly clock: Clock },
): Batches {
  let over = false
  const ended = (): Batch => {
    over = true
    return decoder.end()
  }
  const read = async (): Promise<Batch> => {
    try {
      const step = await source.next()
      if (!step.done) return decoder.read(toFrames(step.value))
      const rest = decoder.read(last())
      return isOver(rest) ? rest : [...rest, ...ended()]
    } catch {
      line.hangUp()
      return ended()
    }
  }
  return {
    async next() {
      while (!over) {
        const events = await read()
        if (events.length === 0) continue
        if (isOver(events) && !over) {
          over = true
          void drain(source, line, clock)
        }
        return { done: false, value: events }
      }
      return { done: true, value: undefined }
    },
    async return() {
      over = true
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

const isOver = (events: readonly InferenceEvent[]): boolean => events.at(-1)?.type === 'finished'

const drainMs = 1_000

/**
 * After its last word a provider closes the answer; only when that is read can the connection serve again. One that sends
 * garbage instead, or leaves the answer open, is hung up on.
 */
async function drain(source: AsyncIterator<unknown, undefined>, line: Line, clock: Clock): Promise<void> {
  const timer = clock.setTimeout(line.hangUp, drainMs)
  try {
    for (let reads = 0; reads < 8; reads += 1) if ((await source.next()).done) return
    line.hangUp()
    await source.return?.()
  } catch {
    // A reset after the last word harms nobody.
  } finally {
    clock.clearTimeout(timer)
  }
}
