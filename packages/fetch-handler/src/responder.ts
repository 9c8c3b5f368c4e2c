import {
  type ApiOptions,
  type ApiRequest,
  type ClientLimits,
  checkMount,
  createApi,
  limitsOf,
  mountTable,
  type SignIn,
  signedInBy,
} from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import type { ClientPace } from './idle-timer.ts'
import { createExchange, type ExchangeOptions } from './request.ts'
import { createResponse } from './response.ts'
import type { WebSocketRuntime } from './web-sockets.ts'

/** Options of a gateway mounted as a fetch handler. */
export interface FetchOptions extends ApiOptions, ClientLimits {
  /** The app's own sign-in, so that its users call without an API key. Default: every request needs a key. */
  readonly authenticate?: SignIn<Request>
  /** The sender's IP address as the runtime reports it, for the audit log; `server` is the second argument of the handler. Default: none is recorded. */
  readonly ip?: (request: Request, server: unknown) => string | undefined
  /**
   * Receives the work that remains after a response, for runtimes that may freeze then: `after` of `next/server`. Default: `waitUntil` of
   * the handler's second or third argument, if there is one.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /** Accepts WebSockets at `/v1/responses`: `bunWebSockets()`, `denoWebSockets()` or `workersWebSockets()`. Default: WebSocket requests get 426. */
  readonly webSocket?: WebSocketRuntime
}

/** Valid option values of a fetch handler. */
const fetchTable: OptionTableOf<FetchOptions> = {
  ...mountTable,
  authenticate: 'function',
  ip: 'function',
  waitUntil: 'function',
  webSocket: 'any',
}

/** The execution context of a runtime that may freeze after the response. Remaining settlement work is passed to `waitUntil`. */
export interface FetchContext {
  waitUntil(work: Promise<unknown>): void
}

/** Facts about one request that are not in it. */
export interface ResponderOptions extends Omit<ExchangeOptions, 'ip' | 'signIn'> {
  readonly context?: FetchContext | undefined
  /** The argument that the server passes with the request. */
  readonly server?: unknown
}

/** Handles requests with a gateway. */
export type Responder = (request: Request, options?: ResponderOptions) => Promise<Response>

/**
 * Connects the API, which takes plain values, to Request and Response. Framework adapters are built on it. `call` is the function name in
 * error messages.
 *
 * @example
 * const respond = createResponder('myAdapter', gateway, options)
 * await respond(request, { mapPath: path => path.slice('/llm'.length) })
 * @throws {TypeError} `gateway` is not a gateway, or an option is unknown or has the wrong type.
 */
export function createResponder(call: string, gateway: Gateway, options?: FetchOptions): Responder {
  checkMount(call, { gateway, options, table: fetchTable })
  const api = createApi(gateway, options)
  const pace: ClientPace = { clock: gateway.clock, ...limitsOf(options) }
  const runtime = options?.webSocket
  const waitUntil = options?.waitUntil
  const usual: FetchContext | undefined = waitUntil && { waitUntil }
  return async (request, { context = usual, server, ...mapping } = {}) => {
    const exchange = createExchange(request, pace, { ...mapping, ip: options?.ip?.(request, server), signIn: options?.authenticate })
    const isUpgrade = runtime !== undefined && request.headers.has('upgrade')
    const apiRequest = isUpgrade ? forConnection(exchange.request, request, options?.authenticate) : exchange.request
    const reply = await api(apiRequest, context && { waitUntil: work => context.waitUntil(work) })
    const { webSocket: offer } = reply
    if (!runtime || !offer) return createResponse(reply, exchange, pace)
    try {
      // Bun expects no response after an upgrade.
      return runtime.upgrade({ request, server, offer, pace }) as Response
    } catch (error) {
      offer.abandon()
      gateway.logger.warn({ error: String(error) }, 'A WebSocket could not be opened.')
      return new Response(null, { status: 400 })
    }
  }
}

/** The connection outlives its request, whose headers some runtimes then remove, so its messages and the sign-in get a copy. */
function forConnection(apiRequest: ApiRequest, request: Request, signIn: SignIn<Request> | undefined): ApiRequest {
  const own = new Map(request.headers)
  const { url } = request
  return {
    ...apiRequest,
    canUpgrade: true,
    header: name => own.get(name),
    ...(signIn && signedInBy(signIn, request, () => new Request(url, { headers: [...own] }))),
  }
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
