import type { Failure, InferenceEvent, InferenceResponse } from '@signalbox/dialects/protocol'
import { answerLimits } from '@signalbox/dialects/protocol'
import type { Clock } from '../runtime/ports.ts'

/** Maximum number of events delivered in one turn of the event loop. Encoding one for a client takes up to 50 µs. */
export const maxBatchEvents = 1_000

/** Events that arrived together, in order. */
export type EventBatch = readonly InferenceEvent[]

/** The events of a complete response: at most `maxBatchEvents` per turn of the event loop, so that other requests are served in between. */
export async function* batchesOf(events: EventBatch, clock: Pick<Clock, 'setTimeout'>): AsyncGenerator<EventBatch, undefined> {
  if (events.length > 0) yield events.length <= maxBatchEvents ? events : events.slice(0, maxBatchEvents)
  for (let index = maxBatchEvents; index < events.length; index += maxBatchEvents) {
    await new Promise<void>(resolve => clock.setTimeout(resolve, 0))
    yield events.slice(index, index + maxBatchEvents)
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
