import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ApiOptions, type ApiReply, type ClientLimits, createApi, limitsOf, pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { BodyPace } from './body.ts'
import { refuseUpload, send } from './reply.ts'
import { exchangeOf, faultOf, hasBody, locate } from './request.ts'

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

  const refused = new WeakSet<Socket>()

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
    // Ignore what arrives after a malformed request: its connection is closing.
    if (refused.has(message.socket)) return
    const fault = faultOf(message)
    if (fault !== undefined) {
      refused.add(message.socket)
      answer(unspeakable(fault, gateway.ids.uuid()))
      return
    }
    // The API answers whatever goes wrong; what comes here is a fault in writing the answer.
    const broken = (error: unknown): void => {
      gateway.logger.error({ error: String(error) }, 'A reply could not be written.')
      response.destroy()
    }
    const answered = (reply: ApiReply): void => {
      try {
        answer(reply)
      } catch (error) {
        broken(error)
      }
    }
    const begin = (): void => void api(exchange.request).then(answered, broken)
    // A small body lies in the packet of its head, and is parsed by the end of this turn: then nothing has to wait for it.
    if (hasBody(message)) setImmediate(begin)
    else begin()
  }
}

const unspeakable = (message: string, requestId: string): ApiReply => ({
  status: 400,
  headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'x-request-id': requestId },
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' } }),
  close: true,
})

/** The client was gone before the reply could begin. */
function leave({ body }: ApiReply): void {
  if (typeof body !== 'string') body.cancel()
}
