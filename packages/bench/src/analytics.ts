import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Awaitable, TotalsQuery, UsageRow, UsageStore } from '@signalbox/storage'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import type { DashboardFound } from './children/dashboard.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'

const DAY = 86_400_000
/** Midnight UTC, thirty days before the last row. */
const from = 20_000 * DAY
const days = 30
const month: TotalsQuery = { workspaceId: 'ws_bench', from, to: from + days * DAY }
const [keys, models, providers] = [20, 30, 6]
const [totalsMs, pageMs, firstByteMs] = [300, 20, 200]

/** The cost of dashboard queries over a month of a busy workspace in one SQLite file. */
export const analytics: Section = async ({ quick, only }) => {
  const rows = quick ? 100_000 : 1_000_000
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const path = join(folder, 'usage.db')
  const storage = sqliteStorage(path)
  try {
    const filled = await fill(storage.usage, rows)
    const asked: (readonly string[])[] = []
    for (const { title, most, ask } of questions.filter(({ title }) => only.every(word => title.includes(word)))) {
      process.stderr.write(`analytics: ${title}\n`)
      const found: Found[] = []
      for (let round = 0; round < 5; round += 1) found.push(await observe(() => ask(storage.usage)))
      const [ms, cpu] = [medianOf(found.map(one => one.ms)), medianOf(found.map(one => one.cpu))]
      asked.push([title, most === undefined ? ms.toFixed(1) : against(ms, most), cpu.toFixed(1), String(found[0]?.answers)])
    }
    process.stderr.write('analytics: over the API\n')
    const { questions: overApi, export: read } = await dashboard(path)
    return [
      `${rows} requests of one workspace in ${days} days, with ${keys} keys, ${models} models and ${providers} providers. Filled in ${(filled.ms / 1000).toFixed(1)} s: ${((rows / filled.ms) * 1000).toFixed(0)} rows a second in groups of 512, ${((filled.cpu * 1000) / rows).toFixed(1)} µs of CPU each; ${(statSync(path).size / rows).toFixed(0)} bytes each on disk, with the totals kept beside them.`,
      `Median of 5. Targets: totals < ${totalsMs} ms, a page of 100 < ${pageMs} ms.`,
      table(['question', 'ms', 'CPU ms', 'answers'], asked),
      'Over the API, in another process:',
      table(
        ['question', 'ms'],
        overApi.map(({ title, ms }) => [title, against(ms, totalsMs)]),
      ),
      `An export of ${read.rows} rows, ${(read.bytes / 1e6).toFixed(1)} MB: the first byte after ${read.firstMs.toFixed(0)} ms (target ${firstByteMs}), all of it after ${(read.ms / 1000).toFixed(1)} s, and then ${(read.held / 1e6).toFixed(1)} MB more is held than after its first 10,000 rows; resident memory was ${(read.grown / 1e6).toFixed(0)} MB higher at most, garbage included.`,
    ].join('\n\n')
  } finally {
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Question {
  readonly title: string
  /** Target in milliseconds. */
  readonly most: number | undefined
  readonly ask: (usage: UsageStore) => Awaitable<readonly unknown[]>
}

const totals = (title: string, part: Partial<TotalsQuery>): Question => ({
  title,
  most: totalsMs,
  ask: usage => usage.totals({ ...month, ...part }),
})
const page = (title: string, part: Partial<Parameters<UsageStore['list']>[0]>): Question => ({
  title,
  most: pageMs,
  ask: usage => usage.list({ ...month, ...part, limit: 100 }),
})
const questions: readonly Question[] = [
  totals('summary', {}),
  totals('summary, from and to within an hour', { from: from + 1_234_567, to: month.to - 1_234_567 }),
  totals('summary of a key', { keyId: 'key_7' }),
  totals('days', { interval: 'day' }),
  ...(['model', 'provider', 'key'] as const).map(groupBy => totals(`days by ${groupBy}`, { interval: 'day', groupBy })),
  totals('days of a model', { interval: 'day', model: 'maker/model-7' }),
  totals('days of a provider', { interval: 'day', provider: 'provider-3' }),
  totals('days of a key', { interval: 'day', keyId: 'key_7' }),
  totals('hours', { interval: 'hour' }),
  // 21,600 totals, and one query that has to read rows; no target is set for these.
  { ...totals('hours by model', { interval: 'hour', groupBy: 'model' }), most: undefined },
  { ...totals('days of a key by model', { interval: 'day', keyId: 'key_7', groupBy: 'model' }), most: undefined },
  page('page', {}),
  page('page of a key', { keyId: 'key_7' }),
  page('page of a model of a key', { keyId: 'key_7', model: 'maker/model-7' }),
  page('page of an unknown key', { keyId: 'nobody' }),
]

interface Found {
  readonly ms: number
  /** CPU milliseconds, which is the duration on an idle machine. */
  readonly cpu: number
  readonly answers: number
}

async function observe(run: () => Awaitable<readonly unknown[]>): Promise<Found> {
  const [started, before] = [performance.now(), process.cpuUsage()]
  const answers = await run()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - started, cpu: (user + system) / 1000, answers: answers.length }
}

async function fill(usage: UsageStore, rows: number): Promise<Found> {
  process.stderr.write(`analytics: filling ${rows} rows\n`)
  return observe(async () => {
    const chance = makeChance()
    for (let n = 0; n < rows; ) {
      const group: Awaitable<void>[] = []
      for (; group.length < 512 && n < rows; n += 1)
        group.push(usage.append(makeRow(n, from + Math.floor((n * days * DAY) / rows), chance)))
      await Promise.all(group)
    }
    return []
  })
}

/** Runs in a separate process, so that the memory used to fill the file does not count. */
async function dashboard(path: string): Promise<DashboardFound> {
  const child = new URL('./children/dashboard.ts', import.meta.url).pathname
  const dates = [month.from, month.to].map(at => new Date(at).toISOString())
  const args = ['--expose-gc', '--conditions=signalbox-source', child, path, month.workspaceId, ...dates]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 })
  return JSON.parse(stdout)
}

type Chance = ReturnType<typeof makeChance>

/** A seeded generator, so that the rows are always the same. */
function makeChance() {
  let seed = 1
  const share = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  return {
    below: (most: number): number => Math.floor(share() * most),
    lognormal: (median: number, sigma: number): number =>
      Math.round(median * Math.exp(sigma * Math.sqrt(-2 * Math.log(share())) * Math.cos(2 * Math.PI * share()))),
  }
}

function makeRow(n: number, at: number, { below, lognormal }: Chance): UsageRow {
  const model = below(models)
  const firstContentMs = lognormal(300, 0.5)
  return {
    id: `req_${n.toString(36).padStart(20, '0')}`,
    workspaceId: month.workspaceId,
    keyId: `key_${below(keys)}`,
    at,
    modelAsked: 'fast',
    model: `maker/model-${model}`,
    provider: `provider-${model % providers}`,
    credential: 'platform',
    strategy: 'balanced',
    streamed: true,
    inputTokens: lognormal(500, 1),
    outputTokens: lognormal(200, 1),
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    estimated: false,
    cost: lognormal(300, 1),
    byokCost: 0,
    result: below(50) === 0 ? 'error' : 'ok',
    attempts: 1,
    durationMs: firstContentMs + lognormal(2_000, 0.8),
    firstContentMs,
    warnings: [],
  }
}
