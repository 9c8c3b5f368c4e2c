import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { checkMount } from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { listenerTable, type NodeOptions, toNodeHandler } from './listener.ts'
import { refuseUnparsed } from './refuse-unparsed.ts'
import { expectContinue } from './request-body.ts'
import { loadConnections } from './web-sockets.ts'

/** Options of `serve`. */
export interface ServeOptions extends NodeOptions {
  /** TCP port; 0 picks a free one. Default: 8787. */
  readonly port?: number
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string
  /** Maximum connections; further ones are closed when they open. Default: 10,000. */
  readonly maxConnections?: number
  /**
   * Milliseconds that an idle connection stays open. Longer than the load balancer in front keeps its own, which would otherwise send into a
   * closed connection. Default: 65,000.
   */
  readonly keepAliveTimeoutMs?: number
  /** Milliseconds for the headers of a request. Default: 10,000. */
  readonly headersTimeoutMs?: number
  /** Milliseconds for a whole request, body included. Default: 300,000, for 32 MiB at 128 kB per second. */
  readonly requestTimeoutMs?: number
}

/** A listening server. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Stops accepting connections, waits up to `graceMs` (default 0) for running requests, then closes every connection. May be called again. */
  close(options?: CloseOptions): Promise<void>
}

/** How a server ends. */
export interface CloseOptions {
  /** Milliseconds that running requests have to finish. Default: 0. */
  readonly graceMs?: number
  /**
   * Keeps serving requests on open connections, and asks clients to close them (`Connection: close`). Idle ones stay open until their usual
   * timeout (`keepAliveTimeoutMs`) or the end of the grace, so that no client sends into a closed connection. Default: false, idle connections are closed
   * at once.
   */
  readonly keepIdle?: boolean
}

/** Milliseconds. */
export const defaultServerTimes = { keepAliveTimeoutMs: 65_000, headersTimeoutMs: 10_000, requestTimeoutMs: 300_000 } as const
const serverTimes = { keepAliveTimeoutMs: 'milliseconds', headersTimeoutMs: 'milliseconds', requestTimeoutMs: 'milliseconds' } as const

const serveTable: OptionTableOf<ServeOptions> = { ...listenerTable, port: 'number', host: 'text', ...serverTimes, maxConnections: 'number' }

/**
 * Starts an HTTP server with limits suited to the public Internet, once `setup` has run. Rejects with the error of `setup`, or with that of
 * Node if it cannot listen on the port.
 *
 * @example
 * const { url, close } = await serve(gateway, { port: 8787 })
 */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<RunningServer> {
  checkMount('serve', { gateway, options, table: serveTable })
  await gateway.ready()
  const { port = 8787, host = '127.0.0.1', maxConnections = 10_000, ...others } = options
  const times = defaultServerTimes
  const { keepAliveTimeoutMs = times.keepAliveTimeoutMs, headersTimeoutMs = times.headersTimeoutMs, ...more } = others
  const { requestTimeoutMs = times.requestTimeoutMs, ...mounting } = more
  const listener = toNodeHandler(gateway, mounting)
  let isClosing = false
  const serveOne = (request: IncomingMessage, response: ServerResponse): void => {
    if (isClosing) response.setHeader('connection', 'close')
    listener(request, response)
  }
  const server = createServer(
    {
      // The listener rejects a missing Host itself, in the common error format.
      requireHostHeader: false,
      maxHeaderSize: 16_384,
      headersTimeout: headersTimeoutMs,
      // Node refuses one below that of the headers.
      requestTimeout: Math.max(requestTimeoutMs, headersTimeoutMs),
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 5_000,
      // Does not upgrade to other protocols, such as h2c: those requests are served as if they had not offered it.
      shouldUpgradeCallback: isWebSocketRequest,
    },
    serveOne,
  )
  // Key and size are checked before a client receives `100 Continue`.
  server.on('checkContinue', (request, response) => {
    expectContinue(request)
    serveOne(request, response)
  })
  // An unknown expectation may be ignored; Node would reject it with a body in another format.
  server.on('checkExpectation', serveOne)
  // Node before 24.9 takes over every upgrade, which breaks requests that offer h2c. There, WebSocket requests get 426.
  if ('shouldUpgradeCallback' in server) {
    server.on('upgrade', listener.upgrade)
    // Coding agents start with a WebSocket, so its code is loaded now. If it cannot be loaded, as in some bundles, the first connection
    // reports the error; HTTP does not need it.
    await loadConnections().catch(() => {})
  }
  // A full worker of `node:cluster` must drop connections too, because otherwise it would hand them back endlessly.
  Object.assign(server, { maxConnections, dropMaxConnection: true })
  server.on('clientError', refuseUnparsed)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shownHost}:${address.port}`,
    port: address.port,
    server,
    close({ graceMs = 0, keepIdle = false } = {}) {
      isClosing = true
      listener.closeWebSockets()
      return closeServer(server, { graceMs, keepIdle, onCut: () => listener.closeWebSockets({ cut: true }) })
    },
  }
}

const isWebSocketRequest = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

interface ServerEnd extends Required<CloseOptions> {
  readonly onCut: () => void
}

function closeServer(server: Server, { graceMs, keepIdle, onCut }: ServerEnd): Promise<void> {
  return new Promise(resolve => {
    // Closes connections as they become idle.
    const sweep = keepIdle ? undefined : setInterval(() => server.closeIdleConnections(), 50)
    const cut = setTimeout(() => {
      server.closeAllConnections()
      onCut()
    }, graceMs)
    const onClosed = (): void => {
      clearInterval(sweep)
      clearTimeout(cut)
      resolve()
    }
    // The `close` of an HTTP server also closes idle connections; that of its base class only stops listening.
    if (keepIdle) NetServer.prototype.close.call(server, onClosed)
    else server.close(onClosed)
  })
}
