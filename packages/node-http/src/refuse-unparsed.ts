import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { own } from '@signalbox/dialects/protocol'

/** Milliseconds that a rejected client has to read the response and close its side of the connection. */
const closeAfterMs = 1_000

interface Refusal {
  /** The status line after the version. */
  readonly status: string
  readonly message: string
}

/** Responses to requests that Node's parser rejects, by error code. */
const refusalByCode: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'The request headers are larger than 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
}

const malformedRequest: Refusal = { status: '400 Bad Request', message: 'The request is not valid HTTP.' }

/**
 * Responds to bytes that are not a valid request, and closes the connection. Complete requests before them get their responses first: the
 * error must neither replace a response nor be written into the middle of one.
 */
export function refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const pending = pendingResponse(socket)
  if (pending === undefined) refuseAndClose(socket, own(refusalByCode, error.code ?? '') ?? malformedRequest)
  else if (pending.req.complete) onceFinished(pending, () => refuseUnparsed(error, socket))
  // The bytes belong to the body of a request whose response has begun.
  else if (pending.headersSent) socket.destroy()
  else refuseAndClose(socket, own(refusalByCode, error.code ?? '') ?? malformedRequest)
}

/** The next response due on this connection. */
const pendingResponse = (socket: Socket): ServerResponse | undefined =>
  '_httpMessage' in socket && socket._httpMessage instanceof ServerResponse ? socket._httpMessage : undefined

const awaitingFinish = new WeakSet<ServerResponse>()

/** Every further read of such a connection fails again, so only the first is answered. */
function onceFinished(response: ServerResponse, run: () => void): void {
  if (awaitingFinish.has(response)) return
  awaitingFinish.add(response)
  response.once('finish', run)
}

function refuseAndClose(socket: Socket, { status, message }: Refusal): void {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' } })
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${crypto.randomUUID()}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), closeAfterMs)
  socket.once('close', () => clearTimeout(timer))
}
