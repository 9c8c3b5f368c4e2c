import { expect, onTestFinished, test } from 'vitest'
import { openBlockableProxy } from '../../testing/test/blockable-proxy.ts'
import { describeWith, postgresUrlAt, services } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { silenceMs } from '../src/postgres/client.ts'
import { postgresStorage } from '../src/postgres.ts'
import { useSchema } from './postgres-schema.ts'

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

const account = 'a'
const holdOf = (id: string) => ({ id, amount: 1, accounts: [{ account, floor: 0 }], at: AT })

describePostgres('PostgreSQL that accepts connections and answers nothing', () => {
  const { schema, pool, open } = useSchema()

  /** A storage on a way that can be blocked, with credit on its account. */
  async function onTheWay() {
    const way = await openBlockableProxy(services.postgres.port)
    const storage = postgresStorage(postgresUrlAt(way.port), { schema, connections: 5 })
    onTestFinished(() => storage.close())
    await storage.ledger.credit({ id: 'c', account, amount: 1_000, at: AT })
    return { way, storage }
  }

  test('fails the waiting calls before the statement timeout; later calls fail at once without being sent', async () => {
    const { way, storage } = await onTheWay()
    const { ledger, records, counters } = storage
    await ledger.reserve(holdOf('before'))
    way.block('hanging')
    const events: string[] = []
    const settling = Promise.resolve(ledger.settle({ id: 'before', amounts: { [account]: 1 }, at: AT })).then(() => events.push('settled'))
    const asked = [
      ...Array.from({ length: 40 }, (_, n) => ledger.reserve(holdOf(`under way ${n}`))),
      ...Array.from({ length: 10 }, () => records.findByName('key', 'none')),
      counters.enter({ key: 'k', slot: 's', limit: 1, ttlMs: 60_000 }, AT),
    ]
    const outcomes = await Promise.allSettled(asked)
    for (const outcome of outcomes) expect(String((outcome as PromiseRejectedResult).reason)).toContain('has not responded for 3 s')
    for (let n = 0; n < 200; n++) await expect(Promise.resolve(ledger.reserve(holdOf(`later ${n}`)))).rejects.toThrow('has not responded')
    await expect(Promise.resolve(storage.ping())).rejects.toThrow('has not responded')
    // The settlement has its own, longer time.
    expect(events).toEqual([])
    way.unblock()
    await settling
    await waitFor(async () => expect(await ledger.reserve(holdOf('after'))).toBeUndefined())
    const held = (await ledger.holds({ limit: 1_000 })).map(({ id }) => id)
    expect(held).toContain('after')
    expect(held.filter(id => id.startsWith('later'))).toEqual([])
  })

  test('does not open for a row that another session has locked for longer: the call waits', async () => {
    const { storage } = await onTheWay()
    const other = await pool.connect()
    onTestFinished(() => other.release(true))
    await other.query(`BEGIN; SELECT 1 FROM ${schema}.accounts WHERE account = '${account}' FOR UPDATE`)
    const events: string[] = []
    const reserving = Promise.resolve(storage.ledger.reserve(holdOf('patient'))).then(refusal => events.push(`reserved ${refusal}`))
    await new Promise(resolve => setTimeout(resolve, 2 * silenceMs + 1_500))
    events.push('unlocked')
    await other.query('COMMIT')
    await reserving
    expect(events).toEqual(['unlocked', 'reserved undefined'])
  })

  test('opens the same way at the first use', async () => {
    await open().ping()
    const way = await openBlockableProxy(services.postgres.port)
    way.block('hanging')
    const storage = postgresStorage(postgresUrlAt(way.port), { schema })
    onTestFinished(() => storage.close())
    await expect(Promise.resolve(storage.ping())).rejects.toThrow('not responded for 3 s')
    way.unblock()
    await waitFor(() => storage.ping())
  })
})
