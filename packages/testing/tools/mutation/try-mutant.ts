import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Measured, TestFile } from './measure-tests.ts'
import type { Ended, TestRunner } from './run-tests.ts'
import type { Drawn } from './sample.ts'

export interface Result {
  readonly id: number
  /** `undecided`: it took too long, and so did the same file without the mutant. */
  readonly ended: Ended['how'] | 'not reached' | 'undecided'
  readonly by?: string
  /** Test files that passed, and when each was changed last. */
  readonly passed: Readonly<Record<string, number>>
  /** Test files that reach it and were not tried. */
  readonly left: number
  readonly tookMs: number
}

export interface Trial {
  readonly mutant: Drawn
  readonly before: Result | undefined
  readonly measured: Measured
  /** So many milliseconds of tests, as measured, are tried. */
  readonly testsMs: number
}

export const isCaught = (result: Result | undefined): boolean => result?.ended === 'failed' || result?.ended === 'timed out'

const loadingMs = 240_000
const startMs = 250

/** Those that reach it: likely and quick ones first. A test beside its file is likely, and one that reaches few mutants. */
export function reaching({ id, file, atLoad }: Drawn, measured: Measured): readonly TestFile[] {
  const isAtLoad = atLoad || measured.atLoad.has(id)
  const isNear = ({ reached, imports }: TestFile): boolean => reached.has(id) || (isAtLoad && imports[file] !== undefined)
  const directory = dirname(file)
  const inPackage = file.replace(/(packages\/[^/]+\/).*/, '$1')
  const weight = ({ path, milliseconds, reached, imports }: TestFile): number => {
    const distance = isAtLoad ? (imports[file] ?? 5) ** 2 : reached.size
    const nearness = path.startsWith(`${directory}/`) ? 8 : path.startsWith(inPackage) ? 2 : 1
    return (Math.sqrt(distance + 1) * (milliseconds + startMs)) / nearness
  }
  return measured.tests.filter(isNear).sort((one, other) => weight(one) - weight(other))
}

export async function tryMutant({ mutant, before, measured, testsMs }: Trial, runner: TestRunner): Promise<Result> {
  const near = reaching(mutant, measured)
  const changeOf = new Map(near.map(({ path }) => [path, statSync(path).mtimeMs]))
  const waiting = near.filter(({ path }) => before?.passed[path] !== changeOf.get(path))
  const passed = Object.fromEntries(near.filter(each => !waiting.includes(each)).map(({ path }) => [path, changeOf.get(path) ?? 0]))
  const { id } = mutant
  if (near.length === 0) return { id, ended: 'not reached', passed, left: 0, tookMs: 0 }
  if (waiting.length === 0) return { id, ended: 'passed', passed, left: 0, tookMs: 0 }
  const batch: TestFile[] = []
  let expected = 0
  for (const next of waiting) {
    if (batch.length > 0 && expected + next.milliseconds > testsMs) continue
    batch.push(next)
    expected += next.milliseconds
  }
  const start = performance.now()
  const { ended, by } = await runAlone(batch, mutant, runner)
  if (ended === 'passed') for (const { path } of batch) passed[path] = changeOf.get(path) ?? 0
  const tookMs = Math.round(performance.now() - start)
  return { id, ended, ...(by !== undefined && { by }), passed, left: waiting.length - batch.length, tookMs }
}

interface Outcome {
  readonly ended: Result['ended']
  readonly by?: string
}

const runnerFor = (batch: readonly TestFile[], runner: TestRunner) => {
  const usual = new Map(batch.map(({ path, milliseconds }) => [path, milliseconds]))
  const limits = { loadingMs, file: (path: string) => fileLimitMs(usual.get(path) ?? 0) }
  return (files: readonly string[], mutant?: number): Promise<Ended> =>
    runner.run({ files, ...(mutant !== undefined && { mutant }) }, limits)
}

/** Milliseconds after which a file is ended that usually takes so many. */
export const fileLimitMs = (usualMs: number): number => 40_000 + 5 * usualMs

/** Whether a file took longer than load alone explains, as for a test that waits in vain. */
export const isSlow = (milliseconds: number, usualMs: number): boolean => milliseconds > 12_000 + 3 * usualMs

/** Runs the files until one fails. */
async function runAlone(batch: readonly TestFile[], mutant: Drawn, runner: TestRunner): Promise<Outcome> {
  const start = performance.now()
  const first = await runnerFor(batch, runner)(
    batch.map(({ path }) => path),
    mutant.id,
  )
  const expected = batch.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  if (first.how === 'passed' || (first.how === 'failed' && !isSlow(performance.now() - start, expected))) return outcomeOf(first)
  const file = batch.find(({ path }) => path === first.path)
  return file ? confirm(file, mutant, runner) : { ended: 'undecided' }
}

/** The same file must pass without the mutant, and then fail or take too long again with it: load catches nothing. */
export async function confirm(file: TestFile, { id }: Drawn, runner: TestRunner): Promise<Outcome> {
  const run = runnerFor([file], runner)
  const without = await run([file.path])
  if (without.how !== 'passed' || !without.files.every(({ passed }) => passed)) return { ended: 'undecided' }
  const second = await run([file.path], id)
  if (second.how === 'passed') return { ended: 'undecided' }
  return outcomeOf({ ...second, by: second.by ?? `${file.path} took too long` })
}

const outcomeOf = ({ how, by }: Pick<Ended, 'how' | 'by'>): Outcome => ({ ended: how, ...(by !== undefined && { by }) })
