import type { Storage } from '@signalbox/storage'
import type { PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { useSchema } from './postgres-schema.ts'
import { makeRow } from './usage-row.ts'

// Steps of two processes in the one order that hurts. A session of the test's own holds locks, so that a verb stops between two of its
// statements; nothing depends on how long anything takes.

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL, verbs of several processes between each other’s statements', () => {
  const { schema, pool, open, empty } = useSchema()
  const opened = async (count: number): Promise<readonly Storage[]> => {
    await empty()
    const storages = Array.from({ length: count }, () => open())
    onTestFinished(async () => void (await Promise.all(storages.map(storage => storage.close()))))
    for (const storage of storages) await storage.ping()
    return storages
  }
  const session = async (): Promise<PoolClient> => {
    const client = await pool.connect()
    onTestFinished(async () => {
      await client.query('ROLLBACK')
      client.release()
    })
    return client
  }
  /** Resolves once so many statements that call a function wait for a lock. */
  const waiting = async (name: string, count = 1): Promise<void> => {
    const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}.${name}(%'`
    while ((await pool.query(text)).rows[0]?.n < count) await new Promise(next => setTimeout(next, 5))
  }

  test('a hold on an account that is being credited is not placed next to a concurrent one that took everything', async () => {
    const [one, other] = await opened(2)
    const blocker = await session()
    const rival = await session()
    const hold = { id: 'h1', amount: 10, accounts: [{ account: 'x', floor: 0 }], at: AT }
    // `reserve` has seen that the account is not there, and stops before it decides.
    await blocker.query(`BEGIN; LOCK TABLE ${schema}.movements IN ACCESS EXCLUSIVE MODE`)
    const held = one?.ledger.reserve(hold)
    await waiting('reserve')
    await pool.query(`INSERT INTO ${schema}.accounts VALUES ('x', 100, 0, 100, 0)`)
    await rival.query(`BEGIN; UPDATE ${schema}.accounts SET held = 95 WHERE account = 'x'`)
    await blocker.query('COMMIT')
    await waiting('reserve')
    await rival.query('COMMIT')
    expect(await held).toEqual({ account: 'x', available: 5 })
    expect(await other?.ledger.balance('x')).toMatchObject({ held: 95 })
  })

  test('a slot of a key whose row is concurrently swept and created again does not exceed the limit', async () => {
    const [one, other] = await opened(2)
    const sweeper = await session()
    const blocker = await session()
    const rival = await session()
    await pool.query(`INSERT INTO ${schema}.slot_counts VALUES ('b', 0)`)
    const enter = (key: string, slot: string) => one?.counters.enter({ key, slot, limit: 3, ttlMs: 60_000 }, AT)
    // `enter` has seen that the row of `b` is there, and stops until it is gone.
    await sweeper.query(`BEGIN; INSERT INTO ${schema}.slot_counts VALUES ('a', 0)`)
    const entered = Promise.all([enter('a', 'mine'), enter('b', 'mine')])
    await waiting('enter')
    await pool.query(`DELETE FROM ${schema}.slot_counts WHERE key = 'b'`)
    await blocker.query(`BEGIN; LOCK TABLE ${schema}.slots IN ACCESS EXCLUSIVE MODE`)
    await sweeper.query('ROLLBACK')
    await waiting('enter')
    await pool.query(`INSERT INTO ${schema}.slot_counts VALUES ('b', 2)`)
    await rival.query(`BEGIN; UPDATE ${schema}.slot_counts SET taken = 3 WHERE key = 'b'`)
    await blocker.query('COMMIT')
    await waiting('enter')
    await pool.query(`INSERT INTO ${schema}.slots SELECT 'b', 's' || n, ${AT + 60_000} FROM generate_series(1, 3) n`)
    await rival.query('COMMIT')
    expect(await entered).toEqual([true, false])
    await other?.counters.leave('b', 's1')
    expect(await enter('b', 'mine')).toBe(true)
    expect(await enter('b', 'next')).toBe(false)
  })

  const settlementOf = (id: string, amounts: Record<string, number> = {}) => ({ row: makeRow(id, 1), amounts, slotKeys: [], at: AT })
  const free = { id: 'r', amount: 10, accounts: [{ account: 'x', floor: 0 }], at: AT }

  test('a hold that is placed while its request is settled is freed by the settlement', async () => {
    const [one, other] = await opened(2)
    const rival = await session()
    await one?.ledger.credit({ id: 'c', account: 'x', amount: 100, at: AT })
    // What `reserve` has done before it commits.
    await rival.query(
      `BEGIN; UPDATE ${schema}.accounts SET held = 10 WHERE account = 'x'; INSERT INTO ${schema}.holds VALUES ('r', 1, '{x}', '{10}')`,
    )
    const settled = Promise.resolve(other?.settle(settlementOf('r')))
    await Promise.race([settled, waiting('settle_requests')])
    await rival.query('COMMIT')
    await settled
    expect([await one?.ledger.balance('x'), await one?.ledger.holds({ limit: 9 })]).toMatchObject([{ held: 0 }, []])
  })

  test('a hold of a request whose settlement is being committed is not placed', async () => {
    const [one, other] = await opened(2)
    const blocker = await session()
    await one?.ledger.credit({ id: 'c', account: 'x', amount: 100, at: AT })
    // `settle_requests` has ended the hold that its id had for the time of the transaction, and stops before it commits.
    await blocker.query(`BEGIN; LOCK TABLE ${schema}.slots IN ACCESS EXCLUSIVE MODE`)
    const settled = other?.settle({ ...settlementOf('r'), slotKeys: ['k'] })
    await waiting('settle_requests')
    const held = Promise.resolve(one?.ledger.reserve(free))
    await Promise.race([held, waiting('reserve')])
    await blocker.query('COMMIT')
    await settled
    expect(await held).toBeUndefined()
    expect([await one?.ledger.balance('x'), await one?.ledger.holds({ limit: 9 })]).toMatchObject([{ held: 0 }, []])
  })

  test('concurrent holds and settlements of one id by two processes leave no hold, and charge once', async () => {
    const [one, other] = await opened(2)
    await one?.ledger.credit({ id: 'c', account: 'x', amount: 1_000_000, at: AT })
    for (let round = 0; round < 20; round++) {
      const ids = Array.from({ length: 50 }, (_, n) => `${round} ${n}`)
      await Promise.all([
        ...ids.map(id => one?.ledger.reserve({ ...free, id })),
        ...ids.map((id, n) => other?.settle(settlementOf(id, n % 2 ? { y: 1 } : {}))),
      ])
    }
    expect(await one?.ledger.holds({ limit: 9 })).toEqual([])
    expect([await one?.ledger.balance('x'), await one?.ledger.balance('y')]).toMatchObject([{ held: 0 }, { spent: 500 }])
  })

  test('a usage row whose statement is slow is counted in the totals, even if later rows are counted first', async () => {
    const [one, other] = await opened(2)
    const rival = await session()
    await rival.query(`BEGIN; INSERT INTO ${schema}.usage_ids VALUES ('slow', 0, 0)`)
    const slow = one?.usage.append(makeRow('slow', 1))
    await waiting('append_usage')
    await other?.usage.append(makeRow('fast', 2))
    // Counts what there is: it has to wait for the slow row, or leave it for later.
    const counting = Promise.resolve(other?.usage.forget({ workspaceId: 'nobody', before: 0, limit: 1 }))
    await Promise.race([counting, waiting('usage_horizon')])
    await rival.query('ROLLBACK')
    await Promise.all([slow, counting])
    await other?.usage.forget({ workspaceId: 'nobody', before: 0, limit: 1 })
    const [total] = (await other?.usage.totals({ workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER })) ?? []
    expect(total?.requests).toBe(2)
  })
})
