import type { TransportReply, TransportRequest } from '@signalbox/dialects/protocol'
import type { Dispatcher } from 'undici'
import type { Pool, PooledConnection, Pools } from './pool.ts'
import { ResponseBody } from './response-body.ts'
import { readAll, skipInterim } from './skip-interim.ts'
import { isClosedConnection, toTransportError, transportError } from './transport-errors.ts'

/**
 * If a reused connection breaks within so many milliseconds of the request, the provider had closed it while idle: the reset of an idle
 * connection arrives one round trip after the first bytes. Later, the provider may have worked on the request.
 */
const idleCloseMs = 250

/**
 * Sends a request and resolves to the head of its response. A request that met a connection closed while idle is sent once more, over a
 * new one. Any other break is an error, because the provider may have applied the request, and may bill it (RFC 9110, 9.2.2).
 */
export function exchange(pools: Pools, request: TransportRequest, decompress: Decompress): Promise<TransportReply> {
  const { pool, path, headers } = pools.at(request.url)
  return new Promise((resolve, reject) => {
    const once = (connection: PooledConnection): void => {
      const reused = connection.served > 0
      const startedAt = performance.now()
      const refuse = (error: unknown): void => {
        const isUnanswered = connection.interim?.hasReceived !== true
        const wasIdle = reused && isUnanswered && isClosedConnection(error) && performance.now() - startedAt <= idleCloseMs
        if (wasIdle && !request.signal.aborted) once(pool.take(true))
        else reject(request.signal.aborted ? request.signal.reason : toTransportError(error))
      }
      dispatchRequest({ pool, connection, path, headers, request }, { accept: reply => resolve(decompress(reply)), refuse })
    }
    if (request.signal.aborted) reject(request.signal.reason)
    else once(pool.take())
  })
}

/** Decodes a response body that has a Content-Encoding. */
type Decompress = (reply: TransportReply) => TransportReply | Promise<TransportReply>

/** Smaller bodies are not freed before the end of the response. */
const freedFromBytes = 16_384

/** Maximum header names in one response; real ones have a few dozen. */
const maxHeaders = 500

interface PooledRequest {
  readonly pool: Pool
  readonly connection: PooledConnection
  readonly path: string
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly request: TransportRequest
}

interface ExchangeCallbacks {
  /** Receives the response once its head has arrived. */
  readonly accept: (reply: TransportReply) => void
  /** Receives an error before that. */
  readonly refuse: (error: unknown) => void
}

interface ExchangeState {
  readonly pool: Pool
  readonly connection: PooledConnection
  readonly signal: AbortSignal
  /** Whether the request goes to a proxy, which forwards it. */
  readonly isForwarded: boolean
  /** The body that was encoded here, if it is large, until the response has begun. */
  bytes: Uint8Array<ArrayBuffer> | undefined
  /** Undefined once the response has begun, so that an open stream does not keep its request. */
  callbacks: ExchangeCallbacks | undefined
  control: Dispatcher.DispatchController | undefined
  body: ResponseBody | undefined
  /** Whether the connection was returned to its pool or dropped. */
  isSettled: boolean
  readonly onAbort: () => void
}

const encoder = new TextEncoder()

function dispatchRequest({ pool, connection, path, headers: ofProxy, request }: PooledRequest, callbacks: ExchangeCallbacks): void {
  const encoded = request.body === undefined ? undefined : encoder.encode(request.body)
  const state: ExchangeState = {
    pool,
    connection,
    signal: request.signal,
    isForwarded: ofProxy !== undefined,
    bytes: encoded && encoded.byteLength >= freedFromBytes ? encoded : undefined,
    callbacks,
    control: undefined,
    body: undefined,
    isSettled: false,
    onAbort: () => abortExchange(state),
  }
  request.signal.addEventListener('abort', state.onAbort, { once: true })
  const headers = { 'accept-encoding': 'identity', ...ofProxy, ...request.headers }
  try {
    connection.client.dispatch({ path, method: request.method, headers, body: request.bytes ?? encoded ?? null }, dispatchHandler(state))
  } catch (error) {
    // A header or the path is invalid.
    if (dropConnection(state)) callbacks.refuse(error)
  }
}

