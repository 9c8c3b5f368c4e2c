import { renameSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { allSettled, promised } from '@signalbox/storage/awaitable'
import { expect, onTestFinished, test } from 'vitest'
import { waitFor } from '../../../testing/test/waits.ts'
import { temporaryFile } from '../../test/temporary-file.ts'
import { sqliteStorage } from '../sqlite.ts'
import { findEngine } from './engine.ts'
import { openFileConnection } from './file-connection.ts'
import { command, statement } from './verb.ts'

test('a SQLite ping writes nothing and waits for no lock', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  onTestFinished(() => storage.close())
  await storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: 1 })
  const sizes = (): readonly number[] => [path, `${path}-wal`].map(file => statSync(file).size)
  const before = sizes()
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  for (let at = 0; at < 200; at++) await storage.ping()
  other.exec('COMMIT')
  expect(sizes()).toEqual(before)
})

test('a SQLite ping fails if the file is gone or replaced, and succeeds once it is back', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  onTestFinished(() => promised(storage.close).catch(() => {}))
  await storage.ping()
  renameSync(path, `${path}.away`)
  await expect(storage.ping()).rejects.toThrow()
  writeFileSync(path, 'no database at all'.repeat(1_000))
  await expect(storage.ping()).rejects.toThrow('moved or replaced')
  renameSync(`${path}.away`, path)
  await storage.ping()
})

test('a SQLite ping fails while writes wait for another process', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path, { busyTimeoutMs: 20_000 })
  onTestFinished(() => storage.close())
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const written = storage.ledger.credit({ id: 'c', account: 'a', amount: 5, at: 1 })
  await waitFor(() => expect(Promise.resolve(storage.ping())).rejects.toThrow('another process has held the write lock'))
  other.exec('COMMIT')
  await written
  await storage.ping()
})

test('a SQLite ping fails after a write on a full disk, until a write succeeds', async () => {
  const engine = findEngine()
  const db = engine.open(temporaryFile())
  db.exec('CREATE TABLE t (text TEXT) STRICT')
  db.exec('PRAGMA max_page_count = 10')
  const connection = openFileConnection(db, { engine, path: 'test.db', busyTimeoutMs: 1_000 })
  onTestFinished(() => connection.close())
  const insert = (text: string) => connection.write(command(statement('INSERT INTO t VALUES (?1)', text)))
  expect(connection.trouble()).toBeUndefined()
  await expect(insert('x'.repeat(100_000))).rejects.toThrow('full')
  expect(connection.trouble()?.message).toContain('full')
  await insert('x')
  expect(connection.trouble()).toBeUndefined()
})

test('a refused call does not make a SQLite ping fail', async () => {
  const storage = sqliteStorage(':memory:')
  onTestFinished(() => storage.close())
  const twice = { id: 'c', account: 'a', amount: 5, at: 1 }
  await allSettled([() => storage.ledger.credit(twice), () => storage.ledger.credit({ ...twice, amount: Number.NaN })])
  await storage.ping()
})
