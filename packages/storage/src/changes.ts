import type { Awaitable } from './awaitable.ts'

/** A record that was created, changed or removed. It names the record, and holds nothing of it. */
export interface RecordChange {
  readonly kind: string
  readonly workspaceId: string
  readonly id: string
}

/** Called with the records of one commit; without them if messages may have been lost, so that any record may have changed. */
export type ChangeListener = (changes?: readonly RecordChange[]) => void

/**
 * Reports commits of records, so that processes can drop what they have cached of them. A message may come twice, late or never:
 * what a process caches also has to expire.
 *
 * @example
 * const stop = storage.changes?.subscribe(changes => (changes ?? everything).forEach(forget))
 */
export interface ChangeFeed {
  /** Calls `listener` after every commit of this or another process, until the function that it returns is called. */
  subscribe(listener: ChangeListener): () => void
}

/** The way to other processes that a change feed takes. */
export interface ChangeChannel {
  /** Sends the changes of one commit to all other processes; undefined tells them that messages may have been lost. */
  publish(changes: readonly RecordChange[] | undefined): Awaitable<void>
  /** Calls `listener` for what other processes publish, and without changes whenever it has begun to listen (again). */
  subscribe(listener: ChangeListener): () => void
}
