import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../../test/temporary-file.ts'
import { sqliteSchemaSql, sqliteStorage } from '../sqlite.ts'
import { findEngine, type SqliteDatabase } from './engine.ts'
import { migrateFile } from './file-connection.ts'
import { migrate } from './migrate.ts'
import { verbRunner } from './run-verb.ts'
import { type Migration, sqliteMigrations } from './schema-versions.ts'
import type { Statement } from './verb.ts'

const AT = 1_750_000_000_000

/** A storage over a file of an older schema with these rows. */
function reopened(schema: number, rows: string) {
  const path = temporaryFile()
  const old = new DatabaseSync(path)
  migrateFile(old as unknown as SqliteDatabase, sqliteMigrations.slice(0, schema))
  old.exec(rows)
  old.close()
  const storage = sqliteStorage(path)
  onTestFinished(() => storage.close())
  return storage
}

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

test('the schema as text creates the same database, from an empty one and from any older version', () => {
  const shape = (db: SqliteDatabase) => db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  const whole = openEmpty()
  migrateFile(whole.db)
  for (const from of [0, 1, 4, sqliteMigrations.length - 1]) {
    const { db } = openEmpty()
    if (from > 0) migrateFile(db, sqliteMigrations.slice(0, from))
    db.exec(sqliteSchemaSql(from))
    expect(shape(db)).toEqual(shape(whole.db))
    migrateFile(db)
    expect(db.prepare('SELECT version FROM schema_version').all()).toEqual([{ version: sqliteMigrations.length }])
  }
})

test('a file of the first schema keeps its open holds, and expired ones are not freed again', async () => {
  const { ledger } = reopened(
    1,
    `INSERT INTO accounts (account, balance, held, credited, spent) VALUES ('a', 100, 10, 100, 0), ('b', 0, 10, 0, 0);
    INSERT INTO holds (id, amount, accounts, expires_at, lapsed)
      VALUES ('over', 60, '["a"]', ${AT}, 1), ('open', 10, '["a","b"]', ${AT + 9}, 0), ('empty', 5, '[]', ${AT + 9}, 0)`,
  )
  for (const account of ['a', 'b']) expect((await ledger.balance(account)).held).toBe(10)
  expect(await ledger.holds({ limit: 9 })).toEqual([
    { id: 'empty', version: 0 },
    { id: 'open', version: 0 },
  ])
  expect(await ledger.extend({ id: 'open', accounts: [{ account: 'a', floor: 0, amount: 5 }] })).toBeUndefined()
  expect((await ledger.balance('a')).held).toBe(15)
  await ledger.settle({ id: 'open', amounts: { a: 7 }, at: AT })
  expect(await ledger.balance('a')).toEqual({ balance: 93, held: 0, credited: 100, spent: 7 })
  expect((await ledger.balance('b')).held).toBe(0)
})

