import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { medianOf } from './numbers.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'

/** A database size, and the keys that requests use. */
interface Size {
  readonly title: string
  readonly keys: number
  readonly used: number
  readonly rows: number
}

const sizes: readonly Size[] = [
  { title: '10 keys', keys: 10, used: 10, rows: 0 },
  { title: '100,000 keys, 10 in use', keys: 100_000, used: 10, rows: 0 },
  { title: '100,000 keys in turns', keys: 100_000, used: 100_000, rows: 0 },
  { title: '1,000,000 usage rows', keys: 10, used: 10, rows: 1_000_000 },
  { title: '10,000,000 usage rows', keys: 10, used: 10, rows: 10_000_000 },
]
const inFlight = 32
const keysAtOnce = 500
const rowsAtOnce = 1_000_000
/** Maximum CPU per request relative to the smallest database. */
const target = 1.1

interface Opened {
  readonly size: Size
  readonly storage: Storage
  readonly gateway: Gateway
  readonly bytes: number
  next: number
}

/** CPU cost of a request with few and with many keys and usage rows, over SQLite, measured in turns and without sockets. */
export const growth: Section = async ({ quick, only }) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const chosen = sizes.filter(({ title }) => only.every(word => title.includes(word)))
  const opened: Opened[] = []
  try {
    for (const size of chosen) {
      process.stderr.write(`growth: ${size.title}\n`)
      opened.push(await open(join(folder, `${opened.length}.db`), size))
    }
    const found = opened.map((): number[] => [])
    for (let round = 0; round < (quick ? 4 : 10); round++)
      for (const [at, each] of opened.entries()) {
        const cpu = await measure(each, quick ? 1_500 : 4_000)
        // The first round compiles.
        if (round > 0) found[at]?.push(cpu)
      }
    return describe(opened, found)
  } finally {
    for (const { gateway } of opened) await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const secretOf = (n: number): string => `ak_bench-key-${String(n).padStart(8, '0')}`

async function open(file: string, size: Size): Promise<Opened> {
  const storage = sqliteStorage(file)
  const offer = { provider: 'sim', model: 'echo', api: 'chat', price: { input: 250_000, output: 2_000_000 } }
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'echo', offers: [offer] }],
    storage,
    limits: { inferenceRpm: 1_000_000_000, concurrentRequests: 100_000 },
  })
  const { id } = await gateway.workspaces.create({ name: 'Bench' })
  await gateway.workspaces(id).billing.credit({ reference: 'bench', amount: 1_000_000_000_000 })
  const made = await gateway.workspaces(id).apiKeys.create({ name: 'bench' })
  const key = await storage.records.find('key', id, made.id)
  if (!key) throw new Error('The key that was made is not there.')
  const { version: _, usedAt: __, ...fields } = key
  for (let from = 0; from < size.keys; from += keysAtOnce) {
    const some = Array.from({ length: Math.min(keysAtOnce, size.keys - from) }, (_, at) => from + at)
    const puts = some.map(n => ({ ...fields, id: `key-${n}`, name: createHash('sha256').update(secretOf(n)).digest('hex'), version: 0 }))
    const conflict = await storage.records.commit({ puts })
    if (conflict) throw new Error(`Keys could not be made: ${JSON.stringify(conflict)}`)
  }
  if (size.rows > 0) fillUsage(file, id, size.rows)
  return { size, storage, gateway, bytes: statSync(file).size, next: 0 }
}

/** Adds rows of the last 30 days, as if the totals had counted them. */
function fillUsage(file: string, workspaceId: string, rows: number): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = OFF')
  const fill = db.prepare(`WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
    INSERT INTO usage (id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, result, attempts, duration_ms, warnings)
    SELECT printf('00000000-%028d', i), ?3, 'key-' || (i % 10), CAST(?4 + i * 2592000000 / ?5 AS INTEGER), 'echo', 'echo', 'sim', 'platform', 'balanced', 0,
      100, 100, 0, 0, 0, 0, 7, 'ok', 1, 500, '[]' FROM n`)
  const start = Date.now() - 2_592_000_000
  for (let from = 0; from < rows; from += rowsAtOnce) fill.run(from, Math.min(rows, from + rowsAtOnce), workspaceId, start, rows)
  db.exec('UPDATE usage_rolled SET seq = (SELECT max(seq) FROM usage)')
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Microseconds of the process's CPU per request. */
async function measure(opened: Opened, requests: number): Promise<number> {
  const { gateway, size } = opened
  const end = opened.next + requests
  const before = process.cpuUsage()
  const loop = async (): Promise<void> => {
    while (opened.next < end) {
      const caller = await gateway.authenticate(secretOf(opened.next++ % size.used))
      const body = { model: 'echo', input: 'Say it.', max_output_tokens: 20 }
      await gateway
        .infer(
          gateway.dialects.responses.decodeRequest(body, () => undefined),
          { caller },
        )
        .whole()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

function describe(opened: readonly Opened[], found: readonly (readonly number[])[]): string {
  const [first = []] = found
  const rows = opened.map(({ size, bytes }, at) => {
    const ratio = medianOf((found[at] ?? []).map((cpu, round) => cpu / (first[round] ?? cpu)))
    return [
      size.title,
      (bytes / 1e6).toFixed(0),
      medianOf(found[at] ?? []).toFixed(0),
      `${ratio.toFixed(2)} ${ratio <= target ? '✓' : '✗'}`,
    ]
  })
  return [
    `One process over SQLite, ${inFlight} requests under way, without sockets; the median of rounds in turns. Target: at most ${target} × the first line. A process keeps 30,000 keys for 30 s each, so with 100,000 in turns each request reads its key.`,
    table(['database', 'MB', 'CPU µs a request', '÷ the first'], rows),
  ].join('\n\n')
}
