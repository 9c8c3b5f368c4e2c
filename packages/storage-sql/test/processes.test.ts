import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Storage } from '@signalbox/storage'
import { expect, inject, onTestFinished, test } from 'vitest'
import { libsqlStorage } from '../src/libsql.ts'
import { sqliteStorage } from '../src/sqlite.ts'
import { temporaryFile } from './temporary-file.ts'

const AT = 1_750_000_000_000
const child = fileURLToPath(new URL('child.ts', import.meta.url))

/** What opens the same file. */
const drivers = {
  sqlite: (path: string): Storage => sqliteStorage(path),
  libsql: (path: string): Storage => libsqlStorage({ url: `file:${path}` }),
}
type Driver = keyof typeof drivers
/** The usual run tries one of them. */
const someDrivers = (Object.keys(drivers) as Driver[]).slice(0, inject('isLongRun') ? undefined : 1)

interface Running {
  readonly process: ChildProcess
  readonly text: () => string
  /** Resolves when the process has exited and its output was read. */
  readonly over: Promise<unknown>
}

interface Started {
  readonly path: string
  readonly name: string
  readonly driver: Driver
}

function start(task: 'work' | 'race' | 'agree', { path, name, driver }: Started): Running {
  const process_ = spawn(
    process.execPath,
    ['--conditions=signalbox-source', child, task, driver === 'libsql' ? `file:${path}` : path, name],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  onTestFinished(() => {
    process_.kill('SIGKILL')
  })
  let text = ''
  process_.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  return { process: process_, text: () => text, over: once(process_, 'close') }
}

function open(path: string, driver: Driver): Storage {
  const storage = drivers[driver](path)
  onTestFinished(() => storage.close())
  return storage
}

async function killWhen(running: Running, lines: number): Promise<readonly (readonly [string, string])[]> {
  while (running.process.exitCode === null && running.text().split('\n').length < lines)
    await new Promise(resolve => setTimeout(resolve, 5))
  running.process.kill('SIGKILL')
  await running.over
  return running
    .text()
    .split('\n')
    .filter(line => line.length > 0)
    .map(line => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? ''] as const)
}

async function checkBooks(storage: Storage, account: string): Promise<ReadonlySet<string>> {
  const entries = await storage.ledger.entries(account, { limit: 1_000_000 })
  const sum = entries.reduce((total, entry) => total + entry.amount, 0)
  expect((await storage.ledger.balance(account)).balance).toBe(sum)
  const names = entries.map(({ kind, id }) => `${kind} ${id}`)
  expect(new Set(names).size).toBe(names.length)
  return new Set(names)
}

test.each(someDrivers)('%s: kill -9 under load loses no acknowledged write, and each remaining hold is listed', async driver => {
  const path = temporaryFile()
  const acknowledged = new Set<string>()
  for (let round = 0; round < (inject('isLongRun') ? 4 : 2); round++) {
    const lines = await killWhen(start('work', { path, name: `r${round}`, driver }), 200 + round * (driver === 'libsql' ? 100 : 531))
    expect(lines.length).toBeGreaterThan(100)
    for (const [verb, id] of lines) acknowledged.add(`${verb} ${id}`)
  }

  const storage = open(path, driver)
  const inA = await checkBooks(storage, 'a')
  const inB = await checkBooks(storage, 'b')
  const used = new Set((await storage.usage.list({ workspaceId: 'ws_1', from: 0, to: AT * 2, limit: 1_000_000 })).map(({ id }) => id))
  const db = new DatabaseSync(path)
  const left = new Set(
    db
      .prepare('SELECT id FROM holds')
      .all()
      .map(({ id }) => id),
  )
  db.close()
  const lost = [...acknowledged].filter(line => {
    const [verb, id = ''] = line.split(' ')
    if (verb === 'credit') return !inA.has(`credit ${id}`)
    if (verb === 'settle') return !inA.has(`usage ${id}`) || !inB.has(`usage ${id}`) || !used.has(id)
    // Each admitted hold is either settled or still listed.
    return left.has(id) === inA.has(`usage ${id}`)
  })
  expect(lost).toEqual([])
  expect([...used].map(id => `usage ${id}`).sort()).toEqual([...inA].filter(name => name.startsWith('usage ')).sort())
  const listed = await storage.ledger.holds({ limit: 1_000_000 })
  expect(new Set(listed.map(({ id }) => id))).toEqual(left)
  for (const { id } of listed) await storage.ledger.settle({ id, amounts: {}, at: AT })
  for (const account of ['a', 'b']) expect((await storage.ledger.balance(account)).held).toBe(0)
  const slots = Array.from({ length: 50 }, (_, n) =>
    storage.counters.enter({ key: 'slots', slot: `s${n}`, limit: 50, ttlMs: 1 }, AT + 1_000),
  )
  expect((await Promise.all(slots)).every(Boolean)).toBe(true)
})

test.each(someDrivers)(
  '%s: two processes that open one file concurrently together admit exactly the limit, and never overspend',
  async driver => {
    const path = temporaryFile()
    const filler = drivers[driver](path)
    await filler.ledger.credit({ id: 'c', account: 'a', amount: 3_330, at: AT })
    await filler.close()
    const racers = ['one', 'two'].map(name => start('race', { path, name, driver }))
    await Promise.all(racers.map(racer => racer.over))
    const counts = racers.map(racer => JSON.parse(racer.text()) as Record<string, number>)
    const total = (pick: string) => counts.reduce((sum, count) => sum + (count[pick] ?? 0), 0)
    const names = ['taken', 'held', 'heldWide', 'entered', 'admittedBySlots', 'admittedByMoney']
    const all = Object.fromEntries(names.map(name => [name, total(name)]))
    expect(all).toEqual({ taken: 500, held: 333, heldWide: 100, entered: 123, admittedBySlots: 77, admittedByMoney: 50 })
    const { ledger } = open(path, driver)
    expect((await ledger.balance('x')).held).toBe(100)
    expect((await ledger.balance('y')).held).toBe(700)
  },
)

test('two processes that change one record and one audit chain lose no change, log each once and credit nothing twice', async () => {
  const path = temporaryFile()
  const racers = ['one', 'two'].map(name => start('agree', { path, name, driver: 'sqlite' }))
  await Promise.all(racers.map(racer => racer.over))
  const counts = racers.map(racer => JSON.parse(racer.text()) as Record<string, number>)
  const total = (pick: string) => counts.reduce((sum, count) => sum + (count[pick] ?? 0), 0)
  expect({ steps: total('steps'), gifts: total('gifts') }).toEqual({ steps: 200, gifts: 100 })
  expect(total('conflicts')).toBeGreaterThan(0)

  const { records, audit, ledger } = open(path, 'sqlite')
  expect(await records.find('counter', 'ws_1', 'c')).toMatchObject({ version: 200, body: '200' })
  const chain = await audit.chain('ws_1', { after: 0, limit: 1_000 })
  expect(chain.map(({ place }) => place)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
  for (const [index, row] of chain.entries()) expect(row.previousHash).toBe(chain[index - 1]?.hash ?? '')
  expect(new Set(chain.map(({ id }) => id)).size).toBe(200)
  expect((await ledger.balance('a')).credited).toBe(600)
  expect((await ledger.balance('b')).credited).toBe(100)
})

test('processes that create one file concurrently all find it ready', async () => {
  const path = temporaryFile()
  const racers = ['one', 'two', 'three'].map(name => start('race', { path, name, driver: 'sqlite' }))
  await Promise.all(racers.map(racer => racer.over))
  expect(racers.map(racer => racer.process.exitCode)).toEqual([0, 0, 0])
})
