import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { type Drawn, draw } from './draw.ts'
import { findMutants } from './find-mutants.ts'
import { roomsOf } from './rooms.ts'
import { type Ended, measureTests, type TestFile, TestRunner } from './run-tests.ts'

// Plants small faults in the sources, one at a time, and counts those that no test notices.
// With `--again` those that were not caught are tried anew, after the tests that `--tests` names were measured anew.
// pnpm test:mutants --count 300 --seed 1 [--room router] [--tests <part of a path>] [--workers 2] [--seconds <of tests for a mutant>] [--folder <where to keep results and go on from>]

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string' },
    tests: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '30' },
    again: { type: 'boolean', default: false },
    folder: { type: 'string' },
  },
})
const root = resolve(import.meta.dirname, '../../../..')
const folder =
  values.folder ?? join(tmpdir(), `signalbox-mutants-${values.seed}-${values.count}-${values.room?.replaceAll(' ', '-') ?? 'all'}`)

/** Nearest tests first, as many as take this long in the run without mutants. */
const testsMs = Number(values.seconds) * 1_000
const atLeastMs = 20_000

interface Result {
  readonly id: number
  readonly ended: Ended['how'] | 'not reached'
  readonly by?: string
  readonly files: number
  readonly left: number
  readonly tookMs: number
}

function drawnMutants(): readonly Drawn[] {
  const path = join(folder, 'mutants.json')
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const rooms = roomsOf(root, values.room)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const mutants = findMutants(
    rooms.flatMap(({ files }) => files),
    options,
  )
  const drawn = draw({ rooms, mutants, count: Number(values.count), seed: Number(values.seed) })
  console.log(
    `${mutants.length} mutants in ${rooms.flatMap(({ files }) => files).length} files; ${drawn.length} drawn with seed ${values.seed}`,
  )
  writeFileSync(path, JSON.stringify(drawn))
  return drawn
}

/**
 * The nearest first. Those that run through fewer mutants know more of this one. What runs at load is seen by those that import its
 * file, the more directly the nearer. Of equals, the quicker first.
 */
function reaching({ atLoad, file, id }: Drawn): readonly TestFile[] {
  const near = tests.filter(({ reached, imports }) => (atLoad ? imports[file] !== undefined : reached.includes(id)))
  const distance = (test: TestFile): number => (atLoad ? (test.imports[file] ?? 0) : test.reached.length)
  return near.sort((one, other) => distance(one) - distance(other) || one.milliseconds - other.milliseconds)
}

async function tryMutant(mutant: Drawn, runner: TestRunner): Promise<Result> {
  const near = reaching(mutant)
  if (near.length === 0) return { id: mutant.id, ended: 'not reached', files: 0, left: 0, tookMs: 0 }
  const batch: TestFile[] = []
  let expected = 0
  for (const next of near) {
    if (batch.length > 0 && expected + next.milliseconds > testsMs) continue
    batch.push(next)
    expected += next.milliseconds
  }
  const start = performance.now()
  const { how, by } = await runner.run({ files: batch.map(({ path }) => path), mutant: mutant.id }, atLeastMs + 4 * expected)
  const tookMs = Math.round(performance.now() - start)
  return { id: mutant.id, ended: how, ...(by !== undefined && { by }), files: batch.length, left: near.length - batch.length, tookMs }
}

const isCaught = ({ ended }: Result): boolean => ended === 'failed' || ended === 'timed out'

function report(mutants: readonly Drawn[], results: ReadonlyMap<number, Result>): void {
  const done = mutants.filter(({ id }) => results.has(id))
  const caught = (of: readonly Drawn[]): number => of.filter(({ id }) => isCaught(results.get(id) as Result)).length
  const line = (name: string, of: readonly Drawn[]): string =>
    `${name.padEnd(28)} ${String(of.length).padStart(4)} drawn ${String(caught(of)).padStart(4)} caught ${((100 * caught(of)) / Math.max(1, of.length)).toFixed(1).padStart(6)} %`
  for (const { file, line, operator, original, id, room } of done.filter(({ id }) => !isCaught(results.get(id) as Result))) {
    const { ended, files, left } = results.get(id) as Result
    const seen = ended === 'not reached' ? 'no test runs it' : `passed ${files} test files, ${left} left out`
    console.log(`\n${id} [${room}] ${relative(root, file)}:${line}  ${operator}  (${seen})\n    ${original.split('\n')[0]}`)
  }
  console.log()
  for (const [room, of] of Map.groupBy(done, ({ room }) => room)) console.log(line(room, of))
  console.log(line('all', done))
}

mkdirSync(folder, { recursive: true })
const mutants = drawnMutants()
const runners = Array.from({ length: Number(values.workers) }, () => new TestRunner(root, join(folder, 'mutants.json')))
process.on('exit', () => {
  for (const runner of runners) runner.stop()
})
const tests = await measureTests({ runners, folder, parts: values.tests, again: values.again })
console.log(`${tests.length} test files measured; results in ${folder}`)

const resultsPath = join(folder, 'results.ndjson')
const results = new Map<number, Result>()
if (existsSync(resultsPath))
  for (const text of readFileSync(resultsPath, 'utf8').trim().split('\n').filter(Boolean)) {
    const result: Result = JSON.parse(text)
    if (!values.again || isCaught(result)) results.set(result.id, result)
  }
const waiting = mutants.filter(({ id }) => !results.has(id))
await Promise.all(
  runners.map(async runner => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const result = await tryMutant(mutant, runner)
      results.set(result.id, result)
      appendFileSync(resultsPath, `${JSON.stringify(result)}\n`)
      const { ended, tookMs } = result
      const name = `${relative(root, mutant.file)}:${mutant.line} ${mutant.operator}`
      console.log(`${results.size}/${mutants.length} ${ended === 'passed' ? 'SURVIVED' : ended} ${name} (${(tookMs / 1_000).toFixed(1)} s)`)
    }
  }),
)
report(mutants, results)
process.exit()
