import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { checkMount } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { OptionTableOf } from '@signalbox/core/errors'
import { expectContinue } from './continue.ts'
import { createNodeListener, listenerTable, type NodeOptions } from './listener.ts'
import { refuseUnparsed } from './refuse-unparsed.ts'
import { loadConnections } from './web-sockets.ts'

/** Options of `serve`. */
export interface ServeOptions extends NodeOptions {
  /** The TCP port; 0 takes a free one. Default 8787. */
  readonly port?: number
  /** The address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Further connections are closed when they open. Default 10,000. */
  readonly maxConnections?: number
}

/** A server that listens. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Stops accepting connections, waits up to `graceMs` (default 0) for requests under way, then closes every connection. May be called again. */
  close(options?: CloseOptions): Promise<void>
}

/** How a server ends. */
export interface CloseOptions {
  /** Milliseconds that requests under way have to end. Default 0. */
  readonly graceMs?: number
  /**
   * Serves requests on connections that are already open, and asks the client to close them (`Connection: close`). Idle ones stay
   * until their usual time is over (65 s) or the grace is, so that no client finds a connection closed as it sends. Default: false,
   * idle connections are closed at once.
   */
  readonly keepIdle?: boolean
}

const serveTable: OptionTableOf<ServeOptions> = { ...listenerTable, port: 'number', host: 'text', maxConnections: 'number' }

/**
 * Starts an HTTP server with limits that suit the public Internet. Rejects with Node's error if the port cannot be listened on.
 *
 * @example
 * const { url, close } = await serve(gateway, { port: 8787 })
 */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<RunningServer> {
  checkMount('serve', { gateway, options, table: serveTable })
  const { port = 8787, host = '127.0.0.1', maxConnections = 10_000, ...mounting } = options
  const listener = createNodeListener(gateway, mounting)
  let isClosing = false
  const serveOne = (request: IncomingMessage, response: ServerResponse): void => {
    if (isClosing) response.setHeader('connection', 'close')
    listener(request, response)
  }
  const server = createServer(
    {
      // The listener refuses a missing Host in the format of all other errors.
      requireHostHeader: false,
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      // A whole request, body included: 32 MiB at 128 kB a second.
      requestTimeout: 300_000,
      // Longer than the usual 60 s of load balancers, so that they close first.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
      // Other protocols, such as h2c, are not upgraded to: their requests are answered as if they had not offered it.
      shouldUpgradeCallback: isWebSocketRequest,
    },
    serveOne,
  )
  // Key and size are checked before a client that waits for `100 Continue` gets it.
  server.on('checkContinue', (request, response) => {
    expectContinue(request)
    serveOne(request, response)
  })
  // An unknown expectation may be ignored; Node would refuse it with a body in another format.
  server.on('checkExpectation', serveOne)
  // Older versions of Node than 24.9 take over every upgrade, which breaks requests that offer h2c. There requests for a WebSocket are 426.
  if ('shouldUpgradeCallback' in server) {
    server.on('upgrade', listener.upgrade)
    // Coding agents begin with a WebSocket: the first of them does not wait for the code. What cannot be loaded, as in some bundles, is
    // reported with the first connection; HTTP needs none of it.
    await loadConnections().catch(() => {})
  }
  // A worker of `node:cluster` that is full drops connections too: otherwise it would hand them back without end.
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
    // The `close` of an HTTP server closes idle connections too; that of its base only stops listening.
    if (keepIdle) NetServer.prototype.close.call(server, onClosed)
    else server.close(onClosed)
  })
}
