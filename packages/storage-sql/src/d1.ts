import type { Storage } from '@signalbox/storage'
import { checkArgument, checkOptionTable, hasMethods, type OptionSpec, type OptionTableOf } from '@signalbox/storage/option-table'
import { type BatchDriver, openBatchConnection } from './sqlite/batch-connection.ts'
import { sqliteStores } from './sqlite/stores.ts'
import type { Row, Value } from './sqlite/verb.ts'

export { sqliteSchemaSql } from './sqlite/migrate.ts'

/** The part of a D1 database that is used. */
export interface D1Database {
  prepare(sql: string): D1Statement
  batch(statements: D1Statement[]): Promise<readonly { readonly results: unknown[] }[]>
}

/** A statement of a D1 database. */
export interface D1Statement {
  bind(...values: Value[]): D1Statement
}

/** Options of `d1Storage`. */
export interface D1StorageOptions {
  /** Milliseconds after which a method fails. Default: 10,000. */
  readonly timeoutMs?: number
}

const d1Binding: OptionSpec = {
  takes: 'the binding to a D1 database',
  is: value => hasMethods(value, 'prepare', 'batch'),
  wayOut: 'Bind the database in `d1_databases` of wrangler.jsonc and pass it: `d1Storage(env.DB)`.',
  isRequired: true,
}
const d1Options: OptionTableOf<D1StorageOptions> = { timeoutMs: 'milliseconds' }

/**
 * Opens a storage in a Cloudflare D1 database. Every method is one batch, which is one transaction and one round trip; requests share no
 * I/O. The first method creates the tables, or migrates them to the newest schema.
 *
 * @throws {TypeError} The binding is missing, or an option is unknown or has the wrong type.
 * @example
 * const storage = d1Storage(env.DB)
 * await storage.ping()
 */
export function d1Storage(db: D1Database, options: D1StorageOptions = {}): Storage {
  checkArgument('d1Storage: the database', db, d1Binding)
  checkOptionTable({ call: 'd1Storage' }, options, d1Options)
  const { timeoutMs = 10_000 } = options
  const connection = openBatchConnection(d1Driver(db), { timeoutMs })
  return { ...sqliteStores(connection), isShared: true, ping: connection.ping, close: connection.close }
}

const d1Driver = (db: D1Database): BatchDriver => ({
  name: 'd1Storage',
  grouped: false,
  async batch(statements) {
    const results = await db.batch(statements.map(({ sql, values }) => db.prepare(sql).bind(...values)))
    return results.map(({ results }) => results as readonly Row[])
  },
  // D1 runs one batch after another.
  isBusy: () => false,
  isUndone: () => false,
  close() {},
})
