import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { ApiReply } from '@signalbox/api'
import type { Source } from '@signalbox/dialects/protocol'

/** The reply to a request that is not valid HTTP. */
export const invalidRequestReply = (message: string, requestId: string): ApiReply => ({
  status: 400,
  headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'x-request-id': requestId },
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request' } }),
  close: true,
})

interface SendOptions {
  /** Registers a callback for a client that disconnects. */
  readonly onDisconnect: (run: () => void) => void
  readonly drainMs: number
}

/** Writes a reply of plain values to a ServerResponse. */
export function sendReply(response: ServerResponse, reply: ApiReply, options: SendOptions): void {
  const { status, headers, body } = reply
  if (typeof body === 'string') {
    response.writeHead(status, headersWithLength(reply, body))
    response.end(body)
    destroyIfUnread(response, options.drainMs)
  } else {
    response.writeHead(status, reply.close ? { ...headers, connection: 'close' } : { ...headers })
    sendStream(response, body, options)
  }
}

/**
 * Destroys a response that the client does not read for `drainMs`: until then, an ended response waits in memory. Most are already written
 * and need no timer. Uses the socket's own timer, which notices when a slow client reads part of one large write.
 */
function destroyIfUnread(response: ServerResponse, drainMs: number): void {
  if (response.writableLength === 0) return
  const before = response.socket?.timeout ?? 0
  response.setTimeout(drainMs, () => response.destroy())
  // Must run before Node's own listener, which sets the keep-alive timeout.
  response.prependOnceListener('finish', () => response.socket?.setTimeout(before))
}

/** HEAD has the length of the GET response; 204 must have none, and for a 304 it would be taken as that of the cached body. */
function headersWithLength({ status, headers, cookies, close }: ApiReply, body: string): OutgoingHttpHeaders {
  const whole: OutgoingHttpHeaders = { ...headers }
  if (headers['content-length'] === undefined && status !== 204 && status !== 304) whole['content-length'] = String(Buffer.byteLength(body))
  // `Upgrade` is a hop-by-hop header, and must be listed in `Connection`.
  if (headers.upgrade !== undefined) whole.connection = 'upgrade'
  if (cookies) whole['set-cookie'] = [...cookies]
  if (close) whole.connection = 'close'
  return whole
}

interface ChunkFormat {
  readonly chunk: (text: string) => string
  readonly last: string
}

const chunkedFormat: ChunkFormat = {
  chunk: text => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`,
  last: '0\r\n\r\n',
}
const plainFormat: ChunkFormat = { chunk: text => text, last: '' }

/**
 * Starts the body of a response whose head is written. Frames chunks itself if the response is chunked (HTTP/1.1 is, 1.0 is not): Node
 * frames a chunk as four writes that it gathers into one, while a single string is a single write, and a tenth cheaper.
 */
function startFraming(response: ServerResponse): ChunkFormat {
  response.flushHeaders()
  if (!response.chunkedEncoding) return plainFormat
  response.chunkedEncoding = false
  return chunkedFormat
}

/** Writes each text of the source, and pauses the source until the socket has drained. */
function sendStream(response: ServerResponse, body: Source<string>, { onDisconnect, drainMs }: SendOptions): void {
  let dropping: NodeJS.Timeout | undefined
  let over = false
  // The head is sent together with the first chunk. Null once it was sent.
  let corked = response.socket
  corked?.cork()
  const framing = startFraming(response)
  const destroy = (): void => void response.destroy()
  // A write may fail because the connection just broke; without a listener, its error would crash the process.
  response.on('error', destroy)
  response.on('drain', () => {
    clearTimeout(dropping)
    if (!over) body.resume()
  })
  onDisconnect(() => {
    if (over) return
    over = true
    clearTimeout(dropping)
    body.cancel()
  })
  body.read({
    next(text) {
      if (over) return
      const taken = response.write(framing.chunk(text))
      corked?.uncork()
      corked = null
      if (taken) return
      body.pause()
      clearTimeout(dropping)
      dropping = setTimeout(destroy, drainMs)
    },
    end() {
      if (over) return
      over = true
      // `drain` is not emitted after the last write, so `destroyIfUnread` bounds the wait from here on.
      clearTimeout(dropping)
      response.end(framing.last)
      corked?.uncork()
      destroyIfUnread(response, drainMs)
    },
    fail: destroy,
  })
}

/** Limits on reading and discarding the rest of a rejected upload, so that its sender can read the response before the connection closes. */
const maxDiscardedBytes = 1_048_576
const maxDiscardMs = 1_000

/**
 * Responds while the client is still uploading. Closing at once would reset the connection before the client has read the response, so the
 * response is written, a limited part of the upload is discarded, and then the connection is closed.
 */
export function refuseUpload(
  message: IncomingMessage,
  response: ServerResponse,
  { reply, drainMs }: { readonly reply: ApiReply; readonly drainMs: number },
): void {
  const text = typeof reply.body === 'string' ? reply.body : ''
  response.writeHead(reply.status, headersWithLength({ ...reply, close: true }, text))
  response.write(text)
  let bytes = 0
  const cut = (): void => {
    clearTimeout(timer)
    message.off('data', discard)
    response.end()
    destroyIfUnread(response, drainMs)
    message.socket.destroySoon()
  }
  const discard = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > maxDiscardedBytes) cut()
  }
  const timer = setTimeout(cut, maxDiscardMs)
  message.on('data', discard).once('end', cut).once('close', cut)
  message.resume()
}
