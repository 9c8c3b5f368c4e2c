import type { FailedAnswer } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { failed } from '../answer-failures.ts'
import { decodeFailedAnswer, type ErrorDetails, failureFrom, readErrorDetails, unreadable } from '../failure.ts'
import { objectIn, stringOf } from '../json.ts'

/** A header holds the name of the error, the body only its message. */
export function decodeFailure(answer: FailedAnswer): Failure {
  const name = answer.header('x-amzn-errortype') ?? ''
  const body = objectIn(answer.body)
  if (!body && name === '') return decodeFailedAnswer(answer)
  const { message, code, type, param } = errorDetails(name, body ?? {})
  return decodeFailedAnswer({ ...answer, body: JSON.stringify({ message, code, type, param }) })
}

/** `type`: the name of the error if the body does not hold it. Some services write `Message`. */
export function errorDetails(type: string, body: JsonObject): ErrorDetails {
  const name = shortName(type || stringOf(body.__type))
  const details = readErrorDetails(body)
  return { ...details, message: details.message || stringOf(body.Message), ...(name !== '' && { code: name }) }
}

/** `ThrottlingException` of `com.amazon.x#ThrottlingException:http://internal.amazon.com/…`. */
const shortName = (type: string): string => (type.split(':', 1)[0] ?? '').split('#').at(-1)?.trim() ?? ''

/** The error of a body that holds no answer. */
export function errorIn(body: JsonObject): Failure {
  const details = errorDetails('', body)
  return details.message === '' && details.code === undefined
    ? unreadable('The response of the provider has no message.')
    : failureFrom(details)
}

/** Of a body or an event. */
export const invalidJson = failed(unreadable('The provider sent data that is not valid JSON.'))
