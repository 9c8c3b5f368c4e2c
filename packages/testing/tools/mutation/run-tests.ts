import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TestFile {
  readonly path: string
  readonly milliseconds: number
  /** Ids of the mutants that it runs through. */
  readonly reached: readonly number[]
}

const config = 'packages/testing/tools/mutation/vitest.config.ts'

interface Running {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  /** None: all of them. */
  readonly files?: readonly string[]
  readonly args?: readonly string[]
  readonly limitMs: number
}

/** How a run of tests ended. */
export type Ended = 'passed' | 'failed' | 'timed out'

/** One run of vitest in a process group of its own, which is ended as a whole when the time is over. */
export function runTests({ root, env, files = [], args = [], limitMs }: Running): Promise<Ended> {
  return new Promise(resolve => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [vitest, 'run', '--config', config, ...args, ...files], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      detached: true,
    })
    let late = false
    const timer = setTimeout(() => {
      late = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, limitMs)
    child.on('exit', code => {
      clearTimeout(timer)
      resolve(late ? 'timed out' : code === 0 ? 'passed' : 'failed')
    })
  })
}

interface Report {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number; readonly status: string }[]
}

interface Measuring {
  readonly root: string
  readonly folder: string
  /** The file that lists them. */
  readonly mutants: string
  /** Parts of paths; none: all tests. */
  readonly files: readonly string[]
}

/** Which test files run through which mutants, and how long each takes: one run of all tests with no mutant on. */
export async function measureTests({ root, folder, mutants, files }: Measuring): Promise<readonly TestFile[]> {
  const [hits, report] = [join(folder, 'hits.ndjson'), join(folder, 'report.json')]
  if (!existsSync(report)) {
    const env = { SIGNALBOX_MUTANTS: mutants, SIGNALBOX_MUTANT_HITS: hits }
    await runTests({ root, env, files, args: ['--reporter=json', `--outputFile=${report}`, '--retry=1'], limitMs: 3_600_000 })
  }
  const { testResults }: Report = JSON.parse(readFileSync(report, 'utf8'))
  const reached = new Map<string, readonly number[]>()
  for (const line of readFileSync(hits, 'utf8').trim().split('\n')) {
    const { file, reached: ids } = JSON.parse(line) as { file: string; reached: readonly number[] }
    reached.set(file, ids)
  }
  // A file that fails without a mutant proves nothing of one.
  return testResults
    .filter(({ status }) => status === 'passed')
    .map(({ name, startTime, endTime }) => ({ path: name, milliseconds: endTime - startTime, reached: reached.get(name) ?? [] }))
}
