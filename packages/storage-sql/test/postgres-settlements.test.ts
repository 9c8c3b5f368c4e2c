import { randomBytes } from 'node:crypto'
import type { RequestSettlement } from '@signalbox/storage/settlement'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { useSchema } from './postgres-schema.ts'
import { MIDNIGHT, makeRow } from './usage-row.ts'

const describePostgres = describeWith('postgres')
const always = { workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 }
/** Too long for an index, because it does not compress. */
const tooLong = randomBytes(9_000).toString('base64')

describePostgres('PostgreSQL, settlements of requests', () => {
  const { schema, pool, open, empty } = useSchema()
  const opened = async () => {
    await empty()
    const storage = open()
    onTestFinished(() => storage.close())
    await storage.ping()
    return storage
  }
  const settlementOf = (id: string, fields: Partial<RequestSettlement['row']> = {}): RequestSettlement => ({
    row: makeRow(id, 1, fields),
    amounts: { a: 7 },
    slotKeys: ['slots'],
    at: MIDNIGHT,
  })
  const hold = (id: string) => ({ id, amount: 10, accounts: [{ account: 'a', floor: -1_000 }], at: MIDNIGHT })
  const rowsOf = async ({ usage }: ReturnType<typeof open>) => (await usage.list(always)).map(({ id }) => id).sort()

  test('with a row that the database refuses still charge and free the slot, then fail; the others of the batch are complete', async () => {
    const storage = await opened()
    const ids = Array.from({ length: 20 }, (_, n) => `req_${n}`)
    await Promise.all(ids.map(id => storage.ledger.reserve(hold(id))))
    for (const slot of ids) await storage.counters.enter({ key: 'slots', slot, limit: 20, ttlMs: 60_000 }, MIDNIGHT)
    const outcomes = await Promise.allSettled(
      ids.map((id, n) => storage.settle(settlementOf(id, n === 13 ? { workspaceId: tooLong } : {}))),
    )
    expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([13])
    expect(outcomes[13]).toMatchObject({ reason: { message: expect.stringContaining('usage.append') } })
    expect(await storage.ledger.balance('a')).toMatchObject({ held: 0, spent: 140 })
    expect(await rowsOf(storage)).toEqual(ids.filter(id => id !== 'req_13').sort())
    expect(await storage.counters.enter({ key: 'slots', slot: 'next', limit: 1, ttlMs: 60_000 }, MIDNIGHT)).toBe(true)
  })

  test('that fail in the last step change nothing, and succeed on retry', async () => {
    const storage = await opened()
    await storage.ledger.reserve(hold('req_1'))
    await storage.counters.enter({ key: 'slots', slot: 'req_1', limit: 1, ttlMs: 60_000 }, MIDNIGHT)
    await pool.query(`ALTER TABLE ${schema}.slots RENAME TO away`)
    await expect(storage.settle(settlementOf('req_1'))).rejects.toThrow('postgresStorage: settle:')
    expect([await storage.ledger.balance('a'), await rowsOf(storage)]).toMatchObject([{ held: 10, spent: 0 }, []])
    await pool.query(`ALTER TABLE ${schema}.away RENAME TO slots`)
    await storage.settle(settlementOf('req_1'))
    expect([await storage.ledger.balance('a'), await rowsOf(storage)]).toMatchObject([{ held: 0, spent: 7 }, ['req_1']])
  })

  test('of one id in the same turn are one, and rows of other months and distant times are stored', async () => {
    const storage = await opened()
    const month = 31 * 86_400_000
    const ats = [Date.now(), Date.now() - 2 * month, 0, Date.now() + 300 * month]
    await Promise.all(ats.flatMap((at, n) => Array.from({ length: 5 }, () => storage.settle(settlementOf(`req_${n}`, { at })))))
    expect(await rowsOf(storage)).toEqual(['req_0', 'req_1', 'req_2', 'req_3'])
    expect((await storage.ledger.balance('a')).spent).toBe(28)
  })

  test('are counted in the totals, like rows that were appended alone', async () => {
    const storage = await opened()
    const ids = Array.from({ length: 1_200 }, (_, n) => `req_${n}`)
    await Promise.all(ids.map(id => storage.settle(settlementOf(id, { cost: 3 }))))
    await storage.usage.forget({ workspaceId: 'nobody', before: 0, limit: 1 })
    expect((await storage.usage.totals(always))[0]).toMatchObject({ requests: 1_200, cost: 3_600 })
  })
})
