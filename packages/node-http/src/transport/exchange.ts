import type { TransportReply, TransportRequest } from '@signalbox/core/runtime'
import type { Dispatcher } from 'undici'
import { type Body, openBody } from './body.ts'
import { isStale, unreachable } from './errors.ts'
import type { Line, Pool, Pools } from './pool.ts'

/**
 * One request, one answer. A connection that had been used before and breaks before the first byte of the answer was
 * closed by the provider while it was idle: the request is sent again, once, over a fresh one.
 */
export function exchange(pools: Pools, request: TransportRequest, decode: Decode): Promise<TransportReply> {
  const { pool, path } = pools.at(request.url)
  return new Promise((resolve, reject) => {
    const once = (line: Line): void => {
      const reused = line.served > 0
      send(
        { pool, line, path, request },
        reply => resolve(decode(reply)),
        error => {
          if (reused && isStale(error) && !request.signal.aborted) once(pool.take(true))
          else reject(request.signal.aborted ? request.signal.reason : unreachable(error))
        },
      )
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
  readonly line: Line
  readonly path: string
  readonly request: TransportRequest
}

/** `accept` gets the answer once its head is there, `refuse` what went wrong before that. */
function send({ pool, line, path, request }: Sending, accept: (reply: TransportReply) => void, refuse: (error: unknown) => void): void {
  const { signal } = request
  let control: Dispatcher.DispatchController | undefined
  let body: Body | undefined
  let settled = false

  const settle = (): boolean => {
    if (settled) return false
    settled = true
    signal.removeEventListener('abort', leave)
    return true
  }
  function leave(): void {
    if (!settle()) return
    const reason: unknown = signal.reason
    const why = reason instanceof Error ? reason : new Error('aborted')
    if (control === undefined) refuse(why)
    else control.abort(why)
    if (body === undefined) refuse(why)
    else body.fail(why)
    pool.drop(line)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      control = controller
      line.awaiting = true
      if (settled) controller.abort(new Error('aborted'))
    },
    onResponseStart(controller, status, headers) {
      // 100 and 103 announce the answer; they are not it.
      if (status < 200) return
      if (Object.keys(headers).length > mostHeaders) {
        if (!settle()) return
        controller.abort(new Error('aborted'))
        refuse(new Error('The answer has too many headers.'))
        pool.drop(line)
        return
      }
      line.awaiting = false
      body = openBody(controller, () => {
        if (!settle()) return
        controller.abort(new Error('aborted'))
        pool.drop(line)
      })
      accept({ status, header: name => headerOf(headers, name), body: body.source })
    },
    onResponseData(_, chunk) {
      body?.push(chunk)
    },
    onResponseEnd() {
      if (!settle()) return
      pool.give(line)
      body?.end()
    },
    onResponseError(_, error) {
      if (!settle()) return
      pool.drop(line)
      if (body === undefined) refuse(error)
      else body.fail(unreachable(error))
    },
  }

  signal.addEventListener('abort', leave, { once: true })
  try {
    line.client.dispatch(
      { path, method: request.method, headers: { 'accept-encoding': 'identity', ...request.headers }, body: request.body ?? null },
      handler,
    )
  } catch (error) {
    // A header or a path that may not be sent.
    if (settle()) {
      pool.drop(line)
      refuse(error)
    }
  }
}

function headerOf(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}
