import { failed } from '../common/answer-failures.ts'
import { failureFrom, readErrorDetails, unreadable } from '../common/failure.ts'
import { codes } from '../errors/codes.ts'
import type { ErrorBody } from '../protocol/error-body.ts'
import type { Failure, FailureKind } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { renameError, renameParam } from './field-names.ts'

/** The error of a body: in `error`, or flat next to `type: "error"`. */
export function errorIn(body: JsonObject): Failure | undefined {
  const { type, error, ...flat } = body
  if (error !== undefined && error !== null)
    return failureFrom(readErrorDetails(isObject(error) || typeof error === 'string' ? { error } : flat))
  return type === 'error' ? failureFrom(readErrorDetails(flat)) : undefined
}

export const secondMessage = failed(unreadable('The provider began a second response within the first.'))
export const noContent = failed(unreadable('The response of the provider has no content.'))
export const nestedTooDeep = failed(unreadable('The response of the provider is nested too deeply.'))

const errorTypes: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])

const errorType = (status: number): string => errorTypes.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')

/** Encodes an error for clients, with an Anthropic error type and the gateway's own code. */
export const encodeError = ({
  status,
  message,
  code,
  param,
  suggestion,
  doc_url,
  provider,
  attempts,
  request_id,
}: ErrorBody): JsonObject => ({
  type: 'error',
  error: {
    type: errorType(status),
    code,
    ...renameError({ message, param }),
    ...(suggestion !== undefined && { suggestion }),
    ...(doc_url !== undefined && { doc_url }),
    ...(provider !== undefined && { provider }),
    ...(attempts && { attempts: attempts.map(attempt => ({ ...attempt })) }),
  },
  ...(request_id !== undefined && { request_id }),
})

/** HTTP status by failure kind, for failures without a gateway error code. */
const statusByKind: Readonly<Record<FailureKind, number>> = {
  client_left: 499,
  shut_down: 503,
  no_memory: 503,
  out_of_credit: 402,
  out_of_budget: 402,
  stale_state: 400,
  rejected: 400,
  policy: 400,
  too_long: 400,
  unsupported: 400,
  rate_limited: 429,
  out_of_quota: 502,
  timed_out: 504,
  deadline: 504,
  overloaded: 503,
  server_error: 502,
  unreadable: 502,
  unreachable: 502,
  forbidden: 502,
  bad_credential: 502,
  unknown_model: 502,
  unknown_address: 502,
}

const ownCodes: Readonly<Record<string, { readonly status: number } | undefined>> = codes

/** Encodes a failure inside a stream or response. The provider's status is ignored: if it rejects the gateway's credential, the client is not at fault. */
export function encodeFailure(
  { kind, message, code, param, provider }: Failure,
  request: InferenceRequest,
  request_id: string,
): JsonObject & { readonly type: 'error' } {
  const status = code !== undefined && Object.hasOwn(ownCodes, code) ? ownCodes[code]?.status : undefined
  return {
    type: 'error',
    error: {
      type: errorType(status ?? statusByKind[kind]),
      message,
      code: code ?? 'provider_error',
      ...(param !== undefined && { param: renameParam(param, request) }),
      ...(provider !== undefined && { provider }),
    },
    request_id,
  }
}
