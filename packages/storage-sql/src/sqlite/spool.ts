import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SpoolStore } from '@signalbox/storage'
import { isBusy, isDamaged, type SqliteDatabase, type SqliteEngine } from './engine.ts'

// Each process has its own spool file, a SQLite database that it keeps under an exclusive lock. The operating system releases that lock
// when the process ends for any reason. So a file that can be locked is an orphan: no process id has to be trusted, and SQLite rolls back
// an append that a crash interrupted. Appends are synchronous and end with an fsync. They only happen while the store itself is not
// writable.

/** A spool of files beside a database. */
export interface SqliteSpool extends SpoolStore {
  close(): void
}

interface SpoolFile {
  readonly name: string
  readonly db: SqliteDatabase
}

interface State {
  readonly engine: SqliteEngine
  readonly path: string
  /** Files that are damaged or not spools. They are reported once and left in place. */
  readonly damaged: Set<string>
  own: SpoolFile | undefined
  isClosed: boolean
}

/** Maximum size of a spool file in bytes; further appends fail. */
const MAX_BYTES = 256 * 1024 * 1024

/** The spool files beside a database. `await sqliteSpool(findEngine(), 'signalbox.db').append(['{"id":1}'])` */
export function sqliteSpool(engine: SqliteEngine, path: string): SqliteSpool {
  const state: State = { engine, path, damaged: new Set(), own: undefined, isClosed: false }
  return {
    append: async lines => append(state, lines),
    clear: async () => state.own?.db.exec('DELETE FROM lines'),
    adopt: async () => (state.isClosed ? [] : adopt(state)),
    close: () => closeSpool(state),
  }
}

/** Creates a spool file and removes it. `checkSpool(findEngine(), '/var/lib/app/signalbox')` */
export function checkSpool(engine: SqliteEngine, path: string): void {
  try {
    removeSpool(openOwn(engine, path))
  } catch (error) {
    const trouble = error instanceof Error ? error.message : String(error)
    throw new Error(
      `no file \`${spoolPrefix(path)}…\` can be written in \`${dirname(path)}\`: ${trouble}. Name a path as \`spool\` whose folder exists and can be written.`,
      { cause: error },
    )
  }
}

const spoolPrefix = (path: string): string => `${basename(path)}-spool-`

function openOwn(engine: SqliteEngine, path: string): SpoolFile {
  for (;;) {
    const name = join(dirname(path), `${spoolPrefix(path)}${randomUUID()}`)
    const db = lock(engine, name)
    if (!db) continue
    // Another process may have adopted and removed the new file before it was locked.
    if (existsSync(name)) return { name, db }
    db.close()
  }
}

function append(state: State, lines: readonly string[]): void {
  if (state.isClosed) throw new Error(`sqliteStorage: \`${state.path}\` is closed; its spool cannot be written.`)
  state.own ??= openOwn(state.engine, state.path)
  const { db, name } = state.own
  const more = lines.reduce((sum, line) => sum + line.length, 0)
  if (usedBytes(db) + more > MAX_BYTES)
    throw new Error(`sqliteStorage: the spool \`${name}\` is full (${MAX_BYTES} bytes). Make the database writable again.`)
  const insert = db.prepare('INSERT INTO lines (line) VALUES (?1)')
  inTransaction(db, () => {
    for (const line of lines) insert.all(line)
  })
}

function adopt(state: State): readonly string[] {
  const lines: string[] = []
  for (const name of orphans(state)) {
    try {
      lines.push(...adoptOne(state, name))
    } catch (error) {
      if (isDamaged(state.engine, error)) state.damaged.add(name)
      // The lines adopted so far must be returned; the next call finds the rest.
      if (lines.length > 0) break
      throw new Error(`sqliteStorage: the spool \`${name}\` cannot be adopted: ${String(error)}.`, { cause: error })
    }
  }
  return lines
}

const orphans = (state: State): readonly string[] =>
  readdirSync(dirname(state.path))
    .filter(file => file.startsWith(spoolPrefix(state.path)) && !file.endsWith('-journal'))
    .map(file => join(dirname(state.path), file))
    .filter(name => name !== state.own?.name && !state.damaged.has(name))

function adoptOne(state: State, name: string): readonly string[] {
  const found = readUnderLock(state.engine, name)
  if (!found) return []
  try {
    if (found.lines.length > 0) append(state, found.lines)
  } catch (error) {
    found.db.close()
    throw error
  }
  removeSpool({ name, db: found.db })
  return found.lines
}

function closeSpool(state: State): void {
  state.isClosed = true
  const { own } = state
  state.own = undefined
  if (!own) return
  if (own.db.prepare('SELECT 1 FROM lines LIMIT 1').get() === undefined) removeSpool(own)
  else own.db.close()
}

/** Opens and locks a file, and creates it if missing; undefined if a live process has locked it. */
function lock(engine: SqliteEngine, name: string): SqliteDatabase | undefined {
  const db = engine.open(name)
  try {
    for (const pragma of ['busy_timeout = 0', 'locking_mode = EXCLUSIVE', 'journal_mode = TRUNCATE', 'synchronous = FULL'])
      db.exec(`PRAGMA ${pragma}`)
    // Takes the exclusive lock, which is kept after the COMMIT.
    db.exec('BEGIN EXCLUSIVE')
    db.exec('CREATE TABLE IF NOT EXISTS lines (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT')
    db.exec('COMMIT')
    return db
  } catch (error) {
    db.close()
    if (isBusy(engine, error)) return undefined
    throw error
  }
}

function readUnderLock(engine: SqliteEngine, name: string): { readonly db: SqliteDatabase; readonly lines: readonly string[] } | undefined {
  const db = lock(engine, name)
  if (!db) return undefined
  try {
    const rows = db.prepare('SELECT line FROM lines ORDER BY seq').all()
    return { db, lines: rows.map(({ line }) => String(line)) }
  } catch (error) {
    db.close()
    throw error
  }
}

const USED_BYTES =
  'SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size'
const usedBytes = (db: SqliteDatabase): number => Number(db.prepare(USED_BYTES).get()?.bytes)

/** Removes a locked file, so that a process that opens the name afterwards opens a new file. */
function removeSpool({ name, db }: SpoolFile): void {
  try {
    rmSync(name, { force: true })
    rmSync(`${name}-journal`, { force: true })
  } catch {
    // On systems that cannot remove an open file, it stays without lines.
    db.exec('DELETE FROM lines')
  }
  db.close()
}

function inTransaction(db: SqliteDatabase, run: () => void): void {
  db.exec('BEGIN')
  try {
    run()
    db.exec('COMMIT')
  } catch (error) {
    try {
      db.exec('ROLLBACK')
    } catch {
      // A full disk has ended the transaction.
    }
    throw error
  }
}
