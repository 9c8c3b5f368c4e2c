import type { Awaitable } from './awaitable.ts'

/**
 * A durable place beside the store, for what the store cannot take now: it works while the store is locked, and outlives the
 * process. Each process has one of its own; what a process that is gone has left is adopted by exactly one other.
 */
export interface SpoolStore {
  /** Resolves once the lines outlive the process. */
  append(lines: readonly string[]): Awaitable<void>
  /** Forgets all lines of this process. */
  clear(): Awaitable<void>
  /** Lines that processes which are gone have left. They are this process's from now on, until `clear`. */
  adopt(): Awaitable<readonly string[]>
}
