import { createClient, LibsqlError } from '@libsql/client'
import type { Storage } from '@signalbox/storage'
import { checkOptionTable, checkUnquoted, type OptionTableOf } from '@signalbox/storage/option-table'
import { type BatchDriver, namedRows, openBatchConnection } from './sqlite/batch-connection.ts'
import { sqliteStores } from './sqlite/stores.ts'

export { sqliteSchemaSql } from './sqlite/migrate.ts'

/** Address of a libSQL database. */
export interface LibsqlAddress {
  /** URL, as in `libsql://name.turso.io`, `http://127.0.0.1:8080` or `file:signalbox.db`. */
  readonly url: string
  readonly authToken?: string
}

/** What is used of a client of `@libsql/client`. Declared here, since an app without libSQL does not have that package. */
export interface LibsqlClient {
  /** `file` for a local database. */
  readonly protocol: string
  batch(
    statements: { readonly sql: string; readonly args: LibsqlValue[] }[],
    mode: 'read' | 'write',
  ): Promise<readonly { readonly columns: readonly string[]; readonly rows: readonly ArrayLike<unknown>[] }[]>
  execute(sql: string): Promise<unknown>
  reconnect(): unknown
  close(): void
}

/** A value of a statement. */
export type LibsqlValue = null | string | number | bigint | boolean | Uint8Array

/** Options of `libsqlStorage`. */
export interface LibsqlStorageOptions {
  /** Milliseconds after which a method fails. Default: 10,000. */
  readonly timeoutMs?: number
}

const libsqlOptions: OptionTableOf<LibsqlStorageOptions> = { timeoutMs: 'milliseconds' }

/**
 * Opens a storage in a libSQL database: a server, or a local file. Concurrent method calls share a batch, which is one transaction and one
 * round trip. The first method creates the tables, or migrates them to the newest schema. A client that is passed in is closed with the
 * storage.
 *
 * @throws {Error} The URL is invalid.
 * @throws {TypeError} An option is unknown or has the wrong type.
 * @example
 * const storage = libsqlStorage({ url: 'libsql://signalbox-me.turso.io', authToken })
 * await storage.ping()
 */
export function libsqlStorage(database: LibsqlAddress | LibsqlClient, options: LibsqlStorageOptions = {}): Storage {
  checkOptionTable({ call: 'libsqlStorage' }, options, libsqlOptions)
  if (!('batch' in database)) checkUnquoted('libsqlStorage', database)
  const { timeoutMs = 10_000 } = options
  const client = 'batch' in database ? database : createClient(database)
  const connection = openBatchConnection(libsqlDriver(client), { timeoutMs })
  return { ...sqliteStores(connection), isShared: true, ping: connection.ping, close: connection.close }
}

function libsqlDriver(client: LibsqlClient): BatchDriver {
  const isFile = client.protocol === 'file'
  const run: BatchDriver['batch'] = async (statements, mode) => {
    const results = await client.batch(
      statements.map(({ sql, values }) => ({ sql, args: [...values] })),
      mode,
    )
    return results.map(({ columns, rows }) => namedRows(columns, rows))
  }
  return {
    name: 'libsqlStorage',
    grouped: true,
    batch: isFile ? inTurn(withFreshConnection(client, run)) : run,
    isBusy,
    isUndone: error => error instanceof LibsqlError && error.code.startsWith('SQLITE_') && !isBusy(error),
    // A server decides its journal mode itself.
    setUp: async () => isFile && (await client.execute('PRAGMA journal_mode = WAL')),
    close: () => client.close(),
  }
}

const isBusy = (error: unknown): boolean => error instanceof LibsqlError && error.code.startsWith('SQLITE_BUSY')

/** Replaces the connection to a file when it was refused the lock: its BEGIN stays unfinished, so it could not commit any more. */
function withFreshConnection(client: LibsqlClient, run: BatchDriver['batch']): BatchDriver['batch'] {
  return async (statements, mode) => {
    try {
      return await run(statements, mode)
    } catch (error) {
      if (isBusy(error)) await client.reconnect()
      throw error
    }
  }
}

/** Runs batches one after another, so that none is running when the connection is replaced. A file gains nothing from concurrency. */
function inTurn(run: BatchDriver['batch']): BatchDriver['batch'] {
  let last: Promise<unknown> = Promise.resolve()
  return (statements, mode) => {
    const next = last.then(() => run(statements, mode))
    last = next.catch(() => undefined)
    return next
  }
}
