import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked, Finished, Told } from './test-server.ts'

export interface TestFile {
  readonly path: string
  readonly milliseconds: number
  /** Ids of the mutants that it runs through. */
  readonly reached: readonly number[]
  /** Steps from it to each file that it imports and that has mutants. */
  readonly imports: Readonly<Record<string, number>>
}

export interface Ended {
  readonly how: 'passed' | 'failed' | 'timed out'
  /** The test that failed. */
  readonly by?: string
  readonly files: readonly Finished[]
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

  async run(asked: Asked, limitMs: number): Promise<Ended> {
    await this.start()
    const child = this.#child
    if (!child) throw new Error('no vitest')
    return new Promise(resolve => {
      let by: string | undefined
      const end = (ended: Ended): void => {
        clearTimeout(timer)
        child.removeAllListeners('message')
        resolve(ended)
      }
      const giveUp = (): void => {
        this.stop()
        end({ how: by === undefined ? 'timed out' : 'failed', ...(by !== undefined && { by }), files: [] })
      }
      let timer = setTimeout(giveUp, limitMs)
      child.on('message', (told: Told) => {
        if (told.kind === 'caught') {
          by = told.by
          clearTimeout(timer)
          timer = setTimeout(giveUp, cancelMs)
        }
        if (told.kind === 'ended') end({ how: by === undefined ? 'passed' : 'failed', ...(by !== undefined && { by }), files: told.files })
      })
      child.send(asked)
    })
  }

  stop(): void {
    const child = this.#child
    this.#child = undefined
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
}

interface Measuring {
  readonly runners: readonly TestRunner[]
  readonly folder: string
  /** Parts of paths; none: all tests. */
  readonly parts: readonly string[]
  /** Those that `parts` select are measured again. */
  readonly again: boolean
}

/** Which test files run through which mutants, and how long each takes: a run with no mutant on, of what was not measured before. */
export async function measureTests({ runners, folder, parts, again }: Measuring): Promise<readonly TestFile[]> {
  const [hits, report] = [join(folder, 'hits.ndjson'), join(folder, 'tests.json')]
  const before: readonly Finished[] = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : []
  const isSelected = (path: string): boolean => parts.length === 0 || parts.some(part => path.includes(part))
  await Promise.all(runners.map(runner => runner.start()))
  const kept = before.filter(({ path }) => !(again && parts.length > 0 && isSelected(path)))
  const missing = (runners[0]?.files ?? []).filter(path => isSelected(path) && !kept.some(known => known.path === path))
  const shares = runners.map((_, at) => missing.filter((_, index) => index % runners.length === at))
  const ended = await Promise.all(
    runners.map((runner, at) => (shares[at]?.length ? runner.run({ files: shares[at] ?? [], hits }, 3_600_000) : undefined)),
  )
  const finished = [...kept, ...ended.flatMap(each => each?.files ?? [])]
  writeFileSync(report, JSON.stringify(finished))
  const reached = new Map<string, readonly number[]>()
  for (const line of readFileSync(hits, 'utf8').trim().split('\n')) {
    const { file, reached: ids } = JSON.parse(line) as { file: string; reached: readonly number[] }
    reached.set(file, ids)
  }
  // A file that fails without a mutant proves nothing of one.
  return finished
    .filter(({ passed }) => passed)
    .map(({ path, milliseconds, imports }) => ({ path, milliseconds, imports, reached: reached.get(path) ?? [] }))
}
