import { errorBody, errorChain, GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import { own } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import type { ApiReply } from './api.ts'
import { errorHeaders, type Headers } from './headers.ts'
import { json } from './json-reply.ts'
import type { Site } from './route.ts'

interface ErrorContext {
  readonly gateway: Gateway
  readonly site: Pick<Site, 'outageLog'>
  readonly requestId: string
}

/** Converts a thrown value to a GatewayError. Unexpected errors and storage outages are logged, and clients get only the request id. */
export function asGatewayError(thrown: unknown, { gateway, site, requestId }: ErrorContext): GatewayError {
  const cause = isGatewayError(thrown) ? thrown.facts.cause : thrown
  if (isGatewayError(thrown) && (thrown.code !== 'internal_error' || cause === undefined)) {
    if (thrown.code === 'service_unavailable' && cause !== undefined && site.outageLog.isNew(thrown.message))
      gateway.logger.warn({ requestId, cause: traceOf(cause) }, thrown.message)
    return thrown
  }
  gateway.logger.error({ requestId, error: traceOf(cause) }, 'A request ended in an unexpected error.')
  return new GatewayError('internal_error', { message: `Internal error. Please report request ${requestId}.` })
}

const traceOf = (cause: unknown): string => errorChain(cause, cause instanceof Error ? cause.stack : undefined)

interface ErrorReplyContext {
  readonly site: Pick<Site, 'dialects'>
  readonly requestId: string
  readonly dialect: string
  readonly headers: Headers | undefined
  readonly close: boolean
}

/** The reply for an error, in the dialect of the route. */
export function errorReply(error: GatewayError, { site, requestId, dialect, headers, close }: ErrorReplyContext): ApiReply {
  const body = { ...errorBody(error), request_id: requestId }
  const speaks = own(site.dialects, dialect) ?? site.dialects.responses
  // A gateway without client dialects still replies in the documented shape.
  const { message, type, param, code } = body
  const reply = json(speaks?.encodeError(body) ?? { error: { message, type, param, code } }, {
    status: error.status,
    headers: { ...errorHeaders(error), ...headers },
  })
  return close ? { ...reply, close } : reply
}
