import type { Gateway } from '@signalbox/core'
import { errorBody, GatewayError, isGatewayError } from '@signalbox/core/errors'
import type { Clock } from '@signalbox/core/runtime'
import { json } from './answer.ts'
import type { ApiReply } from './exchange.ts'
import { errorHeaders, type Headers } from './headers.ts'
import type { Site } from './routes.ts'

interface Failing {
  readonly gateway: Gateway
  readonly site: Pick<Site, 'outages'>
  readonly requestId: string
}

/** Anything thrown → a GatewayError. A fault of ours is written to the log, and the client learns only the request id; of a store that is down the log has the cause. */
export function asGatewayError(thrown: unknown, { gateway, site, requestId }: Failing): GatewayError {
  const cause = isGatewayError(thrown) ? thrown.facts.cause : thrown
  if (isGatewayError(thrown) && (thrown.code !== 'internal_error' || cause === undefined)) {
    if (thrown.code === 'service_unavailable' && cause !== undefined && site.outages.isNew(thrown.message))
      gateway.logger.warn({ requestId, cause: traceOf(cause) }, thrown.message)
    return thrown
  }
  gateway.logger.error({ requestId, error: traceOf(cause) }, 'A request ended in an unexpected error.')
  return new GatewayError('internal_error', { message: `Something went wrong on our side. Please report request ${requestId}.` })
}

const traceOf = (cause: unknown): string => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))

/** Which outages were logged within the last second. */
export interface Outages {
  isNew(message: string): boolean
}

const quietMs = 1_000
/** Our own messages are few; more than these at once count as new. */
const maxMessages = 100

export function keepOutages(clock: Clock): Outages {
  const loggedAt = new Map<string, number>()
  return {
    isNew(message) {
      const now = clock.monotonic()
      const last = loggedAt.get(message)
      if (last !== undefined && now - last < quietMs) return false
      if (loggedAt.size >= maxMessages) loggedAt.clear()
      loggedAt.set(message, now)
      return true
    },
  }
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
