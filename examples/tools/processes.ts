import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const examples = resolve(import.meta.dirname, '..')
const modules = resolve(examples, '../node_modules')

/** The real programs: what pnpm puts on the path are wrappers, and ending one of them would leave the other running. */
const programs: Readonly<Record<string, string>> = {
  node: process.execPath,
  bun: join(modules, 'bun/bin/bun.exe'),
  deno: join(modules, 'deno/deno'),
}

interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
}

/** An example that runs. */
export interface Running {
  /** What it has written so far. */
  output(): string
  /** Resolves once the output matches; rejects where the program ends before. */
  until(words: RegExp): Promise<string>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  stop(): Promise<void>
}

type Env = Readonly<Record<string, string>>

/** The command that `pnpm start` runs in the folder of an example. */
function commandOf(name: string): Command {
  const manifest = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string }
  }
  const [program = '', ...args] = manifest.scripts.start.split(' ')
  return { program: programs[program] ?? program, args, folder: join(examples, name) }
}

/** Whether the runtime of an example is installed. */
export const canStart = (name: string): boolean => existsSync(commandOf(name).program)

/** Starts an example as its README says. Its environment is `env` alone: no key of this machine reaches it. */
export const startExample = (name: string, env: Env): Running => run(commandOf(name), env)

/** Starts examples for Node in one process, which loads the library once: `hono:8001`, `router-only`. Each writes below `--- name`. */
export const startTogether = (examplesAndPorts: readonly string[], env: Env): Running =>
  run(
    {
      program: process.execPath,
      args: ['--conditions=signalbox-source', 'run-together.ts', ...examplesAndPorts],
      folder: import.meta.dirname,
    },
    env,
  )

/** Runs a program; what it writes to both streams is kept. */
export function run({ program, args, folder }: Command, env: Env): Running {
  const { NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(program, args, {
    cwd: folder,
    env: { NO_COLOR: '1', DO_NOT_TRACK: '1', NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString()
      for (const listener of listeners) listener()
    })
  const ended = new Promise<number | null>(done => child.once('close', done))
  return {
    output: () => output,
    ended,
    until: words =>
      new Promise((done, fail) => {
        const look = (): void => (words.test(output) ? done(output) : undefined)
        listeners.add(look)
        look()
        void ended.then(code => fail(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`)))
      }),
    stop: () => stop(child, ended),
  }
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill()
  await ended
}
