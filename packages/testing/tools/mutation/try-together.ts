import { statSync } from 'node:fs'
import type { Measured, TestFile } from './measure-tests.ts'
import type { TestRunner } from './run-tests.ts'
import type { Drawn } from './sample.ts'
import { confirm, fileLimitMs, isSlow, type Result, reaching } from './try-mutant.ts'

interface Waiting {
  readonly mutant: Drawn
  /** Likely and quick ones first. */
  files: readonly TestFile[]
  readonly passed: Record<string, number>
  spentMs: number
}

export interface TryingTogether {
  readonly mutants: readonly Drawn[]
  readonly before: ReadonlyMap<number, Result>
  readonly measured: Measured
  /** So many milliseconds of tests, as measured, are tried for each. */
  readonly testsMs: number
  readonly onResult: (result: Result) => void
}

/** Files in one run, whose modules are loaded once; and about so many milliseconds of tests. */
const maxFiles = 40
const maxRunMs = 60_000
const loadingMs = 240_000

/** Tries many mutants in each run, each with a test file of its own: loading the modules takes longer than most tests. */
export async function tryTogether({ mutants, before, measured, testsMs, onResult }: TryingTogether, runner: TestRunner): Promise<void> {
  const changeOf = (path: string): number => statSync(path).mtimeMs
  const end = ({ mutant, files, passed }: Waiting, more: Partial<Result> = {}): void =>
    onResult({ id: mutant.id, ended: 'passed', passed, left: files.length, tookMs: 0, ...more })
  let waiting = mutants.map((mutant): Waiting => {
    const near = reaching(mutant, measured)
    const known = before.get(mutant.id)?.passed ?? {}
    const passed = Object.fromEntries(near.flatMap(({ path }) => (known[path] === changeOf(path) ? [[path, changeOf(path)]] : [])))
    if (near.length === 0) onResult({ id: mutant.id, ended: 'not reached', passed, left: 0, tookMs: 0 })
    return {
      mutant,
      files: near.filter(({ path }) => passed[path] === undefined),
      passed,
      spentMs: near.length === 0 ? Number.POSITIVE_INFINITY : 0,
    }
  })
  waiting = waiting.filter(({ spentMs }) => spentMs === 0)
  const isOver = ({ files, spentMs }: Waiting): boolean =>
    files.every(({ milliseconds }) => spentMs > 0 && spentMs + milliseconds > testsMs)
  while (waiting.length > 0) {
    for (const each of waiting.filter(isOver)) end(each)
    waiting = waiting.filter(each => !isOver(each))
    const run = nextRun(waiting, testsMs)
    const over = await runTogether(run, runner)
    for (const [each, outcome] of over) if (outcome !== 'passed') end(each, outcome)
    const gone = new Set([...over].flatMap(([each, outcome]) => (outcome === 'passed' ? [] : [each])))
    for (const [path, each] of run)
      if (over.get(each) === 'passed') {
        each.passed[path] = changeOf(path)
        each.spentMs += each.files.find(file => file.path === path)?.milliseconds ?? 0
        each.files = each.files.filter(file => file.path !== path)
      }
    waiting = waiting.filter(each => !gone.has(each))
  }
}

/** Which mutant is tried with which file. */
function nextRun(waiting: readonly Waiting[], testsMs: number): ReadonlyMap<string, Waiting> {
  const run = new Map<string, Waiting>()
  let expected = 0
  for (const each of waiting) {
    if (run.size >= maxFiles || expected > maxRunMs) break
    const file = each.files
      .filter(({ milliseconds }) => each.spentMs === 0 || each.spentMs + milliseconds <= testsMs)
      .slice(0, 4)
      .find(({ path }) => !run.has(path))
    if (!file) continue
    run.set(file.path, each)
    expected += file.milliseconds
  }
  return run
}

type Outcome = 'passed' | Pick<Result, 'ended' | 'by'>

/** The outcome for each mutant that was tried; none for those whose file did not run. What took too long is tried again alone. */
async function runTogether(run: ReadonlyMap<string, Waiting>, runner: TestRunner): Promise<ReadonlyMap<Waiting, Outcome>> {
  const usualMs = (path: string): number => run.get(path)?.files.find(file => file.path === path)?.milliseconds ?? 0
  const limitMs = (path: string): number => fileLimitMs(usualMs(path))
  const byFile = Object.fromEntries([...run].map(([path, { mutant }]) => [path, mutant.id]))
  const ended = await runner.run({ files: [...run.keys()], byFile }, { loadingMs, file: limitMs })
  console.log(
    `${run.size} together: ${ended.how} ${ended.path ?? ''}, ${ended.files.length} ended, ${ended.files.filter(({ passed }) => !passed).length} failed`,
  )
  const outcomes = new Map<Waiting, Outcome>()
  const alone = async (path: string): Promise<void> => {
    const each = run.get(path)
    if (!each) return
    const file = each.files.find(file => file.path === path)
    outcomes.set(each, file ? await confirm(file, each.mutant, runner) : 'passed')
  }
  for (const { path, passed, by, milliseconds } of ended.files) {
    const each = run.get(path)
    if (!each) continue
    if (passed) outcomes.set(each, 'passed')
    else if (isSlow(milliseconds, usualMs(path))) await alone(path)
    else outcomes.set(each, { ended: 'failed', ...(by !== undefined && { by }) })
  }
  if (ended.how === 'timed out')
    await alone(ended.path ?? [...run.keys()].find(path => !ended.files.some(file => file.path === path)) ?? '')
  return outcomes
}
