import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { waitMs } from '../../testing/test/waits.ts'

/** Halves the start of a process, and there are many. */
const compileCache = join(import.meta.dirname, '../node_modules/.cache/compile')
/** Milliseconds that a test waits for a process, unless it says otherwise. */
const defaultTimeoutMs = waitMs

export interface Launched {
  readonly child: ChildProcess
  /** Its output so far. */
  out(): string
  err(): string
  /** The JSON lines of its log so far. */
  lines(): readonly Readonly<Record<string, unknown>>[]
  /** Resolves once its output contains `text`. */
  says(text: string): Promise<void>
  /** Resolves once the log holds so many lines. */
  logged(count: number): Promise<void>
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface Listening extends Launched {
  readonly url: string
  /** The admin key, where one was printed. */
  readonly key: string
}

export interface LaunchOptions {
  /** Written as signalbox.config.json. */
  readonly config?: unknown
  readonly variables?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Default: a new one. */
  readonly folder?: string
  /** Milliseconds that each wait for the process may take. Default: 120,000. */
  readonly timeoutMs?: number
}

/** The lines of JSON in a log. */
export const linesOf = (log: string): readonly Readonly<Record<string, unknown>>[] =>
  log
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))

/** A folder of the test's own. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The real server as a process of its own; ended by its own pid when the test is over. */
export function launch(options: LaunchOptions = {}): Launched {
  const launched = run({ ...options, folder: options.folder ?? newFolder() })
  onTestFinished(() => void launched.child.kill('SIGKILL'))
  return launched
}

export function writeConfig(folder: string, config: unknown): void {
  if (config === undefined) return
  writeFileSync(join(folder, 'signalbox.config.json'), typeof config === 'string' ? config : JSON.stringify(config))
}

function run({
  config,
  variables = {},
  args = [],
  folder,
  timeoutMs = defaultTimeoutMs,
}: LaunchOptions & { readonly folder: string }): Launched {
  writeConfig(folder, config)
  const child = spawn(process.execPath, [inject('programs').server, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PORT: '0', NODE_COMPILE_CACHE: compileCache, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  const heard = new Set<() => void>()
  const hear = (): void => {
    for (const look of heard) look()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    hear()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
    hear()
  })
  const exited = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>(resolve => {
    child.once('close', (code, signal) => {
      resolve({ code, signal })
      hear()
    })
  })
  const lines = () => linesOf(err)
  const until = (what: string, holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (error?: Error): void => {
        clearTimeout(timer)
        heard.delete(look)
        if (error) reject(error)
        else resolve()
      }
      const look = (): void => {
        if (holds()) done()
        else if (child.exitCode !== null) done(new Error(`It ended before ${what}.\n${out}\n${err}`))
      }
      const timer = setTimeout(() => done(new Error(`No ${what} within ${timeoutMs} ms.\n${out}\n${err}`)), timeoutMs)
      heard.add(look)
      look()
    })
  return {
    child,
    out: () => out,
    err: () => err,
    lines,
    says: text => until(`"${text}"`, () => out.includes(text) || err.includes(text)),
    logged: count => until(`${count} log lines`, () => lines().length >= count),
    exited,
  }
}

/** A server that listens. */
export async function listening(options: LaunchOptions = {}): Promise<Listening> {
  const launched = launch(options)
  await launched.says(' listens on http')
  const url = /listens on (\S+)/.exec(launched.out())?.[1] ?? ''
  return { ...launched, url, key: /shown this once: (\S+)/.exec(launched.out())?.[1] ?? '' }
}

export interface Failed {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** What lies in its folder afterwards. */
  readonly files: readonly string[]
}

export interface FailingOptions extends LaunchOptions {
  /** Puts something into its folder first. */
  readonly prepare?: (folder: string) => void
}

/** A start that is expected to fail. Cleans up by itself, so that many may run at once. */
export async function failing({ prepare, ...options }: FailingOptions): Promise<Failed> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'signalbox-'))
  prepare?.(folder)
  const launched = run({ ...options, folder })
  const timer = setTimeout(() => launched.child.kill('SIGKILL'), defaultTimeoutMs)
  const { code } = await launched.exited
  clearTimeout(timer)
  const files = readdirSync(folder)
  if (options.folder === undefined) rmSync(folder, { recursive: true })
  return { code, out: launched.out(), err: launched.err(), files }
}

export const stop = async ({ child, exited }: Launched, signal: NodeJS.Signals = 'SIGTERM') => {
  child.kill(signal)
  return exited
}

export interface Asking {
  readonly url: string
  readonly key: string
}

export const ask = ({ url, key }: Asking, body: unknown, path = '/v1/responses'): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

export const look = ({ url, key }: Asking, path: string): Promise<Response> =>
  fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
