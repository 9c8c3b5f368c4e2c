import type { Failure } from '../../protocol/failure.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails, unreadable } from '../failure.ts'

// Errors of a provider: as an HTTP status, in a body, in a stream, or found while decoding.

export { decodeFailedAnswer as decodeFailure } from '../failure.ts'

/** The error of a body: in `error`, or flat beside `type: "error"`. */
export function errorIn(body: JsonObject): Failure | undefined {
  const { type, error, ...flat } = body
  if (error !== undefined && error !== null)
    return failureOf(readErrorDetails(isObject(error) || typeof error === 'string' ? { error } : flat))
  return type === 'error' ? failureOf(readErrorDetails(flat)) : undefined
}

export const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export const invalidJson = failed(unreadable('The provider sent an event that is not valid JSON.'))
export const truncated = failed(unreadable('The provider’s stream ended before the answer was finished.'))
export const secondMessage = failed(unreadable('The provider began a second answer within the first.'))
export const namelessCall = failed(unreadable('The provider sent a tool call without a name.'))
export const noContent = failed(unreadable('The provider’s answer has no content.'))
export const nestedTooDeep = failed(unreadable('The provider’s answer is nested too deep.'))
