import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The requests that a child process supports, by name. Values are sent as JSON. */
export type Verbs = Readonly<Record<string, (input: never) => unknown>>

export interface Child<V extends Verbs> {
  readonly pid: number
  ask<Name extends keyof V & string>(verb: Name, input: Parameters<V[Name]>[0]): Promise<Awaited<ReturnType<V[Name]>>>
  stop(): Promise<void>
}

interface Question {
  readonly id: number
  readonly verb: string
  readonly input: unknown
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** The child's side: responds until the parent disconnects. */
export function serve(verbs: Verbs): void {
  process.on('message', ({ id, verb, input }: Question) => {
    const run = verbs[verb] as ((input: unknown) => unknown) | undefined
    const send = (answer: Answer): void => void process.send?.(answer)
    Promise.resolve()
      .then(() => run?.(input))
      .then(
        value => send({ id, value }),
        (error: unknown) => send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      )
  })
  // Exits with the parent, so that a benchmark leaves nothing running.
  process.on('disconnect', () => process.exit(0))
}

export interface Start {
  readonly script: string
  readonly args?: readonly string[]
  readonly execArgv?: readonly string[]
  /** The core that the child is bound to. Absent: any. */
  readonly core?: number
}

/** Binds a process to one core, where the system has it. */
const taskset = '/usr/bin/taskset'
export const canBind = existsSync(taskset)

/** The parent's side. `V` is the type of the verbs that the script serves. */
export function start<V extends Verbs>({ script, args = [], execArgv = [], core }: Start): Child<V> {
  const options = ['--no-warnings', '--conditions=signalbox-source', ...execArgv]
  const isBound = core !== undefined && canBind
  const child = fork(script, args, {
    execPath: isBound ? taskset : process.execPath,
    execArgv: isBound ? ['-c', String(core), process.execPath, ...options] : options,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  let asked = 0
  child.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  child.on('exit', code => {
    for (const [id, resolve] of waiting) resolve({ id, error: `${script} ended with code ${code}.` })
    waiting.clear()
  })
  return {
    pid: child.pid ?? 0,
    async ask(verb, input) {
      asked += 1
      const id = asked
      const answer = await new Promise<Answer>(resolve => {
        waiting.set(id, resolve)
        child.send({ id, verb, input } satisfies Question)
      })
      if (answer.error !== undefined) throw new Error(`${verb}: ${answer.error}`)
      return answer.value as never
    },
    stop: () => ended(child),
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill()
  })
