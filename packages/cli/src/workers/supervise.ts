import { StartError } from '../fault.ts'
import { activeWorkers, type PrimaryState } from './primary-state.ts'
import { workerCount } from './worker-count.ts'
import { exitText, forkWorker, type WorkerExit, type WorkerProcess, type WorkerStart } from './worker-process.ts'

/** Milliseconds of service below which an ended worker counts as having died at once. */
const youngMs = 3_000
/** Consecutive quick deaths in one place after which the server ends with their error. */
const maxQuickDeaths = 5
/** Milliseconds until a place is refilled: none after a worker that served, otherwise doubling with each quick death. */
const backoff = { firstMs: 250, maxMs: 4_000 } as const

/**
 * Starts a worker, and another one in its place if it ends without a command. One on trial is only replaced after it has served: if it
 * cannot start, `listening` rejects, and the caller decides.
 */
export function startWorker(state: PrimaryState, start: WorkerStart, { isTrial = false } = {}): WorkerProcess {
  const worker = forkWorker(start, (from, message) => {
    for (const other of state.workers) if (other !== from) other.send(message)
  })
  state.workers.add(worker)
  worker.listening.then(
    () => state.logger.info({ worker: worker.id, pid: worker.pid }, 'A worker listens.'),
    () => {},
  )
  void worker.exited.then(exit => {
    state.workers.delete(worker)
    if (state.phase === 'stopping' || (isTrial && worker.state === 'starting')) return
    if (worker.state === 'draining')
      state.logger.info({ worker: worker.id, end: exitText(exit) }, 'A worker has finished its last request.')
    else replaceWorker(state, worker, exit)
  })
  return worker
}

/** Starts workers with the current config until there are as many as configured. */
export function fillPlaces(state: PrimaryState, quickDeaths = 0): void {
  const { config, generation, phase } = state
  if (phase === 'stopping') return
  for (let missing = workerCount(config) - activeWorkers(state).length; missing > 0; missing--)
    startWorker(state, { config, generation, isFirst: false, quickDeaths })
}

function replaceWorker(state: PrimaryState, worker: WorkerProcess, exit: WorkerExit): void {
  const { id, pid, servingSince, failure } = worker
  const isQuick = servingSince === undefined || performance.now() - servingSince < youngMs
  const quickDeaths = isQuick ? worker.quickDeaths + 1 : 0
  const facts = { worker: id, pid, end: exitText(exit), ...(failure !== undefined && { error: failure }) }
  if (quickDeaths >= maxQuickDeaths) {
    state.logger.error(facts, `${maxQuickDeaths} workers in a row exited right after their start; the server stops.`)
    state.fail(new StartError(failure ?? `Workers exit right after their start; the last one ended with ${exitText(exit)}.`))
    return
  }
  const waitMs = quickDeaths === 0 ? 0 : Math.min(backoff.firstMs * 2 ** (quickDeaths - 1), backoff.maxMs)
  state.logger.error({ ...facts, wait_ms: waitMs }, 'A worker exited unexpectedly and is being replaced.')
  setTimeout(() => fillPlaces(state, quickDeaths), waitMs)
}
