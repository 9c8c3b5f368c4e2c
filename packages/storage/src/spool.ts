import type { Awaitable } from './awaitable.ts'

/**
 * A durable queue for writes that the store cannot accept now: it works while the store is locked, and survives the process. Each process
 * has its own; the lines of an ended process are adopted by exactly one other.
 */
export interface SpoolStore {
  /** Resolves once the lines are durable. */
  append(lines: readonly string[]): Awaitable<void>
  /** Removes all lines of this process. */
  clear(): Awaitable<void>
  /** Takes over the lines of ended processes. They belong to this process until `clear`. */
  adopt(): Awaitable<readonly string[]>
  /** Tries to write, and leaves nothing behind. Fails if an append would fail now. Absent: a failure shows at the first append. */
  check?(): Awaitable<void>
}
