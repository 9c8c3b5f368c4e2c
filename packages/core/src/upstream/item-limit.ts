import { answerLimits } from '../protocol/answer-limits.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import type { EventBatch } from './event-batches.ts'

const isTooMany = (items: number): boolean => items > answerLimits.items

/** Whether an event belongs to an item beyond the limit. Checked for every event: items may arrive out of order. */
export const isBeyondItemLimit = (event: InferenceEvent): boolean =>
  'index' in event && event.index !== undefined && isTooMany(event.index + 1)

const itemLimitFailure: Failure = { kind: 'unreadable', message: `The response has more than ${answerLimits.items} items.` }

const itemLimitEnd: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: itemLimitFailure } }

/** The events of the items within the limit, then a failed end, so that further items do not fill the memory. */
export const cutAtItemLimit = (events: EventBatch): EventBatch => [
  ...events.filter(event => event.type !== 'finished' && !isBeyondItemLimit(event)),
  itemLimitEnd,
]

/** The response, or a failed one if it has too many items. */
export const withinItemLimit = (response: InferenceResponse): InferenceResponse =>
  isTooMany(response.output.length) ? { ...response, output: [], outcome: { status: 'failed', error: itemLimitFailure } } : response
