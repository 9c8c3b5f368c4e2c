import type { TransportReply, TransportRequest } from '@signalbox/core/runtime'
import type { Dispatcher } from 'undici'
import { type Body, openBody } from './body.ts'
import { isStale, unreachable } from './errors.ts'
import type { Pool, PooledConnection, Pools } from './pool.ts'

/**
 * One request, one answer. A connection that had been used before and breaks before the first byte of the answer was
 * closed by the provider while it was idle: the request is sent again, once, over a fresh one.
 */
export function exchange(pools: Pools, request: TransportRequest, decode: Decode): Promise<TransportReply> {
  const { pool, path } = pools.at(request.url)
  return new Promise((resolve, reject) => {
    const once = (connection: PooledConnection): void => {
      const reused = connection.served > 0
      const refuse = (error: unknown): void => {
        if (reused && isStale(error) && !request.signal.aborted) once(pool.take(true))
        else reject(request.signal.aborted ? request.signal.reason : unreachable(error))
      }
      send({ pool, connection, path, request }, { accept: reply => resolve(decode(reply)), refuse })
    }
    if (request.signal.aborted) reject(request.signal.reason)
    else once(pool.take())
  })
}

/** Undoes the encoding of an answer, where it has one. */
type Decode = (reply: TransportReply) => TransportReply | Promise<TransportReply>

/** Names of headers in one answer; real ones have a few dozen. */
const mostHeaders = 500

interface Sending {
  readonly pool: Pool
  readonly connection: PooledConnection
  readonly path: string
  readonly request: TransportRequest
}

interface Outcome {
  /** Gets the answer once its head is there. */
  readonly accept: (reply: TransportReply) => void
  /** Gets what went wrong before that. */
  readonly refuse: (error: unknown) => void
}

interface ExchangeState extends Sending, Outcome {
  control: Dispatcher.DispatchController | undefined
  body: Body | undefined
  /** The connection was given back or dropped. */
  isSettled: boolean
  readonly onAbort: () => void
}

function send(sending: Sending, outcome: Outcome): void {
  const state: ExchangeState = {
    ...sending,
    ...outcome,
    control: undefined,
    body: undefined,
    isSettled: false,
    onAbort: () => abandon(state),
  }
  const { request, path, connection } = state
  request.signal.addEventListener('abort', state.onAbort, { once: true })
  const headers = { 'accept-encoding': 'identity', ...request.headers }
  try {
    connection.client.dispatch({ path, method: request.method, headers, body: request.body ?? null }, handlerOf(state))
  } catch (error) {
    // A header or a path that may not be sent.
    if (drop(state)) state.refuse(error)
  }
}

const handlerOf = (state: ExchangeState): Dispatcher.DispatchHandler => ({
  onRequestStart(controller) {
    state.control = controller
    state.connection.awaiting = true
    if (state.isSettled) controller.abort(new Error('aborted'))
  },
  onResponseStart(controller, status, headers) {
    // 100 and 103 announce the answer; they are not it.
    if (status >= 200) begin(state, controller, { status, headers })
  },
  onResponseData(_, chunk) {
    state.body?.push(chunk)
  },
  onResponseEnd() {
    if (!settle(state)) return
    state.pool.give(state.connection)
    state.body?.end()
  },
  onResponseError(_, error) {
    if (!drop(state)) return
    if (state.body === undefined) state.refuse(error)
    else state.body.fail(unreachable(error))
  },
})

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

function begin(state: ExchangeState, controller: Dispatcher.DispatchController, { status, headers }: Head): void {
  const close = (): boolean => {
    const isOurs = drop(state)
    if (isOurs) controller.abort(new Error('aborted'))
    return isOurs
  }
  if (Object.keys(headers).length > mostHeaders) {
    if (close()) state.refuse(new Error('The answer has too many headers.'))
    return
  }
  state.connection.awaiting = false
  state.body = openBody(controller, close)
  state.accept({ status, header: name => headerOf(headers, name), body: state.body.source })
}

/** The request was aborted. */
function abandon(state: ExchangeState): void {
  const { control, body, request } = state
  if (!drop(state)) return
  const reason: unknown = request.signal.reason
  const why = reason instanceof Error ? reason : new Error('aborted')
  if (control === undefined) state.refuse(why)
  else control.abort(why)
  if (body === undefined) state.refuse(why)
  else body.fail(why)
}

/** False: the exchange was over already. */
function settle(state: ExchangeState): boolean {
  if (state.isSettled) return false
  state.isSettled = true
  state.request.signal.removeEventListener('abort', state.onAbort)
  return true
}

function drop(state: ExchangeState): boolean {
  if (!settle(state)) return false
  state.pool.drop(state.connection)
  return true
}

function headerOf(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}
