import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createGateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, inject, onTestFinished } from 'vitest'
import { models } from './fixture.ts'

const credit = 1_000_000_000_000
const pause = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

export interface ChildOptions {
  /** How many times as fast its clock runs. */
  readonly speed: number
  readonly busyTimeoutMs: number
}

export interface Child {
  readonly url: string
  /** From now on, no database of its process may grow; or it may again. */
  readonly disk: (state: 'full' | 'room') => void
  readonly kill: () => Promise<void>
}

/** One file, and a key for it. */
export async function newFile(): Promise<{ readonly file: string; readonly secret: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-faults-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'signalbox.db')
  const gateway = createGateway({ providers: [simulated({ id: 'sim' })], models, storage: sqliteStorage(file) })
  await gateway.workspaces.create({ id: 'w', name: 'W' })
  await gateway.workspaces('w').billing.credit({ reference: 'first', amount: credit })
  const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'k' })
  await gateway.close()
  return { file, secret }
}

export async function startChild(file: string, { speed, busyTimeoutMs }: ChildOptions): Promise<Child> {
  const args = [inject('programs')['storage-faults'], file, String(speed), String(busyTimeoutMs)]
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, args)
  let complaints = ''
  child.stderr.on('data', data => {
    complaints = `${complaints}${data}`.slice(-4_000)
  })
  child.stdin.on('error', () => {})
  const gone = new Promise<void>(done => child.once('exit', () => done()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill)
  const url = await new Promise<string>((done, fail) => {
    child.stdout.once('data', (data: Buffer) => done(data.toString().trim()))
    child.once('exit', code => fail(new Error(`The gateway ended with ${code} before it listened: ${complaints}`)))
  })
  return { url, kill, disk: state => void child.stdin.write(`${state}\n`) }
}

/** Clients that send requests continuously, and their results. */
export interface Load {
  /** Ids of answers that were read to their end. */
  readonly delivered: Set<string>
  /** Statuses and breaks, by how often. */
  readonly outcomes: Map<string, number>
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly secret: string
  readonly workers: number
  /** Milliseconds between a delivered response and the next request of the same client. */
  readonly restMs: number
}

export function startLoad(urls: () => readonly string[], { secret, workers, restMs }: LoadOptions): Load {
  const delivered = new Set<string>()
  const outcomes = new Map<string, number>()
  let isOver = false
  const askOnce = async (url: string, model: string): Promise<string> => {
    const body = { model, input: 'What now?', stream: true, max_output_tokens: 500 }
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!text.includes('event: response.completed')) return String(response.status)
    delivered.add(response.headers.get('x-request-id') ?? '')
    return 'delivered'
  }
  const work = async (worker: number): Promise<void> => {
    for (let n = worker; !isOver; n++) {
      const alive = urls()
      const url = alive[n % Math.max(1, alive.length)]
      const outcome = url === undefined ? 'nobody' : await askOnce(url, n % 3 === 0 ? 'story' : 'echo').catch(() => 'broken')
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      await pause(outcome === 'delivered' ? restMs : 100)
    }
  }
  const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  return {
    delivered,
    outcomes,
    async stop() {
      isOver = true
      await all
    },
  }
}

/** The content of the file. */
export function booksOf(file: string) {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = db.prepare('SELECT id, result, cost FROM usage').all() as { id: string; result: string; cost: number }[]
    const entries = db.prepare("SELECT id, amount FROM entries WHERE account = 'credit:w' AND kind = 'usage'").all()
    const account = db.prepare("SELECT balance, held FROM accounts WHERE account = 'credit:w'").get()
    const holds = db.prepare('SELECT count(*) AS n FROM holds').get()
    return {
      rows,
      entries: entries.map(({ id, amount }) => ({ id: String(id), amount: Number(amount) })),
      balance: Number(account?.balance),
      held: Number(account?.held),
      holds: Number(holds?.n),
    }
  } finally {
    db.close()
  }
}

export type Books = ReturnType<typeof booksOf>

export const lostIn = ({ rows }: Books, delivered: ReadonlySet<string>): readonly string[] => {
  const written = new Set(rows.map(({ id }) => id))
  return [...delivered].filter(id => !written.has(id))
}

/** Each request is one row and at most one charge of the same amount, and their sum equals the spent credit. */
export function expectSound({ rows, entries, balance }: Books): void {
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  const charged = new Map(entries.map(({ id, amount }) => [id, -amount]))
  expect(rows.filter(({ id, cost }) => (charged.get(id) ?? 0) !== cost)).toEqual([])
  expect(entries.length).toBeLessThanOrEqual(rows.length)
  expect(credit - balance).toBe(rows.reduce((sum, { cost }) => sum + cost, 0))
}

/** Resolves to the milliseconds until `holds` does. */
export async function until(holds: () => boolean, atMostMs: number): Promise<number> {
  const started = performance.now()
  while (!holds() && performance.now() - started < atMostMs) await pause(50)
  return Math.round(performance.now() - started)
}

/** Takes the lock of the database, as a backup does; call the result to let go. */
export function lockFile(file: string): () => void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE')
  return () => {
    db.exec('COMMIT')
    db.close()
  }
}

export { pause }
