import { errorObject } from '../common/error-object.ts'
import { failureFrom, readErrorDetails } from '../common/failure.ts'
import type { ErrorBody } from '../protocol/error-body.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { renameFieldsInError, renameParam } from './field-names.ts'
import { vendorField } from './wire.ts'

/** The error of a body or chunk: an object, or a text next to a code. Null and absent mean no error. */
export function errorOf(body: JsonObject): Failure | undefined {
  const { error } = body
  if (isObject(error)) return failureFrom(readErrorDetails(error))
  if (typeof error === 'string' && error !== '') return failureFrom(readErrorDetails(body))
  if (body.object === 'error' || body.type === 'error') return failureFrom(readErrorDetails(withoutErrorType(body)))
  const extras = vendorField(body, 'error')
  return extras === undefined ? undefined : failureFrom(readErrorDetails(extras))
}

/** In a flat error, `type: "error"` marks the error and is not its type. */
const withoutErrorType = ({ type, ...body }: JsonObject): JsonObject => (type === 'error' ? body : { ...body, type })

export const encodeError = (error: ErrorBody): JsonObject => errorObject({ ...error, ...renameFieldsInError(error) })

/** Encodes a failure of a response. Its code and type are normally set already; the defaults are for direct users of the encoder. */
export const encodeFailure = (
  { message, type = 'provider_error', code = 'provider_error', param, provider }: Failure,
  request: InferenceRequest,
): JsonObject => ({
  error: {
    message,
    type,
    code,
    param: param === undefined ? null : renameParam(param, request),
    ...(provider !== undefined && { provider }),
  },
})
