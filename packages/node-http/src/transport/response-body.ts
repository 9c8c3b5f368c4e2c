import type { Sink, Source } from '@signalbox/core/protocol'
import type { Dispatcher } from 'undici'

/** The body of one response: the socket pushes bytes in, and the reader receives bytes that arrived together as one batch. */
export interface ResponseBody {
  push(chunk: Uint8Array): void
  end(): void
  fail(error: Error): void
  readonly source: Source<Uint8Array>
}

/** Buffered bytes at which the socket is paused. */
const highWaterBytes = 65_536

interface BodyState {
  readonly control: Dispatcher.DispatchController
  readonly chunks: Uint8Array[]
  bytes: number
  sink: Sink<Uint8Array> | undefined
  isPaused: boolean
  isFlushing: boolean
  ending: 'none' | 'ended' | { readonly error: Error }
}

/** Creates a body. `leave` is called when the reader cancels before the end. */
export function createResponseBody(control: Dispatcher.DispatchController, leave: () => void): ResponseBody {
  const state: BodyState = { control, chunks: [], bytes: 0, sink: undefined, isPaused: false, isFlushing: false, ending: 'none' }
  const flushNow = (): void => flush(state)
  /** Flushes in a microtask, after all chunks of one socket read, so that they become one batch. */
  const flushSoon = (): void => {
    if (state.isFlushing || state.sink === undefined) return
    state.isFlushing = true
    queueMicrotask(flushNow)
  }
  return {
    push(chunk) {
      state.chunks.push(chunk)
      state.bytes += chunk.length
      if (state.bytes >= highWaterBytes) control.pause()
      if (!state.isPaused && !state.isFlushing) flushSoon()
    },
    end() {
      state.ending = 'ended'
      flushSoon()
    },
    fail(error) {
      state.ending = { error }
      flushSoon()
    },
    source: {
      read(sink) {
        state.sink = sink
        flushSoon()
      },
      pause() {
        state.isPaused = true
      },
      resume() {
        if (!state.isPaused) return
        state.isPaused = false
        flushSoon()
      },
      cancel() {
        state.sink = undefined
        state.chunks.length = 0
        state.bytes = 0
        if (state.ending === 'none') leave()
        state.ending = 'ended'
      },
    },
  }
}

function flush(state: BodyState): void {
  state.isFlushing = false
  if (state.isPaused) return
  const { chunks, control } = state
  const [first] = chunks
  if (first !== undefined) {
    const value = chunks.length === 1 ? first : Buffer.concat(chunks, state.bytes)
    chunks.length = 0
    state.bytes = 0
    if (control.paused) control.resume()
    state.sink?.next(value)
  }
  if (state.isPaused || chunks.length > 0 || state.ending === 'none') return
  const { sink, ending } = state
  state.sink = undefined
  if (ending === 'ended') sink?.end()
  else sink?.fail(ending.error)
}
