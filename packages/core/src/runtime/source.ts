import type { Sink, Source } from '@signalbox/dialects/protocol'
import { promised } from '@signalbox/storage/awaitable'

/** Turns an async iterator into a source. The next value is requested once the previous one was pushed and the source is not paused. */
export function sourceOf<T>(iterator: AsyncIterator<T, undefined>): Source<T> {
  let isPaused = false
  let isCancelled = false
  let wake = (): void => {}
  const resumed = async (): Promise<void> => {
    while (isPaused)
      await new Promise<void>(resolve => {
        wake = resolve
      })
  }
  const push = async (sink: Sink<T>): Promise<void> => {
    try {
      for (;;) {
        if (isPaused) await resumed()
        if (isCancelled) return
        const step = await iterator.next()
        if (isPaused) await resumed()
        if (isCancelled) return
        if (step.done) break
        sink.next(step.value)
      }
    } catch (error) {
      if (!isCancelled) sink.fail(error)
      return
    }
    sink.end()
  }
  return {
    read: sink => void push(sink),
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      wake()
    },
    cancel: () => {
      isCancelled = true
      // An error while closing the iterator is ignored: the source is cancelled anyway.
      void promised(() => iterator.return?.()).catch(() => {})
    },
  }
}

/** A read that waits for its value. */
interface PendingRead<T> {
  readonly resolve: (step: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

/** Turns a source into an async iterator. The source is paused while no read is pending. `return()` cancels it. */
export function iteratorOf<T>(source: Source<T>): AsyncIterator<T, undefined> {
  const values: T[] = []
  const waiting: PendingRead<T>[] = []
  let isBegun = false
  let end: 'none' | 'ended' | { readonly error: unknown } = 'none'
  const endReads = (): void => {
    for (const { resolve } of waiting.splice(0)) resolve({ done: true, value: undefined })
  }
  const sink: Sink<T> = {
    next(value) {
      const read = waiting.shift()
      if (waiting.length === 0) source.pause()
      if (read === undefined) values.push(value)
      else read.resolve({ done: false, value })
    },
    end() {
      if (end === 'none') end = 'ended'
      endReads()
    },
    fail(error) {
      const read = waiting.shift()
      end = read === undefined ? { error } : 'ended'
      read?.reject(error)
      endReads()
    },
  }
  return {
    next() {
      if (values.length > 0) return Promise.resolve({ done: false, value: values.shift() as T })
      if (end === 'ended') return Promise.resolve({ done: true, value: undefined })
      if (end !== 'none') {
        const { error } = end
        end = 'ended'
        return Promise.reject(error)
      }
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        if (isBegun) return source.resume()
        isBegun = true
        source.read(sink)
      })
    },
    return() {
      if (end === 'none') source.cancel()
      values.length = 0
      sink.end()
      return Promise.resolve({ done: true, value: undefined })
    },
  }
}

/** Turns a source or async iterator into a source whose functions do not throw. */
export const asSource = <T>(values: Source<T> | AsyncIterator<T, undefined>): Source<T> =>
  'read' in values ? guardSource(values) : sourceOf(values)

/** Wraps a foreign source: if one of its functions throws, it is cancelled and the reader's `fail` is called. */
function guardSource<T>(source: Source<T>): Source<T> {
  let sink: Sink<T> | undefined
  const cancel = (): void => {
    sink = undefined
    try {
      source.cancel()
    } catch {
      // The source is abandoned anyway.
    }
  }
  const broken = (error: unknown): void => {
    const reader = sink
    cancel()
    // Deferred, because the reader itself may be the caller.
    queueMicrotask(() => reader?.fail(error))
  }
  const call = (verb: 'pause' | 'resume'): void => {
    try {
      source[verb]()
    } catch (error) {
      broken(error)
    }
  }
  return {
    read(reader) {
      sink = reader
      try {
        source.read(reader)
      } catch (error) {
        broken(error)
      }
    },
    pause: () => call('pause'),
    resume: () => call('resume'),
    cancel,
  }
}

/** Turns a source or async iterator into an async iterator. */
export const asIterator = <T>(values: Source<T> | AsyncIterator<T, undefined>): AsyncIterator<T, undefined> =>
  'read' in values ? iteratorOf(values) : values
