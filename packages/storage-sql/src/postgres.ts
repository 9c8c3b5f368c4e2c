import type { Storage } from '@signalbox/storage'
import { checkOptionTable, checkUnquoted, inSource, type OptionTableOf, wordOf } from '@signalbox/storage/option-table'
import { postgresAdmit } from './postgres/admit.ts'
import { postgresAudit } from './postgres/audit.ts'
import { type PostgresClient, type PostgresPool, type PostgresSingleClient, poolClient, singleClient } from './postgres/client.ts'
import { openPostgres } from './postgres/connection.ts'
import { postgresCounters } from './postgres/counters.ts'
import { postgresItems } from './postgres/items.ts'
import { postgresLedger } from './postgres/ledger.ts'
import { startPostgresMaintenance } from './postgres/maintenance.ts'
import { checkSchemaName } from './postgres/migrations.ts'
import { createMonths } from './postgres/months.ts'
import { createPool, secretsOf } from './postgres/pool.ts'
import { postgresRecords } from './postgres/records.ts'
import { postgresRouting } from './postgres/routing.ts'
import { postgresSettle } from './postgres/settle.ts'
import { postgresUsage } from './postgres/usage.ts'
import { createUsageReader } from './postgres/usage-reader.ts'
import { findEngine } from './sqlite/engine.ts'
import { checkSpool, type SqliteSpool, sqliteSpool } from './sqlite/spool.ts'

export type { PostgresPool, PostgresPoolClient, PostgresSingleClient } from './postgres/client.ts'
export { printPostgresMigrations } from './postgres/migrations.ts'

/** The database: a connection string, a pool of `pg`, or a single connection such as PGlite. The owner of a pool or client closes it. */
export type PostgresDatabase = string | { readonly pool: PostgresPool } | { readonly client: PostgresSingleClient }

/** Options of `postgresStorage`. */
export interface PostgresStorageOptions {
  /** The schema that contains the tables and functions. Default: `signalbox`. */
  readonly schema?: string
  /** Whether the schema is created and migrated on first use. Default: true. */
  readonly migrate?: boolean
  /** Whether statements are prepared by name. Use `false` for poolers that give each transaction another connection. Default: true. */
  readonly prepare?: boolean
  /**
   * The clock that decides when windows, slots, items and routing state expire. `server`: that of the database, so that processes with
   * wrong clocks agree. `caller`: the time passed in. Default: `server`.
   */
  readonly clock?: 'server' | 'caller'
  /** Size of the pool created from a connection string. Default: 10. */
  readonly connections?: number
  /** Milliseconds until a connection attempt fails. Default: 5,000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds until a statement fails. Default: 10,000. */
  readonly statementTimeoutMs?: number
  /**
   * Whole months of usage rows to keep before the current one. Older partitions are dropped once their rows are included in the stored
   * totals, which are kept. Default: all rows are kept until `usage.forget` removes them.
   */
  readonly usageMonths?: number
  /** A file on local disk for settlements that the database cannot accept now; it becomes `spool` of the storage. Default: none. */
  readonly spool?: string
}

const postgresOptions: OptionTableOf<PostgresStorageOptions> = {
  schema: 'text',
  migrate: 'flag',
  prepare: 'flag',
  clock: wordOf('server', 'caller'),
  connections: 'number',
  connectTimeoutMs: 'number',
  statementTimeoutMs: 'number',
  usageMonths: 'number',
  spool: 'text',
}

/**
 * Creates a storage in one schema of a PostgreSQL database (14 or newer), which any number of processes may share. It connects on first
 * use, and reconnects as soon as an unavailable server is back.
 *
 * @throws {TypeError} An option is unknown or has the wrong type.
 * @throws {RangeError} An option is out of range. Methods fail with an error that names the method and a remedy.
 * @example
 * const storage = postgresStorage('postgres://user:password@localhost/app', { schema: 'signalbox' })
 * await storage.ping()
 * await storage.close()
 */
export function postgresStorage(database: PostgresDatabase, options: PostgresStorageOptions = {}): Storage {
  checkOptionTable({ call: 'postgresStorage' }, options, postgresOptions)
  checkUnquoted('postgresStorage', { database })
  const { schema = 'signalbox', migrate = true, prepare = true, clock = 'server' } = options
  const { connections = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 10_000 } = options
  checkSchemaName(schema)
  const { usageMonths = 1 } = options
  for (const [name, value] of Object.entries({ connections, connectTimeoutMs, statementTimeoutMs, usageMonths }))
    if (!(Number.isSafeInteger(value) && value > 0))
      throw new RangeError(`postgresStorage: \`${name}\` must be a whole number above 0, got ${inSource(value)}.`)
  const client = clientOf(database, { connections, connectTimeoutMs, statementTimeoutMs, prepare })
  const secrets = typeof database === 'string' ? secretsOf(database) : []
  const connection = openPostgres(client, {
    ...{ schema, migrate, prepare, isServerTime: clock === 'server', secrets, connectTimeoutMs },
    connections: poolSizeOf(database) ?? connections,
  })
  const months = createMonths(connection)
  const usage = { months, reader: createUsageReader(connection) }
  const parts = {
    counters: postgresCounters(connection),
    ledger: postgresLedger(connection),
    usage: postgresUsage(connection, usage),
  }
  const maintenance = startPostgresMaintenance(connection, { usageMonths: options.usageMonths })
  const spool = options.spool === undefined ? undefined : createSpool(options.spool)
  return {
    records: postgresRecords(connection, months),
    audit: postgresAudit(connection),
    ...parts,
    admit: postgresAdmit(connection),
    settle: postgresSettle(connection, parts, usage),
    routing: postgresRouting(connection),
    items: postgresItems(connection),
    ...(spool && { spool }),
    isShared: true,
    ping: connection.ping,
    close: () => {
      maintenance.stop()
      return connection.close().finally(() => spool?.close())
    },
  }
}

/** SQLite writes beside its database anyway; here a folder that cannot be written would show in the first outage. */
function createSpool(path: string): SqliteSpool {
  const engine = findEngine()
  return { ...sqliteSpool(engine, path), check: () => checkSpool(engine, path) }
}

interface ClientOptions {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly prepare: boolean
}

/** The number of connections of a pool that its owner made. Undefined if it does not say. */
const poolSizeOf = (database: PostgresDatabase): number | undefined =>
  typeof database === 'object' && 'pool' in database ? database.pool.options?.max : undefined

function clientOf(database: PostgresDatabase, options: ClientOptions): PostgresClient {
  // The server's timeout comes first, because the outcome is known after it.
  const timeoutMs = options.statementTimeoutMs + 1_000
  if (typeof database === 'string') return poolClient(createPool(database, options), { timeoutMs, owned: true })
  if ('pool' in database) return poolClient(() => Promise.resolve(database.pool), { timeoutMs, owned: false })
  if (!('client' in database))
    throw new RangeError('postgresStorage: pass a connection string, `{ pool }` or `{ client }`. Pass a pool of `pg` as `{ pool }`.')
  return singleClient(database.client, { timeoutMs })
}
