import { type Client, createClient, LibsqlError } from '@libsql/client'
import type { Storage } from '@signalbox/storage'
import { checkStorageOptions, optionOf, type StorageOptionTable } from './check-options.ts'
import { type BatchDriver, namedRows, openBatchConnection } from './sqlite/batch-connection.ts'
import { sqliteStores } from './sqlite/stores.ts'

export { sqliteSchemaSql } from './sqlite/migrate.ts'

/** Where a libSQL database is. */
export interface LibsqlAddress {
  /** As in `libsql://name.turso.io`, `http://127.0.0.1:8080` or `file:signalbox.db`. */
  readonly url: string
  readonly authToken?: string
}

/** Options of `libsqlStorage`. */
export interface LibsqlStorageOptions {
  /** Milliseconds after which a method fails. Default 10,000. */
  readonly timeoutMs?: number
}

const libsqlOptions: StorageOptionTable<LibsqlStorageOptions> = { timeoutMs: optionOf.milliseconds }

/**
 * Opens a storage in a libSQL database: a server, or a local file. Methods that are called at the same time share a batch, which is one
 * transaction and one round trip. The first method creates the tables, or migrates them to the newest schema. A client that is given
 * is closed with the storage.
 *
 * @throws Error if the URL is invalid, TypeError if an option is unknown or of another kind.
 * @example
 * const storage = libsqlStorage({ url: 'libsql://signalbox-me.turso.io', authToken })
 * await storage.ping()
 */
export function libsqlStorage(database: LibsqlAddress | Client, options: LibsqlStorageOptions = {}): Storage {
  checkStorageOptions('libsqlStorage', options, libsqlOptions)
  const { timeoutMs = 10_000 } = options
  const client = 'batch' in database ? database : createClient(database)
  const connection = openBatchConnection(libsqlDriver(client), { timeoutMs })
  return { ...sqliteStores(connection), isShared: true, ping: connection.ping, close: connection.close }
}

function libsqlDriver(client: Client): BatchDriver {
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
    // A server decides for itself how it keeps its journal.
    setUp: async () => isFile && (await client.execute('PRAGMA journal_mode = WAL')),
    close: () => client.close(),
  }
}

const isBusy = (error: unknown): boolean => error instanceof LibsqlError && error.code.startsWith('SQLITE_BUSY')

/** A connection to a file that was refused the lock cannot commit any more, because its BEGIN stays unfinished: it is replaced. */
function withFreshConnection(client: Client, run: BatchDriver['batch']): BatchDriver['batch'] {
  return async (statements, mode) => {
    try {
      return await run(statements, mode)
    } catch (error) {
      if (isBusy(error)) await client.reconnect()
      throw error
    }
  }
}

/** Runs batches one after the other, so that none is under way when the connection is replaced. A file has no use for more at once. */
function inTurn(run: BatchDriver['batch']): BatchDriver['batch'] {
  let last: Promise<unknown> = Promise.resolve()
  return (statements, mode) => {
    const next = last.then(() => run(statements, mode))
    last = next.catch(() => undefined)
    return next
  }
}
