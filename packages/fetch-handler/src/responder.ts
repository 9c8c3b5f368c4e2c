import { type ApiOptions, type ApiRequest, type ClientLimits, createApi, limitsOf, mountTable, type SignIn } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { OptionTableOf } from '@signalbox/core/errors'
import type { ClientPace } from './idle-timer.ts'
import { createExchange, type ExchangeOptions } from './request.ts'
import { createResponse } from './response.ts'
import type { WebSocketRuntime } from './web-sockets.ts'

/** Options of a gateway that is mounted as a fetch handler. */
export interface FetchOptions extends ApiOptions, ClientLimits {
  /** The sign-in of the app: its users call without an API key. Default: every request needs a key. */
  readonly authenticate?: SignIn<Request>
  /** The address of a request's sender, for the audit log, as the runtime reports it. Default: none is recorded. */
  readonly ip?: (request: Request) => string | undefined
  /** Opens WebSockets at `/v1/responses`: `bunWebSockets()`, `denoWebSockets()` or `workersWebSockets()`. Default: requests for one are 426. */
  readonly webSocket?: WebSocketRuntime
}

/** What the options of a fetch handler take. */
export const fetchTable: OptionTableOf<FetchOptions> = { ...mountTable, authenticate: 'function', ip: 'function', webSocket: 'any' }

/** The execution context of a runtime that may freeze after the reply: settlement that is still to be done goes to `waitUntil`. */
export interface FetchContext {
  waitUntil(work: Promise<unknown>): void
}

interface ResponderOptions extends Omit<ExchangeOptions, 'ip' | 'signIn'> {
  readonly context?: FetchContext | undefined
  /** What the server passes beside the request. */
  readonly server?: unknown
}

/** Connects the API, which takes plain values, to Request and Response. */
export function createResponder(
  gateway: Gateway,
  options?: FetchOptions,
): (request: Request, options?: ResponderOptions) => Promise<Response> {
  const api = createApi(gateway, options)
  const pace: ClientPace = { clock: gateway.clock, ...limitsOf(options) }
  const runtime = options?.webSocket
  return async (request, { context, server, ...mapping } = {}) => {
    const exchange = createExchange(request, pace, { ...mapping, ip: options?.ip?.(request), signIn: options?.authenticate })
    const isUpgrade = runtime !== undefined && request.headers.has('upgrade')
    const asked = isUpgrade ? withOwnHeaders(exchange.request, request) : exchange.request
    const reply = await api(asked, context && { waitUntil: work => context.waitUntil(work) })
    const { webSocket: offer } = reply
    if (!runtime || !offer) return createResponse(reply, exchange, pace)
    try {
      // Bun takes the absence of a response as one.
      return runtime.upgrade({ request, server, offer, pace }) as Response
    } catch (error) {
      offer.abandon()
      gateway.logger.warn({ error: String(error) }, 'A WebSocket could not be opened.')
      return new Response(null, { status: 400 })
    }
  }
}

/** The connection outlives its request, whose headers some runtimes then take away. */
function withOwnHeaders(asked: ApiRequest, { headers }: Request): ApiRequest {
  const own = new Map(headers)
  return { ...asked, canUpgrade: true, header: name => own.get(name) }
}

/** Rejects with the signal's reason as soon as it aborts, as `fetch` does. */
export function rejectOnAbort(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
