import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../src/group.ts'
import { migrate, sqliteMigrations } from '../src/migrations.ts'
import { sqliteStorage } from '../src/sqlite.ts'
import { temporaryFile } from './temporary-file.ts'

const AT = 1_750_000_000_000

function openTable() {
  const db = new DatabaseSync(temporaryFile())
  db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT')
  const connection = openConnection(db, { path: 'test.db', busyTimeoutMs: 1_000 })
  const insert = db.prepare('INSERT INTO t (n) VALUES (?)')
  const numbers = () =>
    db
      .prepare('SELECT n FROM t ORDER BY n')
      .all()
      .map(({ n }) => n)
  onTestFinished(() => connection.close())
  return { db, connection, insert, numbers }
}

test('a verb that throws is refused alone; what it had done is undone, its group is kept', async () => {
  const { connection, insert, numbers } = openTable()
  const outcomes = await Promise.allSettled([
    connection.write(() => insert.run(1)),
    connection.write(() => {
      insert.run(2)
      throw new Error('halfway')
    }),
    connection.write(() => insert.run(1)),
    connection.write(() => insert.run(3).changes),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(numbers()).toEqual([1, 3])
})

test('a COMMIT that fails refuses its whole group and keeps nothing of it; the next group is no worse for it', async () => {
  const { db, connection, numbers } = openTable()
  db.exec('PRAGMA foreign_keys = ON; CREATE TABLE child (n INTEGER REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)')
  const orphan = db.prepare('INSERT INTO child (n) VALUES (99)')
  const insert = db.prepare('INSERT INTO t (n) VALUES (?)')
  const outcomes = await Promise.allSettled([connection.write(() => insert.run(1)), connection.write(() => orphan.run())])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(numbers()).toEqual([])
  await connection.write(() => insert.run(2))
  expect(numbers()).toEqual([2])
})

test('nothing is answered before it is committed', async () => {
  const path = temporaryFile()
  const [one, other] = [sqliteStorage(path), sqliteStorage(path)]
  await one.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  expect((await other.ledger.balance('a', AT)).balance).toBe(5)
  await Promise.all([one.close(), other.close()])
})

test('while another process writes, a verb waits without holding up the event loop, and then names what is wrong', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path, { busyTimeoutMs: 200 })
  const blocker = new DatabaseSync(path)
  blocker.exec('BEGIN IMMEDIATE')
  let turns = 0
  const turning = setInterval(() => turns++, 5)
  const outcomes = await Promise.allSettled([storage.ping(), storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })])
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected' })
    expect(String(outcome.status === 'rejected' && outcome.reason)).toContain('busyTimeoutMs')
  }
  expect(turns).toBeGreaterThan(10)
  const patient = storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  setTimeout(() => blocker.exec('COMMIT'), 50)
  await patient
  clearInterval(turning)
  expect((await storage.ledger.balance('a', AT)).balance).toBe(5)
  blocker.close()
  await storage.close()
})

test('a closed storage says so', async () => {
  const storage = sqliteStorage(temporaryFile())
  await storage.close()
  await expect(storage.ping()).rejects.toThrow('is closed')
  await expect(storage.keys.findByHash('x')).rejects.toThrow('is closed')
})

test('a path that cannot be opened is named, with the way out', () => {
  expect(() => sqliteStorage('/nowhere/at/all.db')).toThrow(/cannot open `\/nowhere\/at\/all.db`.*folder/)
})

test('a storage that must outlive a power cut works like any other', async () => {
  const storage = sqliteStorage(temporaryFile(), { durability: 'full' })
  await storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: AT })
  expect((await storage.ledger.balance('a', AT)).balance).toBe(5)
  await storage.close()
})

test('migrations run once each, forward only; one that fails leaves the schema as it was', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, ['CREATE TABLE a (n INTEGER)'])
  migrate(db, ['CREATE TABLE a (n INTEGER)', 'CREATE TABLE b (n INTEGER)'])
  expect(() => migrate(db, ['', '', 'CREATE TABLE c (n INTEGER); CREATE TABLE a (n INTEGER)'])).toThrow('already exists')
  const tables = () =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => name)
  expect(tables()).toEqual(['a', 'b', 'schema_version'])
  expect(() => migrate(db, [''])).toThrow('a newer one made it')
  db.close()
})

test('counters and slots long over are forgotten', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const HOUR = 3_600_000
  await Promise.all(
    Array.from({ length: 2_000 }, async (_, n) => {
      await storage.counters.take([{ key: `k${n}`, amount: 1, limit: 1, windowMs: 1_000 }], AT)
      await storage.counters.enter({ key: `k${n}`, slot: 's', limit: 1, ttlMs: 1_000 }, AT)
    }),
  )
  for (let n = 0; n < 3_000; n++) void storage.counters.enter({ key: 'busy', slot: 's', limit: 1, ttlMs: 1_000 }, AT + HOUR)
  await storage.close()
  const db = new DatabaseSync(path)
  const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n
  expect([count('counters'), count('slots'), count('slot_counts')]).toEqual([0, 1, 1])
  db.close()
})

test('holds that ran out are deleted in time, also where nobody is ever refused', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  const accounts = [{ account: 'a', floor: Number.NEGATIVE_INFINITY }]
  const reserve = (id: string, at: number) => storage.ledger.reserve({ id, amount: 1, accounts, at, expiresAt: at + 1_000 })
  await Promise.all(Array.from({ length: 1_500 }, (_, n) => reserve(`crashed${n}`, AT)))
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => reserve(`live${n}`, AT + 1_000)))
  expect((await storage.ledger.balance('a', AT + 1_000)).held).toBe(1_000)
  await storage.close()
  const db = new DatabaseSync(path)
  expect(db.prepare("SELECT count(*) AS n FROM holds WHERE id LIKE 'crashed%'").get()?.n).toBe(0)
  db.close()
})

test('a file of the first schema keeps its open holds, and those marked as run out are not freed again', async () => {
  const path = temporaryFile()
  const old = new DatabaseSync(path)
  migrate(old, sqliteMigrations.slice(0, 1))
  old.exec(`
    INSERT INTO accounts (account, balance, held, credited, spent) VALUES ('a', 100, 10, 100, 0);
    INSERT INTO holds (id, amount, accounts, expires_at, lapsed) VALUES ('over', 60, '["a"]', ${AT}, 1), ('open', 10, '["a"]', ${AT + 9}, 0)`)
  old.close()
  const storage = sqliteStorage(path)
  expect((await storage.ledger.balance('a', AT)).held).toBe(10)
  expect((await storage.ledger.balance('a', AT + 9)).held).toBe(0)
  await storage.close()
})
