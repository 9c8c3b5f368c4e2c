import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiReply } from '@signalbox/api'
import type { Source } from '@signalbox/core/protocol'

interface Sending {
  /** Registers what to do when the client leaves. */
  readonly leave: (run: () => void) => void
  readonly drainMs: number
}

/** Plain values → ServerResponse. */
export function send(response: ServerResponse, reply: ApiReply, sending: Sending): void {
  const { status, headers, body } = reply
  if (typeof body === 'string') {
    response.writeHead(status, wholeHeaders(reply, body))
    response.end(body)
    guardEnd(response, sending.drainMs)
  } else {
    response.writeHead(status, { ...headers })
    pump(response, body, sending)
  }
}

/**
 * An answer that was ended waits in memory for a client that may never take it. Most were taken whole by now, and need no
 * timer. The socket's own timer is used, since it sees a slow client take a part of one large write.
 */
function guardEnd(response: ServerResponse, drainMs: number): void {
  if (response.writableLength === 0) return
  const before = response.socket?.timeout ?? 0
  response.setTimeout(drainMs, () => response.destroy())
  // Before Node's own listener, which sets what an idle connection may take.
  response.prependOnceListener('finish', () => response.socket?.setTimeout(before))
}

/** HEAD brings the length that GET would have; 204 may have none, and that of 304 would be taken for its text's. */
function wholeHeaders({ status, headers, close }: ApiReply, body: string): Record<string, string> {
  const whole: Record<string, string> = { ...headers }
  if (headers['content-length'] === undefined && status !== 204 && status !== 304) whole['content-length'] = String(Buffer.byteLength(body))
  if (close) whole.connection = 'close'
  return whole
}

interface Framing {
  readonly chunk: (text: string) => string
  readonly last: string
  /** Sends the head, together with the first chunk. */
  readonly begin: () => void
}

const chunked: Omit<Framing, 'begin'> = { chunk: text => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`, last: '0\r\n\r\n' }
const plain: Omit<Framing, 'begin'> = { chunk: text => text, last: '' }

/**
 * Node frames a chunk as four writes that it gathers into one; as one string it is one, and a tenth cheaper. So where the
 * answer is chunked (HTTP/1.1 is, 1.0 is not) the frames are made here. To be called once the head is written.
 */
function framing(response: ServerResponse): Framing {
  const { socket } = response
  let waiting = true
  socket?.cork()
  response.flushHeaders()
  const begin = (): void => {
    if (waiting) socket?.uncork()
    waiting = false
  }
  if (!response.chunkedEncoding) return { ...plain, begin }
  response.chunkedEncoding = false
  return { ...chunked, begin }
}

/** One write for each text. The source is paused for as long as the socket does not take what was written. */
function pump(response: ServerResponse, body: Source<string>, { leave, drainMs }: Sending): void {
  let dropping: NodeJS.Timeout | undefined
  let over = false
  const framed = framing(response)
  const destroy = (): void => void response.destroy()
  // A write that meets a connection just broken is told by `close`; unheard, its error would end the process.
  response.on('error', destroy)
  response.on('drain', () => {
    clearTimeout(dropping)
    if (!over) body.resume()
  })
  leave(() => {
    if (over) return
    over = true
    clearTimeout(dropping)
    body.cancel()
  })
  body.read({
    next(text) {
      if (over) return
      const taken = response.write(framed.chunk(text))
      framed.begin()
      if (taken) return
      body.pause()
      clearTimeout(dropping)
      dropping = setTimeout(destroy, drainMs)
    },
    end() {
      if (over) return
      over = true
      // `drain` is not emitted after the last write; from here on `guardEnd` bounds the wait.
      clearTimeout(dropping)
      response.end(framed.last)
      framed.begin()
      guardEnd(response, drainMs)
    },
    fail: destroy,
  })
}

/** How much, and how long, an unwanted upload is listened to, so that its sender gets to read the answer before the connection ends. */
const lingerBytes = 1_048_576
const lingerMs = 1_000

/**
 * Answers while the client is still sending, without reading what it sends. Closing at once would reset the connection
 * under the answer; so the answer goes out whole, a little is read and thrown away, and then the connection is cut.
 */
export function refuseUpload(
  message: IncomingMessage,
  response: ServerResponse,
  { reply, drainMs }: { readonly reply: ApiReply; readonly drainMs: number },
): void {
  const text = typeof reply.body === 'string' ? reply.body : ''
  response.writeHead(reply.status, wholeHeaders({ ...reply, close: true }, text))
  response.write(text)
  let bytes = 0
  const cut = (): void => {
    clearTimeout(timer)
    message.off('data', discard)
    response.end()
    guardEnd(response, drainMs)
    message.socket.destroySoon()
  }
  const discard = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > lingerBytes) cut()
  }
  const timer = setTimeout(cut, lingerMs)
  message.on('data', discard).once('end', cut).once('close', cut)
  message.resume()
}
