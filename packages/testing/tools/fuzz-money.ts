import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import fc from 'fast-check'
import { faultsIn, play, runs } from '../test/money-runs.ts'

// Plays random lives of a gateway and looks into its books after each: `pnpm lab money --runs 10000 --store memory --seed 7`.

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, store: { type: 'string', default: 'memory' }, seed: { type: 'string' } },
})
const folder = mkdtempSync(join(tmpdir(), 'signalbox-fuzz-'))
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
const outcomes = new Map<string, number>()
let played = 0
let slowest = 0
const began = performance.now()

const property = fc.asyncProperty(runs, async run => {
  const file = join(folder, `${played}.db`)
  const storage = values.store === 'sqlite' ? sqliteStorage(file) : memoryStorage()
  const at = performance.now()
  const life = await play(run, storage)
  for (const outcome of life.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  const faults = await faultsIn(life)
  await storage.close()
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  played += 1
  slowest = Math.max(slowest, performance.now() - at)
  if (played % 500 === 0) process.stdout.write(`${played} runs, ${Math.round((performance.now() - began) / 1_000)} s\n`)
  if (faults.length > 0) throw new Error(faults.join('\n'))
})

process.stdout.write(`${values.runs} runs over ${values.store}, seed ${seed}\n`)
try {
  await fc.assert(property, { numRuns: Number(values.runs), seed })
} finally {
  rmSync(folder, { recursive: true, force: true })
  const told = [...outcomes].sort(([, a], [, b]) => b - a).map(([outcome, count]) => `${outcome} ${count}`)
  process.stdout.write(`${played} runs played, the slowest in ${Math.round(slowest)} ms; ${told.join(', ')}\n`)
}
