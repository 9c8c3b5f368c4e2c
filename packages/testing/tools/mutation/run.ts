import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { roomsOf } from './areas.ts'
import { findMutants } from './find-mutants.ts'
import { measureTests } from './measure-tests.ts'
import { printReport } from './report.ts'
import { TestRunner } from './run-tests.ts'
import { type Drawn, draw } from './sample.ts'
import { isCaught, type Result, tryMutant } from './try-mutant.ts'
import { tryTogether } from './try-together.ts'

// Plants small faults in the sources, one at a time, and counts those that no test notices. A folder keeps what is known: an interrupted
// run goes on, and a survivor is tried with test files that were not tried, or have changed since.
// pnpm test:mutants --draw <seed>:<count>[:<room>] [--draw …] [--only <seed>] [--tests <part of a path>] [--seconds <of tests for a mutant>] [--workers 1] [--folder <for results>]

const { values } = parseArgs({
  options: {
    draw: { type: 'string', multiple: true, default: ['1:300'] },
    only: { type: 'string' },
    tests: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    folder: { type: 'string' },
  },
})
const root = resolve(import.meta.dirname, '../../../..')
const folder = values.folder ?? join(tmpdir(), `signalbox-mutants-${values.draw.join('-').replaceAll(/\W+/g, '-')}`)

function drawnMutants(): readonly Drawn[] {
  const path = join(folder, 'mutants.json')
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const all = roomsOf(root)
  const files = all.flatMap(({ files }) => files)
  const mutants = findMutants(files, options)
  console.log(`${mutants.length} mutants in ${files.length} files`)
  const drawn: Drawn[] = []
  for (const each of values.draw) {
    const [seed, count, room] = each.split(':')
    const rooms = all.filter(({ name }) => room === undefined || name === room)
    const inRooms = new Set(rooms.flatMap(({ files }) => files))
    const from = mutants.filter(({ file }) => inRooms.has(file))
    drawn.push(...draw({ rooms, mutants: from, count: Number(count), seed: Number(seed), before: drawn }))
  }
  writeFileSync(path, JSON.stringify(drawn))
  return drawn
}

mkdirSync(folder, { recursive: true })
const mutants = drawnMutants()
const runners = Array.from({ length: Number(values.workers) }, () => new TestRunner(root, join(folder, 'mutants.json')))
process.on('exit', () => {
  for (const runner of runners) runner.stop()
})
const measured = await measureTests({ runners, folder, parts: values.tests })
console.log(`${measured.tests.length} test files measured; results in ${folder}`)
for (const path of measured.failed) console.log(`not counted, since it failed or was skipped: ${relative(root, path)}`)

const resultsPath = join(folder, 'results.ndjson')
const results = new Map<number, Result>()
if (existsSync(resultsPath))
  for (const text of readFileSync(resultsPath, 'utf8').trim().split('\n').filter(Boolean)) {
    const result: Result = JSON.parse(text)
    results.set(result.id, result)
  }
const chosen = mutants.filter(({ seed }) => values.only === undefined || String(seed) === values.only)
const waiting = chosen.filter(({ id }) => !isCaught(results.get(id)))
const count = waiting.length
const byId = new Map(chosen.map(mutant => [mutant.id, mutant]))
let done = 0
function note(result: Result): void {
  results.set(result.id, result)
  appendFileSync(resultsPath, `${JSON.stringify(result)}\n`)
  done += 1
  const { file, line, operator } = byId.get(result.id) as Drawn
  const how = result.ended === 'passed' ? `SURVIVED (${result.left} left)` : result.ended
  console.log(`${done}/${count} #${result.id} ${how} ${relative(root, file)}:${line} ${operator} ${result.by ?? ''}`)
}
const testsMs = Number(values.seconds) * 1_000
const isLoaded = ({ id, atLoad }: Drawn): boolean => atLoad || measured.atLoad.has(id)
const loaded = waiting.filter(isLoaded)
const together = waiting.filter(mutant => !isLoaded(mutant))
await Promise.all(
  runners.map(async (runner, at) => {
    const mutants = together.filter((_, index) => index % runners.length === at)
    await tryTogether({ mutants, before: results, measured, testsMs, onResult: note }, runner)
    for (let mutant = loaded.shift(); mutant; mutant = loaded.shift())
      note(await tryMutant({ mutant, before: results.get(mutant.id), measured, testsMs }, runner))
  }),
)
printReport({ mutants: chosen, results, root })
process.exit()
