import cluster from 'node:cluster'
import type { ChangeChannel } from '@signalbox/storage/compose'
import type { Environment } from '../environment.ts'
import { StartError } from '../fault.ts'
import type { Sink } from '../log.ts'
import { type StandaloneServer, start } from '../server.ts'
import type { WorkerCommand, WorkerReport } from './messages.ts'

/** Input of a worker other than the config, which the primary sends. */
export interface WorkerContext {
  readonly environment: Environment
  readonly version: string
  readonly sink: Sink
}

interface WorkerState extends WorkerContext {
  /** Set by the first command. */
  server: Promise<StandaloneServer> | undefined
  /** How long running requests may go on if the primary is killed. */
  graceMs: number
}

/**
 * Runs a worker: a server that shares its port with the primary's other workers, and follows the primary's commands. Signals from a
 * terminal or service manager reach the whole process group; only the primary reacts to them.
 */
export function runWorker(context: WorkerContext): void {
  const state: WorkerState = { ...context, server: undefined, graceMs: 0 }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('message', (command: WorkerCommand) => void obey(state, command))
  const { worker } = cluster
  worker?.on('disconnect', () => {
    if (!state.server || worker.exitedAfterDisconnect) return
    // The primary was killed. Without this, Node would end the process along with its requests.
    worker.exitedAfterDisconnect = true
    void obey(state, { type: 'stop', graceMs: state.graceMs })
  })
}

async function obey(state: WorkerState, command: WorkerCommand): Promise<void> {
  try {
    if (command.type === 'start') await begin(state, command)
    else if (command.type === 'catalog') (await state.server)?.reloadCatalog({ logs: command.logs })
    else if (command.type !== 'changes') await end(state, command)
  } catch (error) {
    await reportFailure(error)
  }
}

async function begin(state: WorkerState, { config, isFirst }: Extract<WorkerCommand, { readonly type: 'start' }>): Promise<void> {
  const { environment, version, sink } = state
  const id = cluster.worker?.id ?? 0
  state.graceMs = config.timeouts.shutdown_ms
  state.server = start(config, { environment, version, sink, worker: { id, isFirst, channel: primaryChannel } })
  const { announcement: message, showsKeys } = await state.server
  await report({ type: 'listening', message, showsKeys })
}

async function end({ server }: WorkerState, { type, graceMs }: Extract<WorkerCommand, { readonly type: 'drain' | 'stop' }>): Promise<void> {
  const running = await server
  if (type === 'drain') await running?.drain({ graceMs })
  else await running?.stop({ graceMs })
  process.exit(0)
}

/** Record changes are sent to the other workers through the primary. */
const primaryChannel: ChangeChannel = {
  publish: changes => report({ type: 'changes', changes }),
  subscribe(listener) {
    const listen = (command: WorkerCommand): void => {
      if (command.type === 'changes') listener(command.changes)
    }
    process.on('message', listen)
    return () => void process.off('message', listen)
  },
}

/** A StartError is one line, which the primary prints; any other error is a bug and is printed with its stack. */
async function reportFailure(error: unknown): Promise<void> {
  if (error instanceof StartError) await report({ type: 'failed', message: error.message })
  else console.error(error)
  process.exit(1)
}

/** Resolves when the report is sent, or cannot be sent because the primary is gone. */
const report = (message: WorkerReport): Promise<void> =>
  new Promise(resolve => {
    if (process.connected) process.send?.(message, undefined, {}, () => resolve())
    else resolve()
  })
