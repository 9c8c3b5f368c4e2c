import { denoWebSockets, type FetchHandler, type FetchOptions, toFetchHandler } from '@signalbox/fetch-handler'
import type { Gateway } from '@signalbox/gateway'

interface DenoConnection {
  readonly remoteAddr: { readonly hostname?: string }
}

/**
 * Makes a gateway the handler of a Deno server, with WebSockets at `/v1/responses`.
 *
 * @example
 * Deno.serve({ port: 8787 }, toDenoHandler(gateway))
 * @throws {TypeError} The gateway is none, or an option is unknown or of another kind.
 */
export function toDenoHandler(gateway: Gateway, options?: FetchOptions): FetchHandler {
  const ip = (_: Request, connection: unknown): string | undefined => (connection as DenoConnection).remoteAddr.hostname
  return toFetchHandler(gateway, { ip, webSocket: denoWebSockets(), ...options }, 'toDenoHandler')
}
