import { type GraceEvent, withOutageGrace } from '@signalbox/storage/outage-grace'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith, postgresUrl } from '../../testing/test/services.ts'
import { postgresStorage } from '../src/postgres.ts'
import { useSchema } from './postgres-schema.ts'
import { temporaryFile } from './temporary-file.ts'
import { makeRow } from './usage-row.ts'

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL with slow statements on many connections', () => {
  const { schema, pool } = useSchema()

  /** A storage, and a lock that statements on a table wait for until the returned function is called. */
  async function lockedOn(table: string) {
    const storage = postgresStorage(postgresUrl, { schema, connections: 4, spool: temporaryFile() })
    onTestFinished(() => storage.close())
    await storage.ledger.credit({ id: 'c', account: 'a', amount: 1_000, at: AT })
    const session = await pool.connect()
    await session.query(`BEGIN; LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`)
    const unlock = async (): Promise<void> => {
      await session.query('ROLLBACK')
      session.release()
    }
    return { storage, unlock }
  }
  const outcomesOf = async (calls: readonly unknown[]) => new Set((await Promise.allSettled(calls)).map(({ status }) => status))

  test('analytics of one workspace, however many and slow, leave connections for holds, settlements and keys', async () => {
    const { storage, unlock } = await lockedOn('usage_totals')
    const { ledger, usage, records } = storage
    const query = { workspaceId: 'ws_1', from: 0, to: AT }
    const reports = Array.from({ length: 20 }, () => usage.totals({ ...query, interval: 'day' }))
    // Longer than the silence after which a server that does not respond counts as away.
    const endAt = performance.now() + 4_000
    let n = 0
    for (; n < 3 || performance.now() < endAt; n++) {
      await ledger.reserve({ id: `r${n}`, amount: 1, accounts: [{ account: 'a', floor: 0 }], at: AT })
      await storage.settle({ row: makeRow(`r${n}`, 1), amounts: { a: 1 }, slotKeys: [], at: AT })
      await records.findByName('key', `${n}`)
      await new Promise(next => setTimeout(next, 100))
    }
    await unlock()
    expect(await outcomesOf(reports)).toEqual(new Set(['fulfilled']))
    expect(await ledger.balance('a')).toMatchObject({ held: 0, spent: n })
  })

  test('analytics of one workspace do not begin a grace, in which accounts may be overspent', async () => {
    const { storage, unlock } = await lockedOn('usage_totals')
    const events: GraceEvent[] = []
    const grace = withOutageGrace(storage, {
      counters: memoryStorage().counters,
      maxPerLimitedAccount: 1_000_000,
      onOutage: event => events.push(event),
      logger: { info: () => {}, warn: () => {} },
    })
    const reports = Array.from({ length: 20 }, () => grace.usage.totals({ workspaceId: 'ws_1', from: 0, to: AT, interval: 'day' }))
    await new Promise(next => setTimeout(next, 4_000))
    const hold = { id: 'too much', amount: 1_001, accounts: [{ account: 'a', floor: 0 }], at: AT }
    expect([events, await grace.ledger.reserve(hold)]).toMatchObject([[], { account: 'a' }])
    await unlock()
    expect(await outcomesOf(reports)).toEqual(new Set(['fulfilled']))
  })

  test('statements that wait for a lock on all connections are waited for, because the server answers the probe', async () => {
    const { storage, unlock } = await lockedOn('records')
    const reads = Array.from({ length: 20 }, (_, n) => storage.records.findByName('key', `${n}`))
    const outcomes = outcomesOf(reads)
    await new Promise(next => setTimeout(next, 4_000))
    await unlock()
    expect(await outcomes).toEqual(new Set(['fulfilled']))
  })
})
