import { availableParallelism } from 'node:os'
import { StartError, shown } from '../fault.ts'
import type { Config } from '../schema.ts'
import { namedStorage } from '../storage.ts'

/** Whether a primary runs the server: also for `auto` on a machine with one core, so that signals mean the same everywhere. */
export const hasPrimary = ({ workers }: Pick<Config, 'workers'>): boolean => workers !== 1

/** The number of workers: `auto` is the number of cores that the process may use. */
export const workerCount = ({ workers }: Pick<Config, 'workers'>): number => (workers === 'auto' ? availableParallelism() : workers)

/**
 * Checks that several workers can share the storage.
 *
 * @throws {StartError} Each process would have its own storage.
 */
export function checkWorkers({ workers, storage }: Pick<Config, 'workers' | 'storage'>): void {
  if (workers === 1 || namedStorage(storage).scheme.reach !== 'process') return
  throw new StartError(
    `\`workers\` is ${shown(workers, 'workers')} and \`storage\` is "memory:", which is separate in each process: keys, limits and credit would differ between workers. Set \`storage\` (SIGNALBOX_STORAGE) to a shared storage such as "sqlite:signalbox.db", or \`workers\` (SIGNALBOX_WORKERS) to 1.`,
  )
}
