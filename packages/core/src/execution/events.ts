import { answerLimits } from '../protocol/answer-limits.ts'
import type { EventDecoder } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceResponse } from '../protocol/response.ts'
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
  const readOnce = async (): Promise<Batch> => {
    if (line.why !== undefined) {
      source.return?.().catch(() => {})
      return ended()
    }
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
  /** The items within the bound stand, and what is open is closed; more of them would only fill the memory. */
  const cutOff = (events: Batch): Batch => {
    line.hangUp()
    const kept = [...events, ...ended()].filter(event => event.type !== 'finished' && !isBeyond(event))
    return [...kept, tooManyItems]
  }
  return {
    async next() {
      while (!over) {
        const read = await readOnce()
        if (read.length === 0) continue
        const events = read.some(isBeyond) ? cutOff(read) : read
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

const isTooMany = (items: number): boolean => items > answerLimits.items

/** Of an item that is one too many. Any event of a batch may be, since the last one may be of an item that began early, or of none. */
const isBeyond = (event: InferenceEvent): boolean => 'index' in event && event.index !== undefined && isTooMany(event.index + 1)

const tooMany: Failure = { kind: 'unreadable', message: `The answer has more than ${answerLimits.items} items.` }
const tooManyItems: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: tooMany } }

/** A whole answer as far as it can be told. */
export const bounded = (response: InferenceResponse): InferenceResponse =>
  isTooMany(response.output.length) ? { ...response, output: [], outcome: { status: 'failed', error: tooMany } } : response

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
