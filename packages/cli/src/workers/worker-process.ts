import cluster from 'node:cluster'
import { StartError } from '../fault.ts'
import type { Config } from '../schema.ts'
import { returnHandoffs } from './handoffs.ts'
import { type ChangesMessage, type WorkerCommand, type WorkerReport, workerVariable } from './messages.ts'

/** How a worker ended. */
export interface WorkerExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A worker process as seen by the primary. */
export interface WorkerProcess {
  /** Unique during the primary's lifetime. */
  readonly id: number
  readonly pid: number | undefined
  /** The config number: workers of one generation share it. */
  readonly generation: number
  /** Consecutive quick deaths in its place before it. */
  readonly quickDeaths: number
  state: 'starting' | 'serving' | 'draining'
  readonly config: Config
  /** When it started serving, in monotonic milliseconds. */
  servingSince: number | undefined
  /** Why it could not start. */
  failure: string | undefined
  /** Resolves once it listens. Rejects with a StartError if it ends before. */
  readonly listening: Promise<StartMessage>
  readonly exited: Promise<WorkerExit>
  send(command: WorkerCommand): void
  kill(): void
}

/** The start message of a worker. */
interface StartMessage {
  readonly message: string
  /** Whether it shows a key that this start created. */
  readonly showsKeys: boolean
}

/** Input for starting a worker. */
export interface WorkerStart {
  readonly config: Config
  readonly generation: number
  readonly isFirst: boolean
  readonly quickDeaths?: number
}

/** Maximum milliseconds of a start; the first start of a new version may have to migrate a large database. */
const maxStartMs = 600_000

/** Forks a worker, which begins to start. `onChanges` receives the changes to forward to the other workers. */
export function forkWorker(start: WorkerStart, onChanges: (from: WorkerProcess, message: ChangesMessage) => void): WorkerProcess {
  const { config, generation, isFirst, quickDeaths = 0 } = start
  const forked = cluster.fork({ [workerVariable]: '1' })
  returnHandoffs(forked)
  // Errors of sending mean that the worker is ending, which `exited` reports.
  forked.on('error', () => {})
  const { promise: listening, resolve: listens, reject } = Promise.withResolvers<StartMessage>()
  const worker: WorkerProcess = {
    id: forked.id,
    pid: forked.process.pid,
    generation,
    quickDeaths,
    state: 'starting',
    config,
    servingSince: undefined,
    failure: undefined,
    listening,
    exited: exitOf(forked.process),
    send: command => void (forked.isConnected() && forked.send(command)),
    kill: () => void forked.process.kill('SIGKILL'),
  }
  const timer = setTimeout(() => {
    worker.failure = `Worker ${worker.id} did not start listening within ${maxStartMs / 1000} s.`
    worker.kill()
  }, maxStartMs)
  forked.on('message', (report: WorkerReport) => {
    if (report.type === 'changes') onChanges(worker, report)
    else if (report.type === 'failed') worker.failure = report.message
    else {
      if (worker.state === 'starting') worker.state = 'serving'
      worker.servingSince = performance.now()
      listens(report)
    }
  })
  void Promise.race([listening.catch(() => {}), worker.exited]).finally(() => clearTimeout(timer))
  void worker.exited.then(exit =>
    reject(new StartError(worker.failure ?? `Worker ${worker.id} exited before it was listening: ${exitText(exit)}.`)),
  )
  worker.send({ type: 'start', config, isFirst })
  return worker
}

/** Resolves once the process has ended and everything it sent has been read. */
async function exitOf(child: NodeJS.EventEmitter): Promise<WorkerExit> {
  const disconnect = new Promise<void>(resolve => void child.once('disconnect', () => resolve()))
  const exit = await new Promise<WorkerExit & { readonly hasStarted: boolean }>(resolve => {
    child.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal, hasStarted: true }))
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall?.startsWith('spawn')) resolve({ code: null, signal: error.code ?? null, hasStarted: false })
    })
  })
  if (exit.hasStarted) await disconnect
  return exit
}

/** How a worker ended, for a message: `signal SIGKILL`, `exit code 1`. */
export const exitText = ({ code, signal }: WorkerExit): string => (signal === null ? `exit code ${code}` : `signal ${signal}`)
