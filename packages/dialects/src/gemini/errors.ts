import { failed } from '../common/answer-failures.ts'
import { failureFrom, readErrorDetails, unreadable } from '../common/failure.ts'
import type { Failure } from '../protocol/failure.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'

export function errorIn(chunk: JsonObject): Failure | undefined {
  const { error } = chunk
  return isObject(error) || (typeof error === 'string' && error !== '') ? failureFrom(readErrorDetails(chunk)) : undefined
}

export const noCandidates = failed(unreadable('The response of the provider has no candidates.'))
