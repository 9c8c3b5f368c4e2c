import { DatabaseSync } from 'node:sqlite'
import type { Storage } from '@signalbox/storage'
import { sqliteAudit } from './audit.ts'
import { sqliteCounters } from './counters.ts'
import { isBusy, openConnection } from './group.ts'
import { sqliteLedger } from './ledger.ts'
import { migrate, sqliteMigrations } from './migrations.ts'
import { makePing } from './ping.ts'
import { sqliteRecords } from './records.ts'
import { sqliteSpool } from './spool.ts'
import { sqliteUsage } from './usage.ts'

export interface SqliteStorageOptions {
  /**
   * `process` (the default): what was acknowledged outlives a crash or kill of the process; a power cut may take the last
   * moments. `full`: outlives a power cut too, at the price of an fsync for every group of verbs.
   */
  readonly durability?: 'process' | 'full'
  /** How long a verb waits while another process writes. Default 5,000. */
  readonly busyTimeoutMs?: number
  /** Other processes may open the same file. Default: yes, but for `:memory:`, which nobody else can see. */
  readonly shared?: boolean
}

/**
 * A storage in one SQLite file, which several processes of one machine may share. Creates the file, and brings an older
 * one to the newest schema.
 *
 * ```ts
 * const storage = sqliteStorage('signalbox.db', { durability: 'full' })
 * await storage.ping()
 * await storage.close()
 * ```
 */
export function sqliteStorage(path: string, options: SqliteStorageOptions = {}): Storage {
  const { durability = 'process', busyTimeoutMs = 5_000, shared = path !== ':memory:' } = options
  const connection = openConnection(openDatabase(path, durability, busyTimeoutMs), { path, busyTimeoutMs })
  const spool = path === ':memory:' || path === '' ? undefined : sqliteSpool(path)
  const storage = {
    records: sqliteRecords(connection),
    audit: sqliteAudit(connection),
    counters: sqliteCounters(connection),
    ledger: sqliteLedger(connection),
    usage: sqliteUsage(connection),
    isShared: shared,
    ping: makePing(connection, path),
    ...(spool && { spool }),
    close: () => connection.close().finally(() => spool?.close()),
  }
  // Opening may block; from here on a taken lock is waited for without holding up the event loop (group.ts).
  connection.db.exec('PRAGMA busy_timeout = 0')
  return storage
}

function openDatabase(path: string, durability: 'process' | 'full', busyTimeoutMs: number): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path)
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`)
    setWal(db, busyTimeoutMs)
    db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
    // 32 MB of pages. A checkpoint every 16 MB: each waits for the disk, so they should be few.
    db.exec('PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864')
    migrate(db, sqliteMigrations)
    return db
  } catch (error) {
    db?.close()
    const trouble = error instanceof Error ? error.message : String(error)
    throw new Error(`sqliteStorage: cannot open \`${path}\`: ${trouble}. Check that its folder exists and can be written.`, {
      cause: error,
    })
  }
}

/** Two processes that open a fresh file at once: SQLite refuses one of them at once, whatever its timeout. */
function setWal(db: DatabaseSync, busyTimeoutMs: number): void {
  const started = performance.now()
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() - started > busyTimeoutMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}
