import cluster from 'node:cluster'
import type { RecordChange } from '@signalbox/storage/compose'
import type { Environment } from '../environment.ts'
import type { Config } from '../schema.ts'

/** What the primary tells a worker. */
export type WorkerCommand =
  | ChangesMessage
  | {
      readonly type: 'start'
      readonly config: Config
      /** It is the first of its config: it creates the workspace and the key if there are none, and writes the start message. */
      readonly isFirst: boolean
    }
  /** The catalog file changed. One worker logs what came of it. */
  | { readonly type: 'catalog'; readonly logs: boolean }
  /** Accept no connection, serve those that are open until they end, then exit. After `graceMs` requests are cut. */
  | { readonly type: 'drain'; readonly graceMs: number }
  /** Refuse new work, give running requests `graceMs`, then exit. */
  | { readonly type: 'stop'; readonly graceMs: number }

/** Records that a worker has changed, on their way through the primary to the others. Without them any may have changed. */
export interface ChangesMessage {
  readonly type: 'changes'
  readonly changes: readonly RecordChange[] | undefined
}

/** What a worker reports. */
export type WorkerReport =
  | ChangesMessage
  | { readonly type: 'listening'; readonly message: string; readonly showsKeys: boolean }
  /** It cannot start, and exits. */
  | { readonly type: 'failed'; readonly message: string }

/** The variable that marks a process as a worker of this program: process managers start programs by `node:cluster` too. */
export const workerVariable = 'SIGNALBOX_WORKER'

/** Whether this process is a worker that a primary of this program has started. */
export const isWorker = (environment: Environment): boolean => cluster.isWorker && environment[workerVariable] !== undefined
