import type { Storage } from '@signalbox/storage'
import { checkOptionTable, type OptionTableOf, wordOf } from '@signalbox/storage/option-table'
import { findEngine, isBusy, type SqliteDatabase, type SqliteEngine } from './sqlite/engine.ts'
import { migrateFile, openFileConnection } from './sqlite/file-connection.ts'
import { makePing } from './sqlite/ping.ts'
import { sqliteSpool } from './sqlite/spool.ts'
import { sqliteStores } from './sqlite/stores.ts'

export { sqliteSchemaSql } from './sqlite/migrate.ts'

/** Options of `sqliteStorage`. */
export interface SqliteStorageOptions {
  /**
   * `process`: acknowledged writes survive a crash or kill of the process, but a power failure may lose the latest ones. `full`: they
   * survive a power failure too, at the cost of an fsync per group of writes. Default: `process`.
   */
  readonly durability?: 'process' | 'full'
  /** Milliseconds that a method waits while another process writes. Default: 5,000. */
  readonly busyTimeoutMs?: number
  /** Whether other processes may open the same file. Default: true, except for `:memory:`. */
  readonly shared?: boolean
}

const sqliteOptions: OptionTableOf<SqliteStorageOptions> = {
  durability: wordOf('process', 'full'),
  busyTimeoutMs: 'number',
  shared: 'flag',
}

/**
 * Opens a storage in one SQLite file, which several processes of one machine may share. Creates the file if it is missing, and migrates an
 * older one to the newest schema. Uses the SQLite of the runtime: `node:sqlite` in Node and Deno, `bun:sqlite` in Bun.
 *
 * @throws {Error} The file cannot be opened, is damaged, or was created by a newer version.
 * @throws {TypeError} An option is unknown or has the wrong type.
 * @example
 * const storage = sqliteStorage('signalbox.db', { durability: 'full' })
 * await storage.ping()
 * await storage.close()
 */
export function sqliteStorage(path: string, options: SqliteStorageOptions = {}): Storage {
  checkOptionTable({ call: 'sqliteStorage' }, options, sqliteOptions)
  const { durability = 'process', busyTimeoutMs = 5_000, shared = path !== ':memory:' } = options
  const engine = findEngine()
  const connection = openFileConnection(openDatabase(engine, path, { durability, busyTimeoutMs }), { engine, path, busyTimeoutMs })
  const spool = path === ':memory:' || path === '' ? undefined : sqliteSpool(engine, path)
  const storage = {
    ...sqliteStores(connection),
    isShared: shared,
    ping: makePing(connection, { engine, path }),
    ...(spool && { spool }),
    close: () => connection.close().finally(() => spool?.close()),
  }
  // Opening may block; from now on the connection waits for locks without blocking the event loop.
  connection.db.exec('PRAGMA busy_timeout = 0')
  return storage
}

type OpenOptions = Required<Pick<SqliteStorageOptions, 'durability' | 'busyTimeoutMs'>>

function openDatabase(engine: SqliteEngine, path: string, { durability, busyTimeoutMs }: OpenOptions): SqliteDatabase {
  let db: SqliteDatabase | undefined
  try {
    db = engine.open(path)
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`)
    setWal(engine, db, busyTimeoutMs)
    db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
    // A cache of 32 MB, and a checkpoint every 16 MB: checkpoints wait for the disk, so they should be rare.
    for (const pragma of ['cache_size = -32768', 'wal_autocheckpoint = 4096', 'journal_size_limit = 67108864']) db.exec(`PRAGMA ${pragma}`)
    migrateFile(db)
    return db
  } catch (error) {
    db?.close()
    const trouble = error instanceof Error ? error.message : String(error)
    throw new Error(`sqliteStorage: cannot open \`${path}\`: ${trouble}. ${wayOutOf(engine, error)}`, {
      cause: error,
    })
  }
}

/** What helps if a file cannot be opened, by the primary result code of SQLite. */
const waysOut: ReadonlyMap<number, string> = new Map([
  [5, 'Another program has locked it: end that program, or give each its own file.'],
  [8, 'Let this user write the file and its folder.'],
  [11, 'Restore a backup, or name another file.'],
  [13, 'Free space on its disk.'],
  [26, 'Name another file, or move this one away.'],
])
const wayOutOf = (engine: SqliteEngine, error: unknown): string =>
  waysOut.get(engine.codeOf(error)) ?? 'Check that its folder exists and can be written.'

/** Retries, because when two processes open a new file at once, SQLite refuses one of them without waiting for its timeout. */
function setWal(engine: SqliteEngine, db: SqliteDatabase, busyTimeoutMs: number): void {
  const started = performance.now()
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(engine, error) || performance.now() - started > busyTimeoutMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}
