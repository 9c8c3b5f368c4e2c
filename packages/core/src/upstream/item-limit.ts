import { answerLimits } from '../protocol/answer-limits.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceResponse } from '../protocol/response.ts'

const isTooMany = (items: number): boolean => items > answerLimits.items

/** Of an item that is one too many. Any event of a batch may be, since the last one may be of an item that began early, or of none. */
export const isBeyondItemLimit = (event: InferenceEvent): boolean =>
  'index' in event && event.index !== undefined && isTooMany(event.index + 1)

const tooMany: Failure = { kind: 'unreadable', message: `The answer has more than ${answerLimits.items} items.` }

/** How a stream of too many items ends. */
export const tooManyItems: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: tooMany } }

/** A whole answer, or a failed one where it holds too many items. */
export const withinItemLimit = (response: InferenceResponse): InferenceResponse =>
  isTooMany(response.output.length) ? { ...response, output: [], outcome: { status: 'failed', error: tooMany } } : response
