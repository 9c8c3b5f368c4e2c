import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  type ApiOptions,
  type ApiReply,
  type ClientLimits,
  checkMount,
  createApi,
  limitsOf,
  mountTable,
  pathTest,
  type SignIn,
  signedInBy,
} from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { invalidRequestReply, refuseUpload, sendReply } from './reply.ts'
import { createNodeExchange, faultOfRequest, isBodyPending, splitTarget } from './request.ts'
import type { BodyPace } from './request-body.ts'
import { createWebSockets, type UpgradeListener } from './web-sockets.ts'

/** Options of a gateway mounted on `node:http`. */
export interface NodeOptions extends ApiOptions, ClientLimits {
  /** The app's own sign-in, so that its users call without an API key. Default: every request needs a key. */
  readonly authenticate?: SignIn<IncomingMessage>
}

/** Valid option values of a listener. */
export const listenerTable: OptionTableOf<NodeOptions> = { ...mountTable, authenticate: 'function' }

/** A request listener for `http.createServer(listener)` and `app.use(listener)`. Paths that the API does not serve are passed to `next`, if given. */
export interface NodeListener {
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void
  /** Accepts WebSockets: `server.on('upgrade', listener.upgrade)`. Without it, WebSocket requests get 426. */
  readonly upgrade: UpgradeListener
  /** Closes the WebSocket connections, each after its current response. `cut`: at once. */
  closeWebSockets(options?: { readonly cut?: boolean }): void
}

/**
 * Mounts a gateway as a request listener of `node:http`, also inside Express and similar frameworks. `call` is the function name in error
 * messages.
 *
 * @example
 * http.createServer(toNodeHandler(gateway)).listen(8787)
 * app.use(toNodeHandler(gateway))
 *
 * const listener = toNodeHandler(gateway)
 * http.createServer(listener).on('upgrade', listener.upgrade).listen(8787)
 * @throws {TypeError} `gateway` is not a gateway, or an option is unknown or has the wrong type.
 */
export function toNodeHandler(gateway: Gateway, options: NodeOptions = {}, call = 'toNodeHandler'): NodeListener {
  checkMount(call, { gateway, options, table: listenerTable })
  const api = createApi(gateway, options)
  const isApiPath = pathTest(options)
  const pace: BodyPace = { clock: gateway.clock, ...limitsOf(options) }
  const { drainMs } = pace

  const refused = new WeakSet<Socket>()
  const webSockets = createWebSockets({ api, gateway, pace, signIn: options.authenticate })

  const listener = (message: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    if (next !== undefined && !isApiPath(splitTarget(message).path)) {
      next()
      return
    }
    const signIn = options.authenticate && signedInBy(options.authenticate, message)
    const exchange = createNodeExchange(message, response, { pace, ...signIn })
    const answer = (reply: ApiReply): void => {
      if (response.destroyed || response.writableEnded) cancelReply(reply)
      else if (exchange.isUploading(reply.close === true)) refuseUpload(message, response, { reply, drainMs })
      else sendReply(response, reply, { onDisconnect: exchange.onDisconnect, drainMs })
    }
    // Ignores whatever arrives after a malformed request, because its connection is closing.
    if (refused.has(message.socket)) return
    const fault = faultOfRequest(message)
    if (fault !== undefined) {
      refused.add(message.socket)
      answer(invalidRequestReply(fault, gateway.ids.uuid()))
      return
    }
    // The API turns every error into a response, so this error occurred while writing it.
    const failWriting = (error: unknown): void => {
      gateway.logger.error({ error: String(error) }, 'A reply could not be written.')
      response.destroy()
    }
    const sendOrDestroy = (reply: ApiReply): void => {
      try {
        answer(reply)
      } catch (error) {
        failWriting(error)
      }
    }
    const begin = (): void => void api(exchange.request).then(sendOrDestroy, failWriting)
    // A small body arrives with its head and is parsed by the end of this turn; starting then avoids waiting for events.
    if (isBodyPending(message)) setImmediate(begin)
    else begin()
  }
  return Object.assign(listener, {
    upgrade: webSockets.upgrade,
    closeWebSockets: ({ cut = false } = {}) => (cut ? webSockets.terminate() : webSockets.drain()),
  })
}

/** Releases a response that cannot be sent, because the client disconnected before it began. */
function cancelReply({ body }: ApiReply): void {
  if (typeof body !== 'string') body.cancel()
}
