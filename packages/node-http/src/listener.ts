import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiOptions, type ApiReply, createApi, pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import { refuseUpload, send } from './reply.ts'
import { exchangeOf, locate } from './request.ts'

export interface NodeOptions extends ApiOptions {
  /** A body that says nothing for so long is given up. Default 15,000. */
  readonly bodyIdleMs?: number
  /** A client that takes nothing for so long is dropped. Default 60,000. */
  readonly drainMs?: number
}

/** Fits `http.createServer(listener)` and `app.use(listener)`; with `next`, paths that are not ours are handed on. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

/**
 * The gateway as a listener of node:http, also inside Express and its kin.
 *
 * @example
 * http.createServer(createNodeListener(gateway)).listen(8787)
 * app.use(createNodeListener(gateway))
 */
export function createNodeListener(gateway: Gateway, options: NodeOptions = {}): NodeListener {
  const api = createApi(gateway, options)
  const ours = pathTest(options)
  const bodyIdleMs = options.bodyIdleMs ?? 15_000
  const drainMs = options.drainMs ?? 60_000

  return (message, response, next) => {
    if (next !== undefined && !ours(locate(message).path)) {
      next()
      return
    }
    const exchange = exchangeOf(message, response, bodyIdleMs)
    const answer = (reply: ApiReply): void => {
      if (response.destroyed || response.writableEnded) leave(reply)
      else if (exchange.uploading(reply.close === true)) refuseUpload(message, response, reply)
      else send(response, reply, { leave: exchange.leave, drainMs })
    }
    // The API answers whatever goes wrong; what comes here is a fault in writing the answer.
    api(exchange.request)
      .then(answer)
      .catch((error: unknown) => {
        gateway.logger.error({ error: String(error) }, 'A reply could not be written.')
        response.destroy()
      })
  }
}

/** The client was gone before the reply could begin. */
function leave({ body }: ApiReply): void {
  if (typeof body !== 'string') body.return?.().catch(() => {})
}
