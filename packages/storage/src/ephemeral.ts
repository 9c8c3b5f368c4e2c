import type { Awaitable } from './awaitable.ts'
import type { ChangeChannel } from './changes.ts'
import type { CounterStore } from './counters.ts'
import type { RoutingStore } from './routing.ts'

/**
 * Stores of what may be lost: limits of the current minute, slots of running requests, routing state, and messages about changes. They
 * run on a server that is fast and forgets; `composeStorage` joins them with a storage that is durable.
 *
 * Every method settles within a wait that the implementation bounds (a quarter of a second, say), and rejects with an `EphemeralError`
 * if it could not be done. A call that rejected may have been done all the same.
 */
export interface EphemeralStores {
  readonly counters: CounterStore
  /** Absent: routing state stays where the durable storage keeps it. */
  readonly routing?: RoutingStore
  /** Absent: processes see changes of records once their caches expire. */
  readonly changes?: ChangeChannel
  /** How many processes use these stores, as last known: 1 or more. Absent: one. */
  processes?(): number
  /**
   * A counter as this process last heard of it; undefined if that is unknown, or its window is over. The fallback begins there. Absent:
   * nothing is known.
   */
  known?(key: string): KnownCounter | undefined
  /** Succeeds if the other methods would now. Unlike `Storage.ping` it may write. */
  probe(): Awaitable<void>
  close(): Awaitable<void>
}

/** A counter as it was when it was last heard of. */
export interface KnownCounter {
  readonly used: number
  /** Milliseconds until its window ends, now. */
  readonly leftMs: number
}

/**
 * Why ephemeral stores did not do what they were asked: `unreachable` – no connection; `silent` – no answer within the bounded wait;
 * `refusing` – the server answers, and does nothing now (read-only, out of memory, loading); `damaged` – one entry holds what it
 * should not, all others can be used.
 */
export type EphemeralFailure = 'unreachable' | 'silent' | 'refusing' | 'damaged'

/** The error of an ephemeral store. Its message names the server, without credentials, and what can be done. */
export class EphemeralError extends Error {
  readonly failure: EphemeralFailure

  /** `new EphemeralError('silent', 'redis at 10.0.0.5:6379: no answer within 250 ms.')` */
  constructor(failure: EphemeralFailure, message: string) {
    super(message)
    this.name = 'EphemeralError'
    this.failure = failure
  }
}
