import type { Awaitable } from '@signalbox/storage'
import type { Verb } from './verb.ts'

/** A database that runs verbs. */
export interface Connection {
  /** Runs a verb in one transaction, and returns once it is committed. */
  write<T>(verb: Verb<T>): Awaitable<T>
  /** Runs a read-only verb. Its statements see the same state of the database. */
  read<T>(verb: Verb<T>): Awaitable<T>
  /** Yields to others between the steps of a long read. */
  pause(): Awaitable<void>
  /** Hours of usage per step of a read: a step blocks the event loop, or costs a round trip. */
  readonly hoursPerStep: number
}
