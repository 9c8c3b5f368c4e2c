import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { own } from '@signalbox/core/protocol'

/** How long a refused client has to read why; it may not keep its half of the connection open for ever. */
const partingMs = 1_000

interface Refusal {
  /** Status line behind the version. */
  readonly status: string
  readonly message: string
}

/** What the parser refuses never becomes a request: answer by code of its error. */
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'The request headers are larger than 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
}

const malformed: Refusal = { status: '400 Bad Request', message: 'The request is not valid HTTP.' }

/**
 * Answers bytes that are no request, and closes the connection. Requests that came whole before them are answered first: a
 * refusal must neither take the place of an answer nor stand in the middle of one.
 */
export function refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const pending = answerOn(socket)
  if (pending === undefined) parting(socket, own(refusals, error.code ?? '') ?? malformed)
  else if (pending.req.complete) afterwards(pending, () => refuseUnparsed(error, socket))
  // The bytes belong to the body of a request that is being answered already.
  else if (pending.headersSent) socket.destroy()
  else parting(socket, own(refusals, error.code ?? '') ?? malformed)
}

/** The answer that is due next on this connection. */
const answerOn = (socket: Socket): ServerResponse | undefined =>
  '_httpMessage' in socket && socket._httpMessage instanceof ServerResponse ? socket._httpMessage : undefined

const waiting = new WeakSet<ServerResponse>()

/** Each further read of such a connection is an error again; one refusal is enough. */
function afterwards(response: ServerResponse, run: () => void): void {
  if (waiting.has(response)) return
  waiting.add(response)
  response.once('finish', run)
}

function parting(socket: Socket, { status, message }: Refusal): void {
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
  const timer = setTimeout(() => socket.destroy(), partingMs)
  socket.once('close', () => clearTimeout(timer))
}
