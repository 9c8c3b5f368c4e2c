import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { waitUntil } from '../../testing/test/waits.ts'
import { readConfig } from '../src/config.ts'
import { StartError } from '../src/fault.ts'
import type { Sink } from '../src/log.ts'
import { type StandaloneServer, start } from '../src/server.ts'
import { type Asking, type LaunchOptions, linesOf, newFolder, writeConfig } from './launch.ts'

// The server within this process: a start of a process costs a second of CPU, and few tests are about the process.

export type StartOptions = Omit<LaunchOptions, 'args'>

export interface Serving extends Asking {
  /** What is told to the operator. */
  out(): string
  err(): string
  lines(): readonly Readonly<Record<string, unknown>>[]
  /** Resolves once the log holds so many lines. */
  logged(count: number): Promise<void>
  stop(): Promise<void>
}

/** Its folder is the working directory while it starts, as it is for a process; so one starts after the other. */
async function startIn(folder: string, { config, variables = {} }: StartOptions, sink: Sink): Promise<StandaloneServer> {
  writeConfig(folder, config)
  const environment = { PORT: '0', ...variables }
  const before = process.cwd()
  process.chdir(folder)
  try {
    return await start(readConfig(environment), { environment, version: '0.0.0', sink })
  } finally {
    process.chdir(before)
  }
}

/** A server that listens, and ends with its test. */
export async function serving({ folder = newFolder(), ...options }: StartOptions = {}): Promise<Serving> {
  let text = ''
  const server = await startIn(folder, options, { write: (more: string) => (text += more) })
  const stop = () => server.stop({ graceMs: 0 })
  onTestFinished(stop)
  const lines = () => linesOf(text)
  return {
    url: /listens on (\S+)/.exec(server.announcement)?.[1] ?? '',
    key: /shown this once: (\S+)/.exec(server.announcement)?.[1] ?? '',
    out: () => server.announcement,
    err: () => text,
    lines,
    logged: count => waitUntil(() => lines().length >= count).then(() => {}),
    stop,
  }
}

export interface RefusedOptions extends StartOptions {
  /** Puts something into its folder first. */
  readonly prepare?: (folder: string) => void
}

/** Why a start is refused, and what lies in its folder afterwards. */
export async function refused({
  prepare,
  ...options
}: RefusedOptions): Promise<{ readonly line: string; readonly files: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-'))
  try {
    prepare?.(folder)
    const line = await startIn(folder, options, { write: () => {} }).then(
      async server => {
        await server.stop({ graceMs: 0 })
        return `It started: ${server.announcement}`
      },
      (error: unknown) => {
        if (error instanceof StartError) return error.message
        throw error
      },
    )
    return { line, files: readdirSync(folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
