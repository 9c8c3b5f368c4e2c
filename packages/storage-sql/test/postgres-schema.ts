import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll } from 'vitest'
import { postgresUrl } from '../../testing/test/services.ts'
import type { PostgresPool } from '../src/postgres.ts'
import { type PostgresStorageOptions, postgresStorage } from '../src/postgres.ts'

/** A pool and a schema for the tests of one file, which are gone afterwards. Waiting for the disk at each commit would tell nothing. */
export function useSchema(url = postgresUrl) {
  const schema = `test_${randomBytes(6).toString('hex')}`
  const pool = new Pool({ connectionString: url, max: 10, options: '-c synchronous_commit=off' })
  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  const open = (options: PostgresStorageOptions = {}) =>
    postgresStorage({ pool: pool as unknown as PostgresPool }, { schema, clock: 'caller', ...options })
  return { schema, pool, open, empty: () => emptySchema(pool, schema) }
}

const tables = [
  ...['records', 'counters', 'slots', 'slot_counts', 'accounts', 'holds', 'movements', 'entries', 'entry_hours', 'items', 'item_bytes'],
  ...['offer_statistics', 'offer_pauses', 'conversation_readers', 'usage', 'usage_ids', 'usage_totals', 'audit', 'audit_heads'],
]

/** SQL that deletes all rows: faster than truncating tables that have few. */
export const emptyTables = (schema: string): string =>
  `${tables.map(table => `DELETE FROM ${schema}.${table};`).join('\n')} UPDATE ${schema}.usage_rolled SET seq = 0`

async function emptySchema(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query(`SELECT to_regclass('${schema}.schema_version') AS there`)
  if (rows[0]?.there !== null) await pool.query(emptyTables(schema))
}
