import { renameError } from '@signalbox/dialects/common'
import type { ErrorBody, Failure, JsonObject } from '@signalbox/dialects/protocol'
import { fieldNames } from './field-names.ts'

/** The `type` by which `@ai-sdk/gateway` selects an error class, by status. */
const typesByStatus: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'forbidden'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [413, 'invalid_request_error'],
  [415, 'invalid_request_error'],
  [429, 'rate_limit_exceeded'],
])

const errorTypeOf = ({ status, code }: Pick<ErrorBody, 'status' | 'code'>): string =>
  code === 'model_not_found' ? code : (typesByStatus.get(status) ?? 'internal_server_error')

/** The body of an error response. */
export function encodeError(error: ErrorBody) {
  const { message, param } = renameError(error, fieldNames)
  const { code, suggestion, provider, attempts, request_id } = error
  return {
    error: {
      message,
      type: errorTypeOf(error),
      param,
      code,
      suggestion,
      provider,
      attempts: attempts?.map(attempt => ({ ...attempt })),
    },
    generationId: request_id,
  }
}

/** A failure inside a stream. */
export const encodeFailure = ({ message, type = 'provider_error', code = 'provider_error', provider }: Failure): JsonObject => ({
  message,
  type,
  code,
  ...(provider !== undefined && { provider }),
})
