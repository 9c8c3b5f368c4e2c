import { randomBytes } from 'node:crypto'
import { describeStorage } from '@signalbox/testing/storage'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { describeWith, postgresUrl } from '../../testing/test/services.ts'
import { type PostgresStorageOptions, postgresStorage, printPostgresMigrations } from '../src/postgres.ts'
import { emptyTables } from './postgres-schema.ts'

const describePostgres = await describeWith('postgres')

describePostgres('PostgreSQL, roles with few rights', () => {
  const suffix = randomBytes(6).toString('hex')
  const [database, owner, other, rows] = ['database', 'owner', 'other', 'rows'].map(name => `test_${name}_${suffix}`)
  const urlOf = (role: string, name = database): string => {
    const url = new URL(postgresUrl)
    url.username = role
    url.password = 'secret'
    url.pathname = `/${name}`
    return url.href
  }
  const server = new Pool({ connectionString: postgresUrl, max: 1 })
  const admin = new Pool({ connectionString: new URL(`/${database}`, postgresUrl).href, max: 2 })
  const open = (role: string, options: PostgresStorageOptions = {}, name = database) => {
    const storage = postgresStorage(urlOf(role, name), { clock: 'caller', ...options })
    onTestFinished(() => storage.close())
    return storage
  }
  const emptySchema = async (schema: string): Promise<void> => {
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await admin.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${owner}`)
  }

  beforeAll(async () => {
    await server.query(`CREATE DATABASE ${database}`)
    for (const role of [owner, other, rows]) await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    // The database of a careful administrator: not even `public` is for everybody.
    await admin.query(`REVOKE CREATE, TEMPORARY ON DATABASE ${database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC`)
  })
  afterAll(async () => {
    await admin.end()
    await server.query(`DROP DATABASE IF EXISTS ${database} (FORCE)`)
    for (const role of [owner, other, rows]) await server.query(`DROP ROLE IF EXISTS ${role}`)
    await server.end()
  })

  test('the owner of an empty schema starts, and starts again', async () => {
    await emptySchema('app')
    await open(`${owner}`, { schema: 'app' }).ping()
    await open(`${owner}`, { schema: 'app' }).ping()
  })

  test('the owner of an empty schema applies the printed migrations', async () => {
    await emptySchema('printed')
    const pool = new Pool({ connectionString: urlOf(`${owner}`), max: 1 })
    onTestFinished(() => pool.end())
    await pool.query(printPostgresMigrations({ schema: 'printed' }))
    await open(`${owner}`, { schema: 'printed', migrate: false }).ping()
  })

  test('a role that may not create its schema learns which right it lacks', async () => {
    await expect(open(`${other}`, { schema: 'missing' }).ping()).rejects.toThrow(
      /permission denied for database .* CREATE SCHEMA … AUTHORIZATION for this role, and name that schema as `schema`\./,
    )
  })

  test('a role without rights in the schema learns which ones it lacks', async () => {
    await emptySchema('taken')
    await expect(open(`${other}`, { schema: 'taken' }).ping()).rejects.toThrow(
      /permission denied for schema taken\. .*GRANT USAGE, CREATE ON SCHEMA/,
    )
    await emptySchema('occupied')
    await open(`${owner}`, { schema: 'occupied' }).ping()
    await admin.query(`GRANT USAGE ON SCHEMA occupied TO ${other}`)
    await expect(open(`${other}`, { schema: 'occupied', migrate: false }).ping()).rejects.toThrow(
      /permission denied for table schema_version\. .* set `migrate: false`\./,
    )
  })

  test('a missing database is named with a way out', async () => {
    await expect(open(`${owner}`, {}, 'test_nothing_here').ping()).rejects.toThrow(
      /database "test_nothing_here" does not exist\. Create the database, or name another one/,
    )
  })

  describe('a role that may only read and write rows', () => {
    beforeAll(async () => {
      await emptySchema('data')
      const first = postgresStorage(urlOf(`${owner}`), { schema: 'data' })
      await first.ping()
      await first.close()
      await admin.query(`GRANT USAGE ON SCHEMA data TO ${rows};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA data TO ${rows};
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA data TO ${rows}`)
    })
    const openRows = () => postgresStorage(urlOf(`${rows}`), { schema: 'data', migrate: false, clock: 'caller' })
    describeStorage(
      'with `migrate: false`',
      async () => {
        await admin.query(emptyTables('data'))
        const storage = openRows()
        return {
          storage,
          async reopen() {
            await storage.close()
            return openRows()
          },
        }
      },
      // Of the usual run, what reads and writes each table.
      { share: 0.05, lacks: ['spool'], ...(!inject('isLongRun') && { only: ['reopen', 'items', 'routing'] }) },
    )
  })
})
