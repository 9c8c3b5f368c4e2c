import { failureFrom, readErrorDetails } from '../common/failure.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'

/** The failure in a response object, whose `error` may be null. */
export const failureIn = ({ error }: JsonObject): Failure => failureFrom(readErrorDetails(error ?? ''))

/** The failure of an `error` event: nested as providers send it, flat as documented, or a text. */
export function failureOfEvent({ error, type, ...flat }: JsonObject): Failure {
  const details: Json = error ?? flat
  return failureFrom(readErrorDetails(details))
}

/** Encodes a failure of a response. Its code and type are normally set already; the defaults are for direct users of the encoder. */
export const encodeFailure = ({ message, code = 'provider_error', type = 'provider_error', provider }: Failure): JsonObject => ({
  code,
  message,
  type,
  ...(provider !== undefined && { provider }),
})
