import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { type PostgresPool, poolClient } from '../src/postgres/client.ts'
import { migratePostgres } from '../src/postgres/migrations.ts'
import { useSchema } from './postgres-schema.ts'
import { MIDNIGHT, makeRow } from './usage-row.ts'

const describePostgres = describeWith('postgres')
const first = await readFile(new URL('../src/postgres/schema.sql', import.meta.url), 'utf8')

describePostgres('PostgreSQL, migrations', () => {
  const { schema, pool, open } = useSchema()
  const client = poolClient(async () => pool as unknown as PostgresPool, { timeoutMs: 10_000, owned: false })
  const versionOf = async () => (await pool.query(`SELECT version FROM ${schema}.schema_version`)).rows[0]?.version
  /** A release whose second version adds a column with a value for each row. */
  const added = [first, 'ALTER TABLE accounts ADD COLUMN label text; UPDATE accounts SET label = account;']

  test('a step runs once, in the schema, while processes read and write: no request fails, and each is charged once', async () => {
    const storages = [open(), open()]
    onTestFinished(async () => void (await Promise.all(storages.map(storage => storage.close()))))
    const state = { isOver: false, requests: 0 }
    const runs = storages.flatMap((storage, process) =>
      [0, 1].map(async run => {
        for (let n = 0; !state.isOver; n++) {
          const id = `${process} ${run} ${n}`
          await storage.ledger.reserve({ id, amount: 10, accounts: [{ account: 'a', floor: -1_000_000_000 }], at: MIDNIGHT })
          await storage.settle({ row: makeRow(id, 1), amounts: { a: 7 }, slotKeys: [], at: MIDNIGHT })
          state.requests += 1
        }
      }),
    )
    await expect.poll(() => state.requests).toBeGreaterThan(20)
    await Promise.all([migratePostgres(client, schema, added), migratePostgres(client, schema, added)])
    const atMigration = state.requests
    await expect.poll(() => state.requests).toBeGreaterThan(atMigration + 20)
    state.isOver = true
    await Promise.all(runs)
    expect(await versionOf()).toBe(2)
    expect((await pool.query(`SELECT account, label FROM ${schema}.accounts`)).rows).toEqual([{ account: 'a', label: 'a' }])
    expect(await storages[0]?.ledger.balance('a')).toMatchObject({ held: 0, spent: 7 * state.requests })
  })

  test('a step that fails leaves the schema unchanged, and a release without the newest step refuses it', async () => {
    const failing = [...added, 'ALTER TABLE accounts DROP COLUMN label; ALTER TABLE missing ADD COLUMN label text;']
    await expect(migratePostgres(client, schema, failing)).rejects.toThrow('"missing" does not exist')
    expect(await versionOf()).toBe(2)
    expect((await pool.query(`SELECT label FROM ${schema}.accounts`)).rows).toHaveLength(1)
    await expect(migratePostgres(client, schema, [first])).rejects.toThrow(`\`${schema}\` has schema 2, but this version supports 1`)
  })
})
