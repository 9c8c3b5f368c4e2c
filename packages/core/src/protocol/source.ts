/**
 * Values that are pushed at one reader as they come, without a promise for each. The reader may pause it. Nothing is pushed before
 * `read`; after `cancel` nothing is pushed any more.
 *
 * @example
 * source.read({ next: chunk => socket.write(chunk), end: () => socket.end(), fail: error => socket.destroy(error) })
 */
export interface Source<T> {
  /** Begins, and may push at once. Called once. */
  read(sink: Sink<T>): void
  /** Nothing more is pushed until `resume`. */
  pause(): void
  resume(): void
  /** Closes what stands behind the source. */
  cancel(): void
}

/** The reader of a source. Its functions do not throw. */
export interface Sink<T> {
  next(value: T): void
  /** The last call, unless it is `fail`. */
  end(): void
  fail(error: unknown): void
}
