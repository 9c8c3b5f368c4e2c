import { DatabaseSync } from 'node:sqlite'
import { isPromise } from '@signalbox/storage/awaitable'
import { expect, onTestFinished, test } from 'vitest'
import { findEngine } from '../src/sqlite/engine.ts'
import { openFileConnection } from '../src/sqlite/file-connection.ts'
import { command, query, statement } from '../src/sqlite/verb.ts'
import { sqliteStorage } from '../src/sqlite.ts'
import { temporaryFile } from './temporary-file.ts'

const AT = 1_750_000_000_000

function openTable(options: { readonly busyTimeoutMs: number } = { busyTimeoutMs: 1_000 }) {
  const engine = findEngine()
  const path = temporaryFile()
  const db = engine.open(path)
  db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT')
  const connection = openFileConnection(db, { engine, path, ...options })
  const insert = (...numbers: readonly number[]) =>
    connection.write(command(...numbers.map(n => statement('INSERT INTO t (n) VALUES (?1)', n))))
  const numbers = () =>
    db
      .prepare('SELECT n FROM t ORDER BY n')
      .all()
      .map(({ n }) => n)
  onTestFinished(() => connection.close())
  return { db, path, connection, insert, numbers }
}

test('a call that fails is rolled back alone, and the rest of its group is committed', async () => {
  const { connection, insert, numbers } = openTable()
  const throws = (): never => {
    throw new Error('halfway')
  }
  const outcomes = await Promise.allSettled([
    insert(1),
    insert(2, 1),
    connection.write({ statements: [statement('INSERT INTO t (n) VALUES (4)')], answer: throws }),
    insert(3),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(numbers()).toEqual([1, 3, 4])
})

test('calls made together are never split between transactions, wherever a group is full', async () => {
  const { connection, insert } = openTable()
  let isSameTransaction = false
  const before = Array.from({ length: 511 }, (_, n) => insert(n))
  await Promise.resolve()
  const first = connection.write({
    statements: [],
    answer() {
      isSameTransaction = true
      // After the answers of this transaction, and before the next one.
      queueMicrotask(() => {
        isSameTransaction = false
      })
    },
  })
  const second = connection.write({ statements: [], answer: () => isSameTransaction })
  await Promise.all([...before, first])
  expect(await second).toBe(true)
})

test('a failed COMMIT rejects and rolls back its whole group; the next group is not affected', async () => {
  const { db, connection, insert, numbers } = openTable()
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('CREATE TABLE child (n INTEGER REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)')
  const orphan = command(statement('INSERT INTO child (n) VALUES (99)'))
  const outcomes = await Promise.allSettled([insert(1), connection.write(orphan)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(numbers()).toEqual([])
  await insert(2)
  expect(numbers()).toEqual([2])
})

test('no call resolves before it is committed', async () => {
  const path = temporaryFile()
  const [one, other] = [sqliteStorage(path), sqliteStorage(path)]
  await one.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  expect((await other.ledger.balance('a')).balance).toBe(5)
  await Promise.all([one.close(), other.close()])
})

test('while another process writes, a call waits without blocking the event loop, then fails with the reason', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path, { busyTimeoutMs: 200 })
  const blocker = new DatabaseSync(path)
  blocker.exec('BEGIN IMMEDIATE')
  let turns = 0
  let turning = setImmediate(function turn() {
    turns += 1
    turning = setImmediate(turn)
  })
  const outcomes = await Promise.allSettled(['c', 'd'].map(id => storage.ledger.credit({ id, account: 'a', amount: 5, at: AT })))
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected' })
    expect(String(outcome.status === 'rejected' && outcome.reason)).toContain('busyTimeoutMs')
  }
  expect(turns).toBeGreaterThan(10)
  clearImmediate(turning)
  const patient = storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  setTimeout(() => blocker.exec('COMMIT'), 50)
  await patient
  expect((await storage.ledger.balance('a')).balance).toBe(5)
  blocker.close()
  await storage.close()
})

test('reads resolve at once, writes once they are committed, and a read that meets a lock once it is released', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const write = storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  expect(isPromise(write)).toBe(true)
  expect(storage.ledger.balance('a')).toMatchObject({ balance: 0 })
  await write
  expect(storage.ledger.balance('a')).toMatchObject({ balance: 5 })
  await storage.close()

  const { db, path: file, connection } = openTable()
  db.exec('PRAGMA busy_timeout = 0')
  const blocker = new DatabaseSync(file)
  blocker.exec('BEGIN EXCLUSIVE')
  const read = connection.read(query(statement('SELECT count(*) AS n FROM t'), ([row]) => row))
  expect(isPromise(read)).toBe(true)
  blocker.exec('COMMIT')
  expect(await read).toEqual({ n: 0 })
  blocker.close()
})

