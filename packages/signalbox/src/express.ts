import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '@signalbox/gateway'
import { type NodeListener, type NodeOptions, toNodeHandler } from '@signalbox/node-http'

/** What Express adds to a request. */
interface ExpressRequest extends IncomingMessage {
  /** The path that `app.use` has cut off: `/llm`. Empty at the root. */
  readonly baseUrl?: string
  /** Set if the handler is that of a route, as in `app.all`, and not of `app.use`. */
  readonly route?: unknown
}

/**
 * Mounts a gateway in an Express app, version 4 or 5. Below a path every request is answered; at the root, paths that the API does not
 * have go on to the next handler.
 *
 * @example
 * app.use('/llm', toExpressHandler(gateway))
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toExpressHandler(gateway: Gateway, options?: NodeOptions): NodeListener {
  const listener = toNodeHandler(gateway, options, 'toExpressHandler')
  const handle = (request: ExpressRequest, response: ServerResponse, next?: (error?: unknown) => void): void =>
    listener(request, response, request.baseUrl || request.route ? undefined : next)
  return Object.assign(handle, { upgrade: listener.upgrade, closeWebSockets: listener.closeWebSockets })
}
