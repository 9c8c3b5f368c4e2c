import { randomBytes } from 'node:crypto'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'

const postgresUrl = 'postgres://postgres@127.0.0.1:5432/postgres'
const redisUrl = 'redis://127.0.0.1:6379'

export type Store = 'memory' | 'sqlite' | 'postgres' | 'postgres-redis'

/** Opens a store: a file of SQLite, or a schema of PostgreSQL and a prefix of Redis on this machine. Loads only what it needs. */
export const openStore = async (store: Store, name: string): Promise<Storage> => open[store](name)

const open: Readonly<Record<Store, (name: string) => Storage | Promise<Storage>>> = {
  memory: () => memoryStorage(),
  sqlite: file => sqliteStorage(file),
  async postgres(schema) {
    const { postgresStorage } = await import('@signalbox/storage-sql/postgres')
    return postgresStorage(postgresUrl, { schema })
  },
  async 'postgres-redis'(name) {
    const { composeStorage } = await import('@signalbox/storage/compose')
    const { redisStores } = await import('@signalbox/storage-redis')
    const ephemeral = redisStores({ url: redisUrl, prefix: `signalbox-bench:${name}:` })
    return composeStorage({ durable: await open.postgres(name), ephemeral })
  },
}

/** A name for a schema that is not there yet. */
export const newName = (): string => `bench_${randomBytes(6).toString('hex')}`

export async function dropSchema(schema: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  } finally {
    await client.end()
  }
}