const dispatchHandler = (state: ExchangeState): Dispatcher.DispatchHandler => ({
  onRequestStart(controller) {
    state.control = controller
    if (state.connection.interim) skipInterim(state.connection.interim)
    if (state.isSettled) controller.abort(new Error('aborted'))
  },
  onResponseStart(controller, status, headers) {
    // 100 and 103 precede the response.
    if (status >= 200) openResponse(state, controller, { status, headers })
  },
  onResponseData(_, chunk) {
    state.body?.push(chunk)
  },
  onResponseEnd() {
    if (!endExchange(state)) return
    state.pool.give(state.connection)
    state.body?.end()
  },
  onResponseError(_, error) {
    if (!dropConnection(state)) return
    if (state.body === undefined) state.callbacks?.refuse(error)
    else state.body.end(toTransportError(error))
  },
})

interface ResponseHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

function openResponse(state: ExchangeState, controller: Dispatcher.DispatchController, { status, headers }: ResponseHead): void {
  if (Object.keys(headers).length > maxHeaders) {
    if (closeExchange(state)) state.callbacks?.refuse(new Error('The response has too many headers.'))
    return
  }
  if (status === 407 && state.isForwarded) {
    if (closeExchange(state)) state.callbacks?.refuse(transportError('ERR_PROXY_REFUSED', 'The proxy requires other credentials.'))
    return
  }
  if (state.connection.interim) readAll(state.connection.interim)
  if (state.bytes) freeBytes(state.bytes, state.connection)
  state.bytes = undefined
  // undici keeps the headers, which are slices of all that arrived with them, until the response ends.
  controller.rawHeaders = null
  const { callbacks } = state
  state.callbacks = undefined
  state.body = new ResponseBody(controller, () => closeExchange(state))
  callbacks?.accept({ status, header: headerOf(headers), body: state.body })
}

/**
 * Frees the body of a large request, because undici keeps it until the response ends. A body of which the socket still has a part stays:
 * a server may respond before it has read everything.
 */
function freeBytes({ buffer, byteLength }: Uint8Array<ArrayBuffer>, { interim }: PooledConnection): void {
  const isSent = interim?.socket.writableLength === 0
  if (isSent && byteLength === buffer.byteLength) buffer.transfer(0)
}

/** Ends an exchange whose request was aborted. */
function abortExchange(state: ExchangeState): void {
  const { control, body, callbacks, signal } = state
  if (!dropConnection(state)) return
  const reason: unknown = signal.reason
  const why = reason instanceof Error ? reason : new Error('aborted')
  if (control === undefined) callbacks?.refuse(why)
  else control.abort(why)
  if (body === undefined) callbacks?.refuse(why)
  else body.end(why)
}

/** Marks the exchange as over; false if it was already. */
function endExchange(state: ExchangeState): boolean {
  if (state.isSettled) return false
  state.isSettled = true
  state.signal.removeEventListener('abort', state.onAbort)
  return true
}

function dropConnection(state: ExchangeState): boolean {
  if (!endExchange(state)) return false
  state.pool.drop(state.connection)
  return true
}

/** Drops the connection of a response that is not read to its end; false if the exchange was over already. */
function closeExchange(state: ExchangeState): boolean {
  const isOurs = dropConnection(state)
  if (isOurs) state.control?.abort(new Error('aborted'))
  return isOurs
}

// A function of its own, because functions made in one place keep the values of all of them.
const headerOf =
  (headers: ResponseHead['headers']): TransportReply['header'] =>
  name => {
    const value = headers[name]
    return typeof value === 'string' || value === undefined ? value : value.join(', ')
  }
