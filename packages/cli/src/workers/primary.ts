import cluster from 'node:cluster'
import { checkAddress } from '../address.ts'
import { StartError } from '../fault.ts'
import { createLog, type Sink } from '../log.ts'
import type { Config } from '../schema.ts'
import { stopOnSignals } from '../signals.ts'
import { catalogFile, watchFile } from '../watch-catalog.ts'
import { activeWorkers, type PrimaryState } from './primary-state.ts'
import { restartWorkers } from './restart.ts'
import { fillPlaces, startWorker } from './supervise.ts'
import { checkWorkers } from './worker-count.ts'

// The primary listens and hands connections to workers, and opens neither a storage nor a gateway, so little in it can fail. With
// `SO_REUSEPORT` connections in the queue of a worker that ends would be reset; with a shared listening socket the first worker that wakes
// takes them all. The first worker makes the workspace, key and sealing key; the others start after it.

/** Input of the primary. */
export interface PrimaryContext {
  readonly config: Config
  /** Reads the config again. */
  readonly readConfig: () => Config
  readonly sink: Sink
  readonly print: (text: string) => void
  /** Ends the process with an error that restarting a worker cannot fix. */
  readonly onError: (error: unknown) => void
}

/** Milliseconds beyond the grace after which a stopping worker is killed. */
const maxStopMs = 60_000

/**
 * Runs the server in worker processes that share one port. The primary serves nothing itself: it starts workers, replaces those that crash,
 * and forwards signals. Resolves when the first worker listens.
 *
 * @throws {StartError} The address cannot be used, or the first worker cannot start.
 */
export async function runPrimary({ config, readConfig, sink, print, onError }: PrimaryContext): Promise<void> {
  if (!cluster.isPrimary)
    throw new StartError(
      '`workers` must be 1 when another program runs the server as a cluster worker, as process managers do in cluster mode.',
    )
  checkWorkers(config)
  await checkAddress(config)
  // `advanced` keeps undefined fields.
  cluster.setupPrimary({ serialization: 'advanced' })
  const state: PrimaryState = {
    config,
    generation: 1,
    phase: 'running',
    workers: new Set(),
    logger: createLog(sink).logger,
    unwatch: () => {},
    print,
    fail: error =>
      void stopWorkers(state)
        .catch(() => {})
        .then(() => onError(error)),
  }
  watchCatalogOf(state)
  stopOnSignals({ stop: () => stopWorkers(state), graceMs: config.timeouts.shutdown_ms, abandon: () => abandonWorkers(state), onError })
  process.on('SIGHUP', restarter(state, readConfig))
  try {
    const { message } = await startWorker(state, { config, generation: 1, isFirst: true }, { isTrial: true }).listening
    print(message)
    fillPlaces(state)
  } catch (error) {
    if (state.phase === 'running') throw error
  }
}

/** Runs one restart at a time. Signals during a restart cause one more, which reads the config again. */
function restarter(state: PrimaryState, readConfig: () => Config): () => void {
  let isRestarting = false
  let isAskedAgain = false
  const run = async (): Promise<void> => {
    isRestarting = true
    do {
      isAskedAgain = false
      await restartWorkers(state, readConfig)
      watchCatalogOf(state)
    } while (isAskedAgain && state.phase === 'running')
    isRestarting = false
  }
  return () => {
    if (isRestarting) isAskedAgain = true
    else if (state.phase === 'running') void run()
  }
}

/** Watches the catalog file of the current config, for all workers. */
function watchCatalogOf(state: PrimaryState): void {
  state.unwatch()
  state.unwatch = watchFile(catalogFile(state.config.catalog), () => {
    for (const [at, worker] of activeWorkers(state).entries()) worker.send({ type: 'catalog', logs: at === 0 })
  })
}

/** Ends all workers the way a single process ends. Rejects if one of them failed to. */
async function stopWorkers(state: PrimaryState): Promise<void> {
  state.phase = 'stopping'
  state.unwatch()
  const workers = [...state.workers]
  const graceMs = state.config.timeouts.shutdown_ms
  for (const worker of workers) worker.send({ type: 'stop', graceMs })
  const timer = setTimeout(() => abandonWorkers(state), graceMs + maxStopMs)
  const exits = await Promise.all(workers.map(({ exited }) => exited))
  clearTimeout(timer)
  const failed = exits.filter(({ code }) => code !== 0).length
  if (failed > 0) throw new StartError(`${failed} of ${exits.length} workers did not exit by themselves.`)
}

function abandonWorkers({ workers }: PrimaryState): void {
  for (const worker of workers) worker.kill()
}
