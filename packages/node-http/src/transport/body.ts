import type { Dispatcher } from 'undici'

/** Bytes of one answer, pushed in by the socket and pulled out by the reader. */
export interface Body {
  push(chunk: Uint8Array): void
  end(): void
  fail(error: Error): void
  readonly iterator: AsyncIterator<Uint8Array, undefined>
}

/** Waiting bytes beyond which the socket is not read any further. */
const highWater = 65_536

type Step = IteratorResult<Uint8Array, undefined>

/** `leave` is called when the reader goes before the end. */
export function openBody(control: Dispatcher.DispatchController, leave: () => void): Body {
  let queue: Uint8Array[] = []
  let bytes = 0
  let state: 'open' | 'ended' | 'failed' = 'open'
  let error: Error | undefined
  let wake: (() => void) | undefined

  const rouse = (): void => {
    const run = wake
    wake = undefined
    run?.()
  }

  /** Everything that is there, as one: what one read of the socket brought is one batch for all that follows. */
  const take = (): Step => {
    const [first] = queue
    if (first !== undefined) {
      const value = queue.length === 1 ? first : Buffer.concat(queue, bytes)
      queue = []
      bytes = 0
      if (control.paused) control.resume()
      return { done: false, value }
    }
    if (error !== undefined) throw error
    return { done: true, value: undefined }
  }

  return {
    push(chunk) {
      queue.push(chunk)
      bytes += chunk.length
      if (bytes >= highWater) control.pause()
      rouse()
    },
    end() {
      state = 'ended'
      rouse()
    },
    fail(why) {
      state = 'failed'
      error = why
      rouse()
    },
    iterator: {
      async next() {
        // Woken in a microtask, so after all chunks of one read of the socket have been pushed.
        if (queue.length === 0 && state === 'open') await new Promise<void>(resolve => (wake = resolve))
        return take()
      },
      async return() {
        if (state === 'open') {
          state = 'ended'
          leave()
        }
        queue = []
        bytes = 0
        error = undefined
        rouse()
        return { done: true, value: undefined }
      },
    },
  }
}
