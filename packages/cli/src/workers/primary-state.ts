import type { Logger } from '@signalbox/core/runtime'
import type { Config } from '../schema.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The state of the primary. */
export interface PrimaryState {
  /** The config for new workers: the last one that a worker could start with. */
  readonly config: Config
  /** Number of configs used so far. */
  readonly generation: number
  phase: 'running' | 'stopping'
  /** All workers that have not ended. */
  readonly workers: Set<WorkerProcess>
  readonly logger: Logger
  /** Stops watching the catalog file. */
  unwatch: () => void
  print(text: string): void
  /** Ends the server with an error. */
  fail(error: unknown): void
}

/** Workers that accept connections or will, the oldest first. */
export const activeWorkers = ({ workers }: PrimaryState): readonly WorkerProcess[] =>
  [...workers].filter(({ state }) => state !== 'draining')
