import type { Logger } from '@signalbox/core/runtime'
import type { Config } from '../schema.ts'
import type { WorkerProcess } from './worker-process.ts'

/** What the primary knows. */
export interface PrimaryState {
  /** What a worker is started with: the last config that one could start with. */
  readonly config: Config
  /** Counts the configs that came into use. */
  readonly generation: number
  phase: 'running' | 'stopping'
  /** All that have not ended. */
  readonly workers: Set<WorkerProcess>
  readonly logger: Logger
  /** Stops to watch the catalog file. */
  unwatch: () => void
  print(text: string): void
  /** Ends the server with an error. */
  fail(error: unknown): void
}

/** Workers that accept connections or will, the oldest first. */
export const activeWorkers = ({ workers }: PrimaryState): readonly WorkerProcess[] =>
  [...workers].filter(({ state }) => state !== 'draining')
