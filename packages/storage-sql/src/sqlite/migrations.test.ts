import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../../test/temporary-file.ts'
import { sqliteSchemaSql, sqliteStorage } from '../sqlite.ts'
import { findEngine, type SqliteDatabase } from './engine.ts'
import { migrateFile } from './file-connection.ts'
import { type Migration, migrate } from './migrate.ts'
import { verbRunner } from './run-verb.ts'
import type { Statement } from './verb.ts'

const AT = 1_750_000_000_000

function openEmpty() {
  const db = findEngine().open(temporaryFile())
  onTestFinished(() => db.close())
  const tables = () =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => name)
  return { db, tables }
}

test('migrations run once each, forward only; one that fails leaves the schema unchanged', () => {
  const { db, tables } = openEmpty()
  migrateFile(db, [['CREATE TABLE a (n INTEGER)']])
  migrateFile(db, [['CREATE TABLE a (n INTEGER)'], ['CREATE TABLE b (n INTEGER)']])
  expect(() => migrateFile(db, [[], [], ['CREATE TABLE c (n INTEGER)', 'CREATE TABLE a (n INTEGER)']])).toThrow('already exists')
  expect(tables()).toEqual(['a', 'b', 'schema_version'])
  expect(() => migrateFile(db, [[]])).toThrow('a newer version created it')
})

test('a process overtaken by another during a migration finds it done', async () => {
  const { db, tables } = openEmpty()
  const known: readonly Migration[] = [['CREATE TABLE a (n INTEGER)'], ['CREATE TABLE b (n INTEGER)']]
  const { batch } = verbRunner(db)
  let isOvertaken = false
  const inTransaction = (statements: readonly Statement[]) => {
    db.exec('BEGIN')
    try {
      return batch(statements)
    } finally {
      db.exec('COMMIT')
    }
  }
  await migrate(statements => {
    if (!isOvertaken && statements.some(({ sql }) => sql.includes('TABLE a'))) {
      isOvertaken = true
      migrateFile(db, known)
    }
    return inTransaction(statements)
  }, known)
  expect(isOvertaken).toBe(true)
  expect(tables()).toEqual(['a', 'b', 'schema_version'])
})

test('the schema as text creates the same database, and the newest one needs no migration', () => {
  const shape = (db: SqliteDatabase) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  const whole = openEmpty()
  migrateFile(whole.db)
  const { db } = openEmpty()
  db.exec(sqliteSchemaSql())
  expect(shape(db)).toEqual(shape(whole.db))
  const version = () => db.prepare('SELECT version FROM schema_version').all()
  const before = version()
  migrateFile(db)
  expect(version()).toEqual(before)
})

test('an account whose sum exceeds the largest safe integer can be read, charged and corrected', async () => {
  const path = temporaryFile()
  const file = new DatabaseSync(path)
  file.exec(sqliteSchemaSql())
  file.exec(`
    INSERT INTO accounts (account, balance, held, credited, spent) VALUES ('a', 10000000000000000, 0, 10000000000000000, 0);
    INSERT INTO movements (seq, id, kind, credited_account) VALUES (1, 'c', 'credit', 'a');
    INSERT INTO entries (account, seq, id, kind, amount, balance_after, at)
      VALUES ('a', 1, 'c', 'credit', 1000000000000000, 10000000000000000, ${AT})`)
  file.close()
  const { ledger, close } = sqliteStorage(path)
  onTestFinished(() => close())
  const most = Number.MAX_SAFE_INTEGER
  expect(await ledger.balance('a')).toEqual({ balance: most, held: 0, credited: most, spent: 0 })
  expect(await ledger.entries('a', { limit: 9 })).toMatchObject([{ id: 'c', balanceAfter: most }])
  expect(await ledger.reserve({ id: 'h', amount: 5, accounts: [{ account: 'a', floor: 0 }], at: AT })).toBeUndefined()
  await ledger.settle({ id: 'h', amounts: { a: 5 }, at: AT })
  await expect(ledger.credit({ id: 'more', account: 'a', amount: 1, at: AT })).rejects.toThrow(RangeError)
  for (const id of ['down', 'again']) await ledger.credit({ id, account: 'a', amount: -1e15, at: AT, kind: 'adjustment' })
  expect(await ledger.balance('a')).toEqual({ balance: 8e15 - 5, held: 0, credited: 8e15, spent: 5 })
})
