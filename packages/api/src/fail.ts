import type { Gateway } from '@signalbox/core'
import { errorBody, GatewayError, isGatewayError } from '@signalbox/core/errors'
import { json } from './answer.ts'
import type { ApiReply } from './exchange.ts'
import { errorHeaders, type Headers } from './headers.ts'

/** Anything thrown → a GatewayError. What is not one of ours is written to the log, and the client learns only the request id. */
export function asGatewayError(thrown: unknown, gateway: Gateway, requestId: string): GatewayError {
  if (isGatewayError(thrown)) return thrown
  const trace = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  gateway.logger.error({ requestId, error: trace }, 'A request ended in an unexpected error.')
  return new GatewayError('internal_error', { message: `Something went wrong on our side. Please report request ${requestId}.` })
}

interface Told {
  readonly gateway: Gateway
  readonly requestId: string
  readonly dialect: string
  readonly headers: Headers | undefined
  readonly close: boolean
}

/** GatewayError → reply, in the shape that errors have in the dialect of the route. */
export function failure(error: GatewayError, { gateway, requestId, dialect, headers, close }: Told): ApiReply {
  const body = { ...errorBody(error), request_id: requestId }
  const speaks = gateway.dialects[dialect] ?? gateway.dialects.responses
  // Without any client dialect (a gateway of one's own making) the documented shape still holds.
  const { message, type, param, code } = body
  const reply = json(speaks?.encodeError(body) ?? { error: { message, type, param, code } }, {
    status: error.status,
    headers: { ...errorHeaders(error), ...headers },
  })
  return close ? { ...reply, close } : reply
}
