import { readFileSync } from 'node:fs'
import { createVitest, type TestCase, type TestModule, type TestSpecification } from 'vitest/node'

// One vitest that stays: sources are transformed once, and each run has a fresh worker. Started by run-tests.ts, which ends it when a
// run takes too long.

export interface Asked {
  /** Absolute paths, in the order in which they run; absent: all. */
  readonly files?: readonly string[]
  /** The mutant that is on; absent: none, and all files run to their end. */
  readonly mutant?: number
  /** The mutants that are on, each for one of the files. */
  readonly byFile?: Readonly<Record<string, number>>
  /** Where to note which mutants each file reaches. */
  readonly hits?: string
}

export interface Finished {
  readonly path: string
  readonly milliseconds: number
  readonly passed: boolean
  /** The first test that failed. */
  readonly by?: string
  /** Steps from it to each file that it imports and that has mutants. */
  readonly imports: Readonly<Record<string, number>>
}

export type Told =
  | { readonly kind: 'ready'; readonly files: readonly string[] }
  /** Loaded, and its tests begin. */
  | { readonly kind: 'began'; readonly path: string }
  | { readonly kind: 'finished'; readonly file: Finished }
  | { readonly kind: 'caught'; readonly by: string; readonly path: string }
  | { readonly kind: 'ended'; readonly files: readonly Finished[] }

const tell = (told: Told): void => {
  process.send?.(told)
}

const listed: readonly { readonly file: string }[] = JSON.parse(readFileSync(process.env.SIGNALBOX_MUTANTS ?? '', 'utf8'))
const mutated = new Set(listed.map(({ file }) => file))

let asked: Asked = {}
let isCaught = false

function caughtBy(by: string, path: string): void {
  if (asked.mutant === undefined || isCaught) return
  isCaught = true
  tell({ kind: 'caught', by, path })
  void vitest.cancelCurrentRun('test-failure')
}

const reporter = {
  onTestModuleStart(module: TestModule): void {
    tell({ kind: 'began', path: module.moduleId })
  },
  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'failed') caughtBy(`${test.module.relativeModuleId}: ${test.fullName}`, test.module.moduleId)
  },
  onTestModuleEnd(module: TestModule): void {
    if (module.state() === 'failed') caughtBy(module.relativeModuleId, module.moduleId)
    if (asked.hits === undefined) tell({ kind: 'finished', file: finishedOf(module) })
  },
}

const vitest = await createVitest(
  'test',
  { config: 'packages/testing/tools/mutation/vitest.config.ts', watch: false, reporters: [reporter] },
  { clearScreen: false },
)
const all = await vitest.globTestSpecifications()
const byPath = new Map(all.map(specification => [specification.moduleId, specification]))

function importsOf(path: string): Readonly<Record<string, number>> {
  const steps = new Map<string, number>()
  const graphs = Object.values(vitest.getProjectByName('').vite.environments).map(({ moduleGraph }) => moduleGraph)
  for (const graph of graphs) {
    let edge = [...(graph.getModulesByFile(path) ?? [])]
    const seen = new Set(edge)
    for (let step = 0; edge.length > 0; step += 1) {
      for (const { file } of edge) if (file !== null && mutated.has(file) && !steps.has(file)) steps.set(file, step)
      edge = edge.flatMap(({ importedModules }) => [...importedModules]).filter(each => !seen.has(each) && seen.add(each))
    }
  }
  return Object.fromEntries(steps)
}

async function run(next: Asked): Promise<void> {
  asked = next
  isCaught = false
  setEnv('SIGNALBOX_MUTANT', next.mutant === undefined ? undefined : String(next.mutant))
  setEnv('SIGNALBOX_MUTANT_BY_FILE', next.byFile && JSON.stringify(next.byFile))
  setEnv('SIGNALBOX_MUTANT_HITS', next.hits)
  const files = next.files?.map(path => byPath.get(path)).filter((found): found is TestSpecification => found !== undefined) ?? all
  vitest.state.filesMap.clear()
  vitest.state.idMap.clear()
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(files, false)
  if (unhandledErrors.length > 0) caughtBy('an error outside of tests', '')
  tell({ kind: 'ended', files: testModules.map(finishedOf) })
}

const finishedOf = (module: TestModule): Finished => {
  const [failed] = module.children.allTests('failed')
  const isPassed = module.state() === 'passed'
  return {
    path: module.moduleId,
    milliseconds: Math.round(module.diagnostic().duration),
    passed: isPassed,
    ...(!isPassed && { by: `${module.relativeModuleId}: ${failed?.fullName ?? 'it does not load'}` }),
    imports: asked.hits === undefined ? {} : importsOf(module.moduleId),
  }
}

function setEnv(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

process.on('message', (next: Asked) => void run(next))
process.on('disconnect', () => process.exit())
tell({ kind: 'ready', files: [...byPath.keys()] })
