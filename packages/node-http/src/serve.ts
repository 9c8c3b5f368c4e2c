import { createServer, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Gateway } from '@signalbox/core'
import { createNodeListener, type NodeOptions } from './listener.ts'

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
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      // For a whole request, body included: 32 MiB at 128 kB a second.
      requestTimeout: 300_000,
      // Longer than the 60 s of usual load balancers, so that it is them who close.
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      if (closing) response.setHeader('connection', 'close')
      listener(request, response)
    },
  )
  server.maxConnections = maxConnections
  server.on('clientError', refuse)
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

/** How long a refused client has to read why; it may not keep its half of the connection open for ever. */
const partingMs = 1_000

/** What the parser refuses never becomes a request: status by code of its error. */
const refusals: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || answering(socket)) {
    socket.destroy()
    return
  }
  const [status, message] = refusals[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.']
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' } })
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${crypto.randomUUID()}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const parting = setTimeout(() => socket.destroy(), partingMs)
  socket.once('close', () => clearTimeout(parting))
}

/** An answer is on its way over this socket; a second one would end up in the middle of it. */
const answering = (socket: Socket): boolean =>
  '_httpMessage' in socket && socket._httpMessage instanceof ServerResponse && socket._httpMessage.headersSent
