import type { Failure } from '../protocol/failure.ts'
import type { Outcome } from '../protocol/response.ts'
import { unreadable } from './failure.ts'

// Outcomes of responses that cannot be decoded.

export const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export const invalidJson = failed(unreadable('The provider sent an event that is not valid JSON.'))
export const truncated = failed(unreadable('The stream of the provider ended before the response was complete.'))
/** A call without a name cannot be executed. */
export const namelessCall = failed(unreadable('The provider sent a tool call without a name.'))
