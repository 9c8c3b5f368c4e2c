import type { Failure } from '../../protocol/failure.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails, unreadable } from '../failure.ts'

export { decodeFailedAnswer as decodeFailure } from '../failure.ts'

export function errorIn(chunk: JsonObject): Failure | undefined {
  const { error } = chunk
  return isObject(error) || (typeof error === 'string' && error !== '') ? failureOf(readErrorDetails(chunk)) : undefined
}

export const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export const invalidJson = failed(unreadable('The provider sent an event that is not valid JSON.'))
export const truncated = failed(unreadable('The provider’s stream ended before the answer was finished.'))
export const namelessCall = failed(unreadable('The provider sent a tool call without a name.'))
export const noCandidates = failed(unreadable('The provider’s answer has no candidates.'))
