import { createRequire } from 'node:module'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { postgresStorage } from '@signalbox/storage-sql/postgres'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { afterAll, describe } from 'vitest'
import { describeWith, postgresUrl } from './services.ts'

// The storages that tests of behaviour over all of them run on. Those of PostgreSQL share one schema for each test file.

interface Store {
  /** `describe`, or `describe.skip` where its server does not run. */
  readonly describeHere: typeof describe | typeof describe.skip
  readonly name: string
  readonly make: () => Storage
}

/**
 * Memory, SQLite and PostgreSQL. `schema`: of PostgreSQL, removed after the tests; its clock is that of the caller.
 *
 * @example
 * for (const { describeHere, name, make } of await storesFor(`users_${process.pid}`)) describeHere(name, () => { … })
 */
export async function storesFor(schema: string): Promise<readonly Store[]> {
  const describePostgres = describeWith('postgres')
  if (describePostgres === describe) afterAll(() => dropSchema(schema))
  return [
    { describeHere: describe, name: 'memory', make: () => memoryStorage() },
    { describeHere: describe, name: 'SQLite', make: () => sqliteStorage(':memory:') },
    { describeHere: describePostgres, name: 'PostgreSQL', make: () => postgresStorage(postgresUrl, { schema, clock: 'caller' }) },
  ]
}

export async function dropSchema(schema: string): Promise<void> {
  const { Pool } = createRequire(import.meta.resolve('@signalbox/storage-sql/postgres'))('pg')
  const pool = new Pool({ connectionString: postgresUrl })
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool.end()
}
