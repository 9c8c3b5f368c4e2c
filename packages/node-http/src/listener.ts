import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiOptions, type ApiReply, type ClientLimits, createApi, limitsOf, pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { BodyPace } from './body.ts'
import { refuseUpload, send } from './reply.ts'
import { exchangeOf, locate } from './request.ts'

export interface NodeOptions extends ApiOptions, ClientLimits {}

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
  const pace: BodyPace = { clock: gateway.clock, ...limitsOf(options) }
  const { drainMs } = pace

  return (message, response, next) => {
    if (next !== undefined && !ours(locate(message).path)) {
      next()
      return
    }
    const exchange = exchangeOf(message, response, pace)
    const answer = (reply: ApiReply): void => {
      if (response.destroyed || response.writableEnded) leave(reply)
      else if (exchange.uploading(reply.close === true)) refuseUpload(message, response, { reply, drainMs })
      else send(response, reply, { leave: exchange.leave, drainMs })
    }
    // The API answers whatever goes wrong; what comes here is a fault in writing the answer.
    const begin = (): void =>
      void api(exchange.request)
        .then(answer)
        .catch((error: unknown) => {
          gateway.logger.error({ error: String(error) }, 'A reply could not be written.')
          response.destroy()
        })
    // A small body lies in the packet of its head, and is parsed by the end of this turn: then nothing has to wait for it.
    if (hasBody(message)) setImmediate(begin)
    else begin()
  }
}

const hasBody = ({ headers, complete }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)

/** The client was gone before the reply could begin. */
function leave({ body }: ApiReply): void {
  if (typeof body !== 'string') body.return?.().catch(() => {})
}
