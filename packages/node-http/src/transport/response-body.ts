import type { Sink, Source } from '@signalbox/dialects/protocol'
import type { Dispatcher } from 'undici'

/** Buffered bytes at which the socket is paused. */
const highWaterBytes = 65_536
const noChunks: Uint8Array[] = []

type Ending = 'ended' | { readonly error: Error }

/** The body of one response: the socket pushes bytes in, and the reader receives bytes that arrived together as one batch. */
export interface ResponseBody {
  readonly source: Source<Uint8Array>
  readonly control: Dispatcher.DispatchController
  /** Flushes the chunks. */
  readonly flush: () => void
  chunks: Uint8Array[]
  bytes: number
  sink: Sink<Uint8Array> | undefined
  isPaused: boolean
  isFlushing: boolean
  ending: 'none' | Ending
}

/** Creates a body. `leave` is called when the reader cancels before the end. */
export function createResponseBody(control: Dispatcher.DispatchController, leave: () => void): ResponseBody {
  const source: Source<Uint8Array> = {
    read(sink) {
      body.sink = sink
      flushSoon(body)
    },
    pause() {
      body.isPaused = true
    },
    resume() {
      if (!body.isPaused) return
      body.isPaused = false
      flushSoon(body)
    },
    cancel() {
      body.sink = undefined
      body.chunks = noChunks
      body.bytes = 0
      if (body.ending === 'none') leave()
      body.ending = 'ended'
    },
  }
  const body: ResponseBody = {
    source,
    control,
    flush() {
      body.isFlushing = false
      if (body.isPaused) return
      const { chunks, bytes } = body
      const [first] = chunks
      if (first !== undefined) {
        body.chunks = noChunks
        body.bytes = 0
        if (control.paused) control.resume()
        body.sink?.next(chunks.length === 1 ? first : Buffer.concat(chunks, bytes))
      }
      if (!body.isPaused && body.chunks.length === 0 && body.ending !== 'none') endReading(body, body.ending)
    },
    chunks: noChunks,
    bytes: 0,
    sink: undefined,
    isPaused: false,
    isFlushing: false,
    ending: 'none',
  }
  return body
}

export function pushChunk(body: ResponseBody, chunk: Uint8Array): void {
  // A list that is emptied and filled again has room for 17.
  if (body.chunks.length === 0) body.chunks = [chunk]
  else body.chunks.push(chunk)
  body.bytes += chunk.length
  if (body.bytes >= highWaterBytes) body.control.pause()
  if (!body.isPaused && !body.isFlushing) flushSoon(body)
}

export function endBody(body: ResponseBody): void {
  body.ending = 'ended'
  flushSoon(body)
}

export function failBody(body: ResponseBody, error: Error): void {
  body.ending = { error }
  flushSoon(body)
}

/** Flushes in a microtask, after all chunks of one socket read, so that they become one batch. */
function flushSoon(body: ResponseBody): void {
  if (body.isFlushing || body.sink === undefined) return
  body.isFlushing = true
  queueMicrotask(body.flush)
}

function endReading(body: ResponseBody, ending: Ending): void {
  const { sink } = body
  body.sink = undefined
  if (ending === 'ended') sink?.end()
  else sink?.fail(ending.error)
}
