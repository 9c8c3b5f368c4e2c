import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Gateway } from '@signalbox/core'
import { createNodeListener, type NodeOptions } from './listener.ts'
import { refuseUnparsed } from './refuse-unparsed.ts'

export interface ServeOptions extends NodeOptions {
  /** Default 8787; 0 takes a free one. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Connections beyond these are closed as they come. Default 10,000. */
  readonly maxConnections?: number
}

export interface Served {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Accepts nothing new; what runs gets `graceMs` (default 0) to end, then its connections are cut. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * A server with limits fit for the open.
 *
 * @example
 * const { url, close } = await serve(gateway, { port: 8787 })
 */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<Served> {
  const { port = 8787, host = '127.0.0.1', maxConnections = 10_000 } = options
  const listener = createNodeListener(gateway, options)
  let closing = false
  const serveOne = (request: IncomingMessage, response: ServerResponse): void => {
    if (closing) response.setHeader('connection', 'close')
    listener(request, response)
  }
  const server = createServer(
    {
      // Refused by the listener, in the words of all other refusals.
      requireHostHeader: false,
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      // For a whole request, body included: 32 MiB at 128 kB a second.
      requestTimeout: 300_000,
      // Longer than the 60 s of usual load balancers, so that it is them who close.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    serveOne,
  )
  // An expectation that nobody knows may be ignored; Node would refuse it with a body that is not ours.
  server.on('checkExpectation', serveOne)
  server.maxConnections = maxConnections
  server.on('clientError', refuseUnparsed)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}`,
    port: address.port,
    server,
    close({ graceMs = 0 } = {}) {
      closing = true
      return closed(server, graceMs)
    },
  }
}

function closed(server: Server, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    // Connections that become idle meanwhile are closed as they do.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