test('keys and workspaces of an older file become records, in order of creation', async () => {
  const { records } = reopened(
    2,
    `INSERT INTO workspaces (id, name, billing, created_at) VALUES ('ws_2', 'Second "to" none', 'postpaid', 7), ('ws_1', '', 'prepaid', 8);
    INSERT INTO keys (id, workspace_id, name, prefix, hash, scopes, rpm, created_at, created_by, expires_at, revoked_at, last_used_at) VALUES
      ('key_late', 'ws_1', 'CI', 'ak_late', 'hash late', '["inference","usage:read"]', 0, 20, 'key_first', 99, 30, 25),
      ('key_first', 'ws_1', '', 'ak_first', 'hash first', '[]', NULL, 10, NULL, NULL, NULL, NULL),
      ('key_other', 'ws_2', '{"odd":[1,null]}', 'ak_other', 'hash other', '[]', 60, 15, NULL, NULL, NULL, NULL)`,
  )
  expect((await records.list({ kind: 'workspace', limit: 9 })).map(({ body, ...row }) => ({ ...row, body: JSON.parse(body) }))).toEqual([
    {
      kind: 'workspace',
      workspaceId: 'ws_2',
      id: 'ws_2',
      version: 1,
      createdAt: 7,
      body: { name: 'Second "to" none', billing: 'postpaid' },
    },
    { kind: 'workspace', workspaceId: 'ws_1', id: 'ws_1', version: 1, createdAt: 8, body: { name: '', billing: 'prepaid' } },
  ])
  const keys = await records.list({ kind: 'key', limit: 9 })
  expect(keys.map(({ id }) => id)).toEqual(['key_first', 'key_other', 'key_late'])
  const known = { kind: 'key', workspaceId: 'ws_1', version: 1 }
  expect(keys.map(({ body: _, ...row }) => row)).toStrictEqual([
    { ...known, id: 'key_first', group: 'active', name: 'hash first', createdAt: 10 },
    { ...known, id: 'key_other', workspaceId: 'ws_2', group: 'active', name: 'hash other', createdAt: 15 },
    { ...known, id: 'key_late', group: 'revoked', name: 'hash late', createdAt: 20, usedAt: 25 },
  ])
  expect(keys.map(({ body }) => JSON.parse(body))).toStrictEqual([
    { name: '', prefix: 'ak_first', scopes: [] },
    { name: '{"odd":[1,null]}', prefix: 'ak_other', scopes: [], limits: { requestsPerMinute: 60 } },
    {
      name: 'CI',
      prefix: 'ak_late',
      scopes: ['inference', 'usage:read'],
      limits: { requestsPerMinute: 0 },
      createdBy: 'key_first',
      expiresAt: 99,
      revokedAt: 30,
    },
  ])
  expect((await records.findByName('key', 'hash late'))?.id).toBe('key_late')
})

test('entries of an older file are found by time', async () => {
  const { ledger } = reopened(
    2,
    `INSERT INTO movements (seq, id, kind, credited_account) VALUES (1, 'c', 'credit', 'a'), (2, 's', 'usage', '');
    INSERT INTO entries (account, seq, id, kind, amount, balance_after, at)
      VALUES ('a', 1, 'c', 'credit', 100, 100, ${AT}), ('a', 2, 's', 'usage', -7, 93, ${AT + 90_000_000})`,
  )
  expect(await ledger.entries('a', { limit: 9, to: AT + 1 })).toEqual([
    { id: 'c', account: 'a', kind: 'credit', amount: 100, balanceAfter: 100, at: AT },
  ])
  expect((await ledger.entries('a', { limit: 9, from: AT + 1 })).map(({ id }) => id)).toEqual(['s'])
})

test('an account whose sum exceeds the largest safe integer in an older file can be read, charged and corrected', async () => {
  const { ledger } = reopened(
    4,
    `INSERT INTO accounts (account, balance, held, credited, spent) VALUES ('a', 10000000000000000, 0, 10000000000000000, 0);
    INSERT INTO movements (seq, id, kind, credited_account) VALUES (1, 'c', 'credit', 'a');
    INSERT INTO entries (account, seq, id, kind, amount, balance_after, at) VALUES ('a', 1, 'c', 'credit', 1000000000000000, 10000000000000000, ${AT});`,
  )
  const most = Number.MAX_SAFE_INTEGER
  expect(await ledger.balance('a')).toEqual({ balance: most, held: 0, credited: most, spent: 0 })
  expect(await ledger.entries('a', { limit: 9 })).toMatchObject([{ id: 'c', balanceAfter: most }])
  expect(await ledger.reserve({ id: 'h', amount: 5, accounts: [{ account: 'a', floor: 0 }], at: AT })).toBeUndefined()
  await ledger.settle({ id: 'h', amounts: { a: 5 }, at: AT })
  await expect(ledger.credit({ id: 'more', account: 'a', amount: 1, at: AT })).rejects.toThrow(RangeError)
  for (const id of ['down', 'again']) await ledger.credit({ id, account: 'a', amount: -1e15, at: AT, kind: 'adjustment' })
  expect(await ledger.balance('a')).toEqual({ balance: 8e15 - 5, held: 0, credited: 8e15, spent: 5 })
})
