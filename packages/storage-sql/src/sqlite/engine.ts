import type { Row, Value } from './verb.ts'

// A thin abstraction over the SQLite of each runtime, `node:sqlite` and `bun:sqlite`. Everything is synchronous.

/** The SQLite of a runtime. */
export interface SqliteEngine {
  /** Opens a file, and creates it if it is missing (unless read-only). */
  open(path: string, options?: { readonly readOnly?: boolean }): SqliteDatabase
  /** The primary result code of a SQLite error; 0 for other errors. */
  codeOf(error: unknown): number
}

/** An open file. */
export interface SqliteDatabase {
  prepare(sql: string): PreparedStatement
  /** Runs statements that return nothing. */
  exec(sql: string): void
  close(): void
}

/** A statement that may run many times. */
export interface PreparedStatement {
  all(...values: readonly Value[]): readonly Row[]
  /** The first row. */
  get(...values: readonly Value[]): Row | undefined
}

/** SQLITE_BUSY: another connection holds the lock. */
const BUSY = 5
/** Codes of files that cannot be written: read-only, I/O error, damaged, full, cannot be opened, not a database. */
const unwritable: ReadonlySet<number> = new Set([8, 10, 11, 13, 14, 26])
/** SQLITE_CORRUPT and SQLITE_NOTADB: a retry does not help. */
const damaged: ReadonlySet<number> = new Set([11, 26])

/** Whether another connection holds the lock. */
export const isBusy = (engine: SqliteEngine, error: unknown): boolean => engine.codeOf(error) === BUSY
/** Whether the file cannot be written. */
export const isUnwritable = (engine: SqliteEngine, error: unknown): boolean => unwritable.has(engine.codeOf(error))
/** Whether the file is damaged or not a database. */
export const isDamaged = (engine: SqliteEngine, error: unknown): boolean => damaged.has(engine.codeOf(error))

/** The SQLite of the current runtime. Does not load the module of any other runtime. */
export function findEngine(): SqliteEngine {
  return 'Bun' in globalThis ? bunEngine() : nodeEngine()
}

function nodeEngine(): SqliteEngine {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  return {
    open: (path, { readOnly = false } = {}) => new DatabaseSync(path, { readOnly }) as unknown as SqliteDatabase,
    codeOf: error => codeIn(error, 'errcode'),
  }
}

/** The part of `bun:sqlite` that is used. */
interface BunSqlite {
  readonly Database: new (path: string, options: Readonly<Record<string, boolean>>) => BunDatabase
}
interface BunDatabase {
  prepare(sql: string): BunStatement
  exec(sql: string): void
  close(): void
}
interface BunStatement {
  all(...values: readonly Value[]): Row[]
  get(...values: readonly Value[]): Row | null
  finalize(): void
}

function bunEngine(): SqliteEngine {
  const { Database } = process.getBuiltinModule('bun:sqlite' as 'node:sqlite') as unknown as BunSqlite
  return {
    open: (path, { readOnly = false } = {}) =>
      openInBun(new Database(path, readOnly ? { readonly: true } : { create: true, readwrite: true })),
    codeOf: error => codeIn(error, 'errno'),
  }
}

/** Statements are cached by text, and finalized with the database: Bun keeps a file open and locked as long as one exists. */
function openInBun(db: BunDatabase): SqliteDatabase {
  const statements = new Map<string, BunStatement>()
  return {
    prepare(sql) {
      const prepared = statements.get(sql) ?? db.prepare(sql)
      statements.set(sql, prepared)
      return { all: (...values) => prepared.all(...values), get: (...values) => prepared.get(...values) ?? undefined }
    },
    exec: sql => db.exec(sql),
    close() {
      for (const prepared of statements.values()) prepared.finalize()
      db.close()
    },
  }
}

/** Extended codes have the primary one in their lowest byte. */
function codeIn(error: unknown, field: 'errcode' | 'errno'): number {
  const code = (error as Partial<Record<typeof field, unknown>> | undefined)?.[field]
  return typeof code === 'number' ? code & 0xff : 0
}
