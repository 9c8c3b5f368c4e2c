import cluster from 'node:cluster'
import type { RecordChange } from '@signalbox/storage/compose'
import type { Environment } from '../environment.ts'
import type { Config } from '../schema.ts'

/** A command from the primary to a worker. */
export type WorkerCommand =
  | ChangesMessage
  | {
      readonly type: 'start'
      readonly config: Config
      /** Whether it is the first of its config: it creates the workspace and the key if missing, and writes the start message. */
      readonly isFirst: boolean
    }
  /** The catalog file changed. One worker logs the result. */
  | { readonly type: 'catalog'; readonly logs: boolean }
  /** Accept no connections, serve the open ones until they end, then exit. After `graceMs` requests are cut off. */
  | { readonly type: 'drain'; readonly graceMs: number }
  /** Reject new work, give running requests `graceMs` to finish, then exit. */
  | { readonly type: 'stop'; readonly graceMs: number }

/** Records changed by a worker, sent through the primary to the others. Without a list, any record may have changed. */
export interface ChangesMessage {
  readonly type: 'changes'
  readonly changes: readonly RecordChange[] | undefined
}

/** A report from a worker. */
export type WorkerReport =
  | ChangesMessage
  | { readonly type: 'listening'; readonly message: string; readonly showsKeys: boolean }
  /** It cannot start, and exits. */
  | { readonly type: 'failed'; readonly message: string }

/** The variable that marks a process as a worker of this program, because process managers use `node:cluster` too. */
export const workerVariable = 'SIGNALBOX_WORKER'

/** Whether this process is a worker that a primary of this program has started. */
export const isWorker = (environment: Environment): boolean => cluster.isWorker && environment[workerVariable] !== undefined
