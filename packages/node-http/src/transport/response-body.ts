import type { Sink, Source } from '@signalbox/dialects/protocol'
import type { Dispatcher } from 'undici'

/** Buffered bytes at which the socket is paused. */
const highWaterBytes = 65_536
const noChunks: Uint8Array[] = []

/** The body of one response: the socket pushes bytes in, and the reader receives bytes that arrived together as one batch. */
export class ResponseBody implements Source<Uint8Array> {
  readonly #control: Dispatcher.DispatchController
  readonly #leave: () => void
  #chunks = noChunks
  #bytes = 0
  #sink: Sink<Uint8Array> | undefined
  #isPaused = false
  #isFlushing = false
  #ending: 'ended' | { readonly error: Error } | undefined

  /** `leave` is called when the reader cancels before the end. */
  constructor(control: Dispatcher.DispatchController, leave: () => void) {
    this.#control = control
    this.#leave = leave
  }

  push(chunk: Uint8Array): void {
    // A list that is emptied and filled again has room for 17.
    if (this.#chunks.length === 0) this.#chunks = [chunk]
    else this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= highWaterBytes) this.#control.pause()
    if (!this.#isPaused) this.#flushSoon()
  }

  end(error?: Error): void {
    this.#ending = error ? { error } : 'ended'
    this.#flushSoon()
  }

  read(sink: Sink<Uint8Array>): void {
    this.#sink = sink
    this.#flushSoon()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#flushSoon()
  }

  cancel(): void {
    this.#sink = undefined
    this.#chunks = noChunks
    this.#bytes = 0
    if (this.#ending === undefined) this.#leave()
    this.#ending = 'ended'
  }

  /** Flushes in a microtask, after all chunks of one socket read, so that they become one batch. */
  #flushSoon(): void {
    if (this.#isFlushing || this.#sink === undefined) return
    this.#isFlushing = true
    queueMicrotask(this.#flush)
  }

  // One function for the life of the response: a method would need another for each read.
  readonly #flush = (): void => {
    this.#isFlushing = false
    if (this.#isPaused) return
    const chunks = this.#chunks
    const [first] = chunks
    if (first !== undefined) {
      const bytes = this.#bytes
      this.#chunks = noChunks
      this.#bytes = 0
      if (this.#control.paused) this.#control.resume()
      this.#sink?.next(chunks.length === 1 ? first : Buffer.concat(chunks, bytes))
    }
    if (this.#isPaused || this.#chunks.length > 0 || this.#ending === undefined) return
    const sink = this.#sink
    this.#sink = undefined
    if (this.#ending === 'ended') sink?.end()
    else sink?.fail(this.#ending.error)
  }
}
