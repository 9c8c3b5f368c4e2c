import type { InferenceEvent } from '../protocol/event.ts'
import type { Sink, Source } from '../protocol/source.ts'
import type { Clock } from '../runtime/ports.ts'

/** Events that are handed on in one turn of the event loop. To write one for a client takes up to 50 µs. */
export const eventsPerTurn = 1_000

type Batch = readonly InferenceEvent[]

/**
 * The events of an answer that is here to its end, no more than `eventsPerTurn` at a time. A large answer is worked on and
 * written in parts, and other requests are served between them.
 */
export function inTurns(events: Batch, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Source<Batch> {
  let sink: Sink<Batch> | undefined
  let isPaused = false
  let timer: unknown
  let at = 0
  const push = (): void => {
    timer = undefined
    if (sink === undefined || isPaused) return
    const part = events.length <= eventsPerTurn ? events : events.slice(at, at + eventsPerTurn)
    at += part.length
    if (part.length > 0) sink.next(part)
    if (at < events.length) later()
    else end()
  }
  const later = (): void => {
    if (!isPaused && sink !== undefined) timer ??= clock.setTimeout(push, 0)
  }
  const end = (): void => {
    if (isPaused) return
    const reader = sink
    sink = undefined
    reader?.end()
  }
  return {
    read(reader) {
      sink = reader
      push()
    },
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      if (at === 0) push()
      else if (at < events.length) later()
      else end()
    },
    cancel: () => {
      sink = undefined
      clock.clearTimeout(timer)
    },
  }
}
