import { type BunWebSockets, bunWebSockets, type FetchHandler, type FetchOptions, toFetchHandler } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'

/** Options of `Bun.serve`. */
export interface BunServerOptions {
  readonly fetch: FetchHandler
  readonly websocket: BunWebSockets['handlers']
  /** Seconds. Bun's own 10 would cut connections while a model thinks. */
  readonly idleTimeout: number
}

interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/**
 * Makes a gateway the server of Bun, with WebSockets at `/v1/responses`.
 *
 * @example
 * Bun.serve({ port: 8787, ...toBunServer(gateway) })
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toBunServer(gateway: Gateway, options?: FetchOptions): BunServerOptions {
  const webSocket = bunWebSockets()
  const ip = (request: Request, server: unknown): string | undefined => (server as BunServer).requestIP(request)?.address
  const fetch = toFetchHandler(gateway, { ip, webSocket, ...options }, 'toBunServer')
  return { fetch, websocket: webSocket.handlers, idleTimeout: 255 }
}
