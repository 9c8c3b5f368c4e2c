import { type ChildProcess, fork } from 'node:child_process'
import type { Asked, Finished, Told } from './test-server.ts'

export interface Ended {
  readonly how: 'passed' | 'failed' | 'timed out'
  /** The test that failed. */
  readonly by?: string
  /** The file that failed or took too long. */
  readonly path?: string
  readonly files: readonly Finished[]
}

interface Limits {
  /** For a test file, once it is loaded. */
  readonly file: (path: string) => number
  /** Until the first file is loaded, and from the end of one to the start of the next. */
  readonly loadingMs: number
}

/** After a failure the rest of a run is cancelled; a worker that goes on is ended. */
const cancelMs = 5_000

/** Runs of tests, one at a time, in one vitest that keeps what it has transformed. One that takes too long is ended, with all it started. */
export class TestRunner {
  readonly #env: Readonly<Record<string, string>>
  readonly #root: string
  #child: ChildProcess | undefined

  constructor(root: string, mutants: string) {
    this.#root = root
    this.#env = { SIGNALBOX_MUTANTS: mutants, SIGNALBOX_TESTS: '' }
  }

  /** Paths of all test files. */
  files: readonly string[] = []

  async start(): Promise<void> {
    if (this.#child) return
    const child = fork(new URL('test-server.ts', import.meta.url).pathname, {
      cwd: this.#root,
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    this.#child = child
    this.files = await new Promise((resolve, reject) => {
      child.once('message', (told: Told) => told.kind === 'ready' && resolve(told.files))
      child.once('exit', code => reject(new Error(`vitest ended with ${code}`)))
    })
  }

  async run(asked: Asked, limits: Limits): Promise<Ended> {
    await this.start()
    const child = this.#child
    if (!child) throw new Error('no vitest')
    return new Promise(resolve => {
      let failed: { readonly by: string; readonly path: string } | undefined
      let running: string | undefined
      const finished: Finished[] = []
      const end = (ended: Ended): void => {
        clearTimeout(timer)
        child.removeAllListeners('message')
        child.removeAllListeners('exit')
        resolve(ended)
      }
      const giveUp = (): void => {
        this.stop()
        if (failed) end({ how: 'failed', ...failed, files: finished })
        else end({ how: 'timed out', ...(running !== undefined && { path: running }), files: finished })
      }
      let timer = setTimeout(giveUp, limits.loadingMs)
      const wait = (milliseconds: number): void => {
        clearTimeout(timer)
        timer = setTimeout(giveUp, milliseconds)
      }
      child.once('exit', giveUp)
      child.on('message', (told: Told) => {
        if (told.kind === 'began') {
          running = told.path
          wait(limits.file(told.path))
        }
        if (told.kind === 'finished') {
          running = undefined
          finished.push(told.file)
          wait(limits.loadingMs)
        }
        if (told.kind === 'caught') {
          failed = { by: told.by, path: told.path }
          wait(cancelMs)
        }
        if (told.kind === 'ended') end({ how: failed ? 'failed' : 'passed', ...failed, files: told.files })
      })
      child.send(asked)
    })
  }

  stop(): void {
    const child = this.#child
    this.#child = undefined
    child?.removeAllListeners('exit')
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
}
