/**
 * A stream of values pushed to a single reader, without a promise per value. The reader may pause it. Nothing is pushed before `read` or
 * after `cancel`.
 *
 * @example
 * source.read({ next: chunk => socket.write(chunk), end: () => socket.end(), fail: error => socket.destroy(error) })
 */
export interface Source<T> {
  /** Starts pushing, possibly before it returns. Called once. */
  read(sink: Sink<T>): void
  /** Stops pushing until `resume`. A value that is under way may still arrive, and so may the end. */
  pause(): void
  resume(): void
  /** Closes the underlying connection or iterator. */
  cancel(): void
}

/** The reader of a source. Its functions do not throw. */
export interface Sink<T> {
  /** `time`: when the value arrived, in monotonic milliseconds, if that is known. Saves the sink a clock read. */
  next(value: T, time?: number): void
  /** The last call, unless `fail` is called instead. */
  end(): void
  fail(error: unknown): void
}
