import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { callSql, numberArray, textArray } from '../src/postgres/parameters.ts'
import { usageParameters, usageParameterTypes } from '../src/postgres/usage-columns.ts'
import { useSchema } from './postgres-schema.ts'
import { MIDNIGHT, makeRow } from './usage-row.ts'

const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL, a schema of the version before', () => {
  const { schema, pool, open, empty } = useSchema()
  const call = async (name: string, types: readonly string[], values: readonly string[]): Promise<unknown> =>
    (await pool.query(callSql(schema, name, types), [...values])).rows[0]?.answer

  /** A request of a process of version 4: its statements, one after the other. */
  async function oldRequest(id: string): Promise<void> {
    const refused = await call(
      'reserve',
      ['text[]', 'text[]', 'int[]', 'text[]', 'bigint[]', 'bigint[]'],
      [textArray([id]), '{NULL}', '{1}', '{a}', numberArray([-1_000_000]), '{10}'],
    )
    expect(refused).toBeNull()
    const charge = [textArray([id]), numberArray([MIDNIGHT]), '{1}', '{a}', '{7}']
    await call('settle', ['text[]', 'bigint[]', 'int[]', 'text[]', 'bigint[]'], charge)
    await call('append_usage', usageParameterTypes, usageParameters([makeRow(id, 1)]))
    await call('leave', ['text[]', 'text[]'], ['{slots}', textArray([id])])
  }
  const older = async (): Promise<void> => {
    await empty()
    const first = open()
    await first.ping()
    await first.close()
    const text = await readFile(new URL('schema-version-4.sql', import.meta.url), 'utf8')
    await pool.query(text.replaceAll('SCHEMA', schema))
  }
  const versionOf = async () => (await pool.query(`SELECT version FROM ${schema}.schema_version`)).rows[0]?.version

  test('is migrated with its data: settled requests stay settled and get their missing row', async () => {
    await older()
    await oldRequest('whole')
    const charge = [textArray(['half']), numberArray([MIDNIGHT]), '{1}', '{a}', '{7}']
    await call('settle', ['text[]', 'bigint[]', 'int[]', 'text[]', 'bigint[]'], charge)
    const storage = open()
    onTestFinished(() => storage.close())
    for (const id of ['whole', 'half', 'new'])
      await storage.settle({ row: makeRow(id, 1), amounts: { a: 7 }, slotKeys: ['slots'], at: MIDNIGHT })
    expect(await versionOf()).toBe(6)
    const rows = await storage.usage.list({ workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 9 })
    expect(rows.map(({ id }) => id).sort()).toEqual(['half', 'new', 'whole'])
    expect(await storage.ledger.balance('a')).toMatchObject({ held: 0, spent: 21 })
  })

  test('is migrated while processes read and write: no request fails, and each is charged once with its row', async () => {
    await older()
    const state = { isOver: false, requests: 0 }
    const olds = [0, 1, 2].map(async process => {
      for (let n = 0; !state.isOver; n++) {
        await oldRequest(`old ${process} ${n}`)
        state.requests += 1
      }
    })
    await expect.poll(() => state.requests).toBeGreaterThan(20)
    const storages = [open(), open()]
    onTestFinished(async () => void (await Promise.all(storages.map(storage => storage.close()))))
    const ids = Array.from({ length: 400 }, (_, n) => `new ${n}`)
    await Promise.all(
      ids.map(async (id, n) => {
        const storage = storages[n % 2]
        await storage?.ledger.reserve({ id, amount: 10, accounts: [{ account: 'a', floor: -1_000_000 }], at: MIDNIGHT })
        await storage?.settle({ row: makeRow(id, 1), amounts: { a: 7 }, slotKeys: ['slots'], at: MIDNIGHT })
      }),
    )
    const atMigration = state.requests
    await expect.poll(() => state.requests).toBeGreaterThan(atMigration + 20)
    state.isOver = true
    await Promise.all(olds)
    expect(await versionOf()).toBe(6)
    const requests = state.requests + ids.length
    expect(await storages[0]?.ledger.balance('a')).toMatchObject({ held: 0, spent: 7 * requests })
    expect(await storages[0]?.usage.count({ workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6 })).toBe(requests)
  })
})
