import type { Awaitable } from './awaitable.ts'
import type { ChangeChannel } from './changes.ts'
import type { CounterStore } from './counters.ts'
import type { RoutingStore } from './routing.ts'

/**
 * Stores for data that may be lost: limits of the current minute, slots of running requests, routing state, and change messages. They run
 * on a fast server without durability; `composeStorage` combines them with a durable storage.
 *
 * Every method settles within a bounded time (for example a quarter of a second), and rejects with an `EphemeralError` if it failed. A
 * rejected call may have been executed nevertheless.
 */
export interface EphemeralStores {
  readonly counters: CounterStore
  /** If undefined, routing state stays in the durable storage, if it supports it. */
  readonly routing?: RoutingStore
  /** If undefined, processes notice record changes only when their caches expire. */
  readonly changes?: ChangeChannel
  /** The last known number of processes that use these stores, at least 1. Default: 1. */
  processes?(): number
  /** The last known state of a counter; undefined if unknown, or if its window is over. The fallback starts from it. */
  known?(key: string): KnownCounter | undefined
  /** Succeeds if the other methods can succeed now. Unlike `Storage.ping`, it may write. */
  probe(): Awaitable<void>
  close(): Awaitable<void>
}

/** The last known state of a counter. */
export interface KnownCounter {
  readonly used: number
  /** Milliseconds from now until its window ends. */
  readonly leftMs: number
}

/**
 * How ephemeral stores fail: `unreachable` – no connection; `silent` – no response in time; `refusing` – the server responds but cannot
 * execute commands now (read-only, out of memory, loading); `damaged` – one entry has invalid content, and all others are usable.
 */
export type EphemeralFailure = 'unreachable' | 'silent' | 'refusing' | 'damaged'

/** The error of an ephemeral store. Its message names the server, without credentials, and a remedy. */
export class EphemeralError extends Error {
  readonly failure: EphemeralFailure

  /** `new EphemeralError('silent', 'redis at 10.0.0.5:6379: no answer within 250 ms.')` */
  constructor(failure: EphemeralFailure, message: string) {
    super(message)
    this.name = 'EphemeralError'
    this.failure = failure
  }
}
