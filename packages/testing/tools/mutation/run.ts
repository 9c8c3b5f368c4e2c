import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { type Drawn, draw } from './draw.ts'
import { findMutants } from './find-mutants.ts'
import { roomsOf } from './rooms.ts'
import { type Ended, measureTests, runTests, type TestFile } from './run-tests.ts'

// Plants small faults in the sources, one at a time, and counts those that no test notices.
// pnpm test:mutants --count 300 --seed 1 [--room router] [--tests <part of a path>] [--workers 2] [--folder <where to keep results and go on from>]

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string' },
    tests: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    folder: { type: 'string' },
  },
})
const root = resolve(import.meta.dirname, '../../../..')
const folder =
  values.folder ?? join(tmpdir(), `signalbox-mutants-${values.seed}-${values.count}-${values.room?.replaceAll(' ', '-') ?? 'all'}`)

/** Nearest tests first; each stage runs on if the one before let the mutant pass. */
const stagesMs = [6_000, 60_000, 240_000] as const

interface Result {
  readonly id: number
  readonly ended: Ended | 'not reached'
  readonly files: number
  readonly left: number
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

/** Those that run through fewer mutants know more of this one; of equals, the quicker first. */
const nearest = (one: TestFile, other: TestFile): number =>
  one.reached.length - other.reached.length || one.milliseconds - other.milliseconds

async function tryMutant(mutant: Drawn, tests: readonly TestFile[]): Promise<Result> {
  const near = tests.filter(({ reached }) => reached.includes(mutant.id)).sort(nearest)
  if (near.length === 0) return { id: mutant.id, ended: 'not reached', files: 0, left: 0 }
  let at = 0
  for (const stageMs of stagesMs) {
    const batch: TestFile[] = []
    let expected = 0
    for (; at < near.length; at += 1) {
      const next = near[at]
      if (!next || (batch.length > 0 && expected + next.milliseconds > stageMs)) break
      batch.push(next)
      expected += next.milliseconds
    }
    if (batch.length === 0) break
    const ended = await runTests({
      root,
      env: { SIGNALBOX_MUTANTS: join(folder, 'mutants.json'), SIGNALBOX_MUTANT: String(mutant.id) },
      files: batch.map(({ path }) => relative(root, path)),
      args: ['--bail=1', '--maxWorkers=1'],
      limitMs: 60_000 + 5 * expected,
    })
    if (ended !== 'passed') return { id: mutant.id, ended, files: at, left: near.length - at }
  }
  return { id: mutant.id, ended: 'passed', files: at, left: near.length - at }
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
const tests = await measureTests({ root, folder, mutants: join(folder, 'mutants.json'), files: values.tests })
console.log(`${tests.length} test files measured; results in ${folder}`)

const resultsPath = join(folder, 'results.ndjson')
const results = new Map<number, Result>()
if (existsSync(resultsPath))
  for (const text of readFileSync(resultsPath, 'utf8').trim().split('\n').filter(Boolean)) {
    const result: Result = JSON.parse(text)
    results.set(result.id, result)
  }
const waiting = mutants.filter(({ id }) => !results.has(id))
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const result = await tryMutant(mutant, tests)
      results.set(result.id, result)
      appendFileSync(resultsPath, `${JSON.stringify(result)}\n`)
      console.log(
        `${results.size}/${mutants.length} ${result.ended === 'passed' ? 'SURVIVED' : result.ended} ${relative(root, mutant.file)}:${mutant.line} ${mutant.operator}`,
      )
    }
  }),
)
report(mutants, results)
