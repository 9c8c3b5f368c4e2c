import type { Failure, InferenceEvent, InferenceResponse, Sink, Source } from '@signalbox/dialects/protocol'
import { answerLimits } from '@signalbox/dialects/protocol'
import type { Clock } from '../runtime/ports.ts'

/** Maximum number of events delivered in one turn of the event loop. Encoding one for a client takes up to 50 µs. */
export const maxBatchEvents = 1_000

/** Events that arrived together, in order. */
export type EventBatch = readonly InferenceEvent[]

/** The events from `at` on that are delivered in one turn of the event loop. Returns the batch itself if it is small. */
export const firstBatch = (events: EventBatch, at = 0): EventBatch =>
  events.length <= maxBatchEvents ? events : events.slice(at, at + maxBatchEvents)

/** A source of the events of a complete response: at most `maxBatchEvents` per turn, so that other requests are served in between. */
export function sourceOfBatches(events: EventBatch, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Source<EventBatch> {
  let sink: Sink<EventBatch> | undefined
  let isPaused = false
  let timer: unknown
  let at = 0
  const push = (): void => {
    timer = undefined
    if (sink === undefined || isPaused) return
    const part = firstBatch(events, at)
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

/** Whether an event belongs to an item beyond the limit. Checked for every event: items may arrive out of order. */
export const isBeyondItemLimit = (event: InferenceEvent): boolean =>
  'index' in event && event.index !== undefined && event.index >= answerLimits.items

const itemLimitFailure: Failure = { kind: 'unreadable', message: `The response has more than ${answerLimits.items} items.` }

const itemLimitEnd: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: itemLimitFailure } }

/** The events of the items within the limit, then a failed end, so that further items do not fill the memory. */
export const cutAtItemLimit = (events: EventBatch): EventBatch => [
  ...events.filter(event => event.type !== 'finished' && !isBeyondItemLimit(event)),
  itemLimitEnd,
]

/** The response, or a failed one if it has too many items. */
export const withinItemLimit = (response: InferenceResponse): InferenceResponse =>
  response.output.length > answerLimits.items
    ? { ...response, output: [], outcome: { status: 'failed', error: itemLimitFailure } }
    : response
