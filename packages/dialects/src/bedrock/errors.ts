import { failed } from '../common/answer-failures.ts'
import { decodeFailedAnswer, type ErrorDetails, failureFrom, readErrorDetails, unreadable } from '../common/failure.ts'
import { objectIn, stringOf } from '../common/json.ts'
import type { FailedAnswer } from '../protocol/dialect.ts'
import type { Failure } from '../protocol/failure.ts'
import type { JsonObject } from '../protocol/wire.ts'

/** Decodes an error response. The error name is in a header, and the body has only the message. */
export function decodeFailure(answer: FailedAnswer): Failure {
  const name = answer.header('x-amzn-errortype') ?? ''
  const body = objectIn(answer.body)
  if (!body && name === '') return decodeFailedAnswer(answer)
  const { message, code, type, param } = errorDetails(name, body ?? {})
  return decodeFailedAnswer({ ...answer, body: JSON.stringify({ message, code, type, param }) })
}

/** `type`: the error name, if the body does not contain it. Some services write `Message`. */
export function errorDetails(type: string, body: JsonObject): ErrorDetails {
  const name = shortName(type || stringOf(body.__type))
  const details = readErrorDetails(body)
  return { ...details, message: details.message || stringOf(body.Message), ...(name !== '' && { code: name }) }
}

/** Extracts `ThrottlingException` from `com.amazon.x#ThrottlingException:http://internal.amazon.com/…`. */
const shortName = (type: string): string => (type.split(':', 1)[0] ?? '').split('#').at(-1)?.trim() ?? ''

/** The error of a body without a response. */
export function errorIn(body: JsonObject): Failure {
  const details = errorDetails('', body)
  return details.message === '' && details.code === undefined
    ? unreadable('The response of the provider has no message.')
    : failureFrom(details)
}

/** Outcome of a body or event that is not valid JSON. */
export const invalidJson = failed(unreadable('The provider sent data that is not valid JSON.'))
