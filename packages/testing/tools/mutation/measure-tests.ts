import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestRunner } from './run-tests.ts'
import type { Finished } from './test-server.ts'

export interface TestFile {
  readonly path: string
  readonly milliseconds: number
  /** Ids of the mutants that its tests run through. */
  readonly reached: ReadonlySet<number>
  /** Steps from it to each file that it imports and that has mutants. */
  readonly imports: Readonly<Record<string, number>>
}

export interface Measured {
  readonly tests: readonly TestFile[]
  /** Mutants that a file runs through as it is loaded: what imports their files reaches them too. */
  readonly atLoad: ReadonlySet<number>
  /** Files that fail without a mutant prove nothing of one. */
  readonly failed: readonly string[]
}

interface Measuring {
  readonly runners: readonly TestRunner[]
  readonly folder: string
  /** Parts of paths; none: all tests. */
  readonly parts: readonly string[]
}

interface Kept extends Finished {
  /** When the file was changed last, in milliseconds since 1970: a changed one is measured again. */
  readonly changedAt: number
}

/** So many files of a worker share its modules; an interrupted run loses no more. */
const atOnce = 20

/** Which test files run through which mutants, and how long each takes: a run with no mutant on, of what was not measured before. */
export async function measureTests({ runners, folder, parts }: Measuring): Promise<Measured> {
  const [hits, report] = [join(folder, 'hits.ndjson'), join(folder, 'tests.json')]
  const before: readonly Kept[] = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : []
  await Promise.all(runners.map(runner => runner.start()))
  const files = (runners[0]?.files ?? []).filter(path => parts.length === 0 || parts.some(part => path.includes(part)))
  const known = new Map(
    before
      .filter(({ path, changedAt, passed }) => passed && existsSync(path) && changedAt === changeOf(path))
      .map(each => [each.path, each]),
  )
  const missing = files.filter(path => !known.has(path))
  await Promise.all(
    runners.map(async runner => {
      while (missing.length > 0) {
        const batch = missing.splice(0, atOnce)
        const { files: finished } = await runner.run({ files: batch, hits }, { file: () => 600_000, loadingMs: 600_000 })
        for (const each of finished) known.set(each.path, { ...each, changedAt: changeOf(each.path) })
        writeFileSync(report, JSON.stringify([...known.values()]))
        console.log(`${missing.length} test files left to measure`)
      }
    }),
  )
  const { reached, atLoad } = readHits(hits)
  const selected = [...known.values()].filter(({ path }) => files.includes(path))
  return {
    tests: selected
      .filter(({ passed }) => passed)
      .map(({ path, milliseconds, imports }) => ({ path, milliseconds, imports, reached: reached.get(path) ?? new Set() })),
    atLoad,
    failed: selected.filter(({ passed }) => !passed).map(({ path }) => path),
  }
}

const changeOf = (path: string): number => statSync(path).mtimeMs

function readHits(path: string): { readonly reached: ReadonlyMap<string, ReadonlySet<number>>; readonly atLoad: ReadonlySet<number> } {
  const reached = new Map<string, ReadonlySet<number>>()
  const atLoad = new Set<number>()
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const hit: { file: string; reached: readonly number[]; loaded: readonly number[] } = JSON.parse(line)
    reached.set(hit.file, new Set(hit.reached))
    for (const id of hit.loaded) atLoad.add(id)
  }
  return { reached, atLoad }
}