test('a call on a closed storage fails with that reason', async () => {
  const storage = sqliteStorage(temporaryFile())
  await storage.close()
  await expect(storage.ping()).rejects.toThrow('is closed')
  expect(() => storage.records.findByName('key', 'x')).toThrow('is closed')
})

test('a path that cannot be opened is named, with advice', () => {
  expect(() => sqliteStorage('/nowhere/at/all.db')).toThrow(/cannot open `\/nowhere\/at\/all.db`.*folder/)
})

test('a storage that must survive a power cut works like any other', async () => {
  const storage = sqliteStorage(temporaryFile(), { durability: 'full' })
  await storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  expect((await storage.ledger.balance('a')).balance).toBe(5)
  await storage.close()
})

test('counters and slots long expired are removed', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const HOUR = 3_600_000
  await Promise.all(
    Array.from({ length: 2_000 }, async (_, n) => {
      await storage.counters.take([{ key: `k${n}`, amount: 1, limit: 1, windowMs: 1_000 }], AT)
      await storage.counters.enter({ key: `k${n}`, slot: 's', limit: 1, ttlMs: 1_000 }, AT)
    }),
  )
  const enterBusy = () => storage.counters.enter({ key: 'busy', slot: 's', limit: 1, ttlMs: 1_000 }, AT + HOUR)
  for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 100 }, enterBusy))
  await storage.close()
  const db = new DatabaseSync(path)
  const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n
  expect([count('counters'), count('slots'), count('slot_counts')]).toEqual([0, 1, 1])
  db.close()
})

test('a file may be opened by other processes, memory never, unless configured otherwise', async () => {
  const path = temporaryFile()
  const isShared = async (where: string, options?: { readonly shared: boolean }): Promise<boolean> => {
    const storage = sqliteStorage(where, options)
    await storage.close()
    return storage.isShared
  }
  expect(await isShared(path)).toBe(true)
  expect(await isShared(path, { shared: false })).toBe(false)
  expect(await isShared(':memory:')).toBe(false)
})

test('an audit row modified outside the store is returned as it is', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  onTestFinished(() => storage.close())
  const told = {
    id: 'r',
    workspaceId: 'ws_1',
    event: 'e',
    subjectType: 's',
    subjectId: 's',
    at: AT,
    changes: '{}',
    previousHash: '',
    hash: 'h',
  }
  await storage.records.commit({ audit: [{ ...told, place: 1 }] })
  const db = new DatabaseSync(path)
  db.exec("UPDATE audit SET event = 'other'")
  db.close()
  expect(await storage.audit.chain('ws_1', { after: 0, limit: 9 })).toEqual([{ ...told, place: 1, event: 'other' }])
})

test('old entries are found without reading newer ones', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const HOUR = 3_600_000
  await Promise.all(Array.from({ length: 3_000 }, (_, n) => storage.ledger.settle({ id: `s${n}`, amounts: { a: 1 }, at: AT + n * HOUR })))
  const query = { from: AT + 100 * HOUR, to: AT + 103 * HOUR, limit: 10 }
  expect((await storage.ledger.entries('a', query)).map(({ id }) => id)).toEqual(['s102', 's101', 's100'])
  await storage.close()
  const db = new DatabaseSync(path)
  const stretch = db.prepare(
    "SELECT min(first_seq) AS first, max(last_seq) AS last FROM entry_hours WHERE account = 'a' AND hour BETWEEN ? AND ?",
  )
  const hour = Math.trunc(AT / HOUR)
  const { first, last } = stretch.get(hour + 100, hour + 103) as { first: number; last: number }
  expect(last - first).toBeLessThan(5)
  db.close()
})
