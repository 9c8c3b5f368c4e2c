import type { Awaitable } from './awaitable.ts'

/** Identifies a record that was created, changed or removed. Does not contain the record. */
export interface RecordChange {
  readonly kind: string
  readonly workspaceId: string
  readonly id: string
}

/** Called with the records of one commit, or with undefined if messages may have been lost, so that any record may have changed. */
export type ChangeListener = (changes?: readonly RecordChange[]) => void

/**
 * Reports commits of records, so that processes can drop cached copies. A message may arrive twice, late or never, so caches must also
 * expire.
 *
 * @example
 * const stop = storage.changes?.subscribe(changes => (changes ?? everything).forEach(forget))
 */
export interface ChangeFeed {
  /** Calls `listener` after every commit of this or another process. Returns a function that unsubscribes. */
  subscribe(listener: ChangeListener): () => void
}

/** The channel through which a change feed reaches other processes. */
export interface ChangeChannel {
  /** Sends the changes of one commit to all other processes; undefined means that messages may have been lost. */
  publish(changes: readonly RecordChange[] | undefined): Awaitable<void>
  /** Calls `listener` with what other processes publish, and with undefined whenever it starts listening (again). */
  subscribe(listener: ChangeListener): () => void
}
