import type { Failure } from '../protocol/failure.ts'
import type { Outcome } from '../protocol/response.ts'
import { unreadable } from './failure.ts'

// Outcomes that several dialects share.

export const completed: Outcome = { status: 'completed' }
export const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export const invalidJson = failed(unreadable('The provider sent an event that is not valid JSON.'))
export const truncated = failed(unreadable('The stream of the provider ended before the response was complete.'))
/** A call without a name cannot be executed. */
export const namelessCall = failed(unreadable('The provider sent a tool call without a name.'))

/** The outcome of a response that ended for a reason that is not in the table of its dialect. */
export const endedFor = (reason: string): Outcome =>
  reason === '' ? { status: 'completed' } : { status: 'completed', unknown_reason: reason.slice(0, 100) }
