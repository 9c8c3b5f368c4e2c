import { PGlite } from '@electric-sql/pglite'
import { describeStorage } from '@signalbox/testing/storage'
import { afterAll, describe } from 'vitest'
import { postgresStorage } from '../src/postgres.ts'
import { emptyTables } from './postgres-schema.ts'

// PostgreSQL compiled to WebAssembly, in this process: the same store over one connection.

describe('PGlite', () => {
  const client = new PGlite()
  afterAll(() => client.close())
  const open = () => postgresStorage({ client }, { clock: 'caller' })
  describeStorage(
    'pglite',
    async () => {
      const there = await client.query<{ there: boolean }>("SELECT to_regclass('signalbox.records') IS NOT NULL AS there")
      if (there.rows[0]?.there) await client.exec(emptyTables('signalbox'))
      const storage = open()
      return {
        storage,
        async reopen() {
          await storage.close()
          return open()
        },
      }
    },
    { share: 0.1, lacks: ['spool'] },
  )
})
