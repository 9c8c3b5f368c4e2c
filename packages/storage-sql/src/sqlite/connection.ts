import type { Awaitable } from '@signalbox/storage'
import type { Verb } from './verb.ts'

/** A database that runs verbs. */
export interface Connection {
  /** Runs a verb in one transaction, and answers once it is committed. */
  write<T>(verb: Verb<T>): Awaitable<T>
  /** Runs a verb that changes nothing. Its statements see one state of the database. */
  read<T>(verb: Verb<T>): Awaitable<T>
  /** Lets others have a turn between the steps of a long read. */
  pause(): Awaitable<void>
  /** Hours of usage that one step of a read covers: a step blocks the event loop, or costs a round trip. */
  readonly hoursPerStep: number
}
