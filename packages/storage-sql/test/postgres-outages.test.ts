import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith, postgresUrl } from '../../testing/test/services.ts'
import { type PostgresPool, postgresStorage } from '../src/postgres.ts'
import { useSchema } from './postgres-schema.ts'
import { makeRow } from './usage-row.ts'

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL that answers, and cannot be written to as it should', () => {
  const { schema, pool, open } = useSchema()

  test('after a failover, new connections go to the new primary', async () => {
    await open().ledger.credit({ id: 'c', account: 'a', amount: 100, at: AT })
    let isReplica = true
    const own = new Pool({ connectionString: postgresUrl, max: 3 })
    own.on('connect', client => void (isReplica && client.query('SET default_transaction_read_only = on')))
    const { ledger, close } = postgresStorage({ pool: own as unknown as PostgresPool }, { schema })
    onTestFinished(async () => {
      await close()
      await own.end()
    })
    const reserve = (id: string) => ledger.reserve({ id, amount: 1, accounts: [{ account: 'a', floor: 0 }], at: AT })
    const reserveMany = () => Promise.allSettled(Array.from({ length: 3 }, async (_, n) => reserve(`${n}`)))
    for (const { status } of await reserveMany()) expect(status).toBe('rejected')
    // Holds can be read and not renewed, so none of them may be treated as abandoned.
    expect(await ledger.holds({ limit: 1 })).toEqual([])
    await expect(Promise.resolve(ledger.renew([]))).rejects.toThrow('25006')
    isReplica = false
    // Each connection of the pool may have to fail once.
    for (let n = 0; n < 3; n++) await reserveMany()
    expect(await reserve('after')).toBeUndefined()
  })

  test('during a long read of all tables, such as a backup, a partition is created once it can be, and not retried for every batch', async () => {
    const asked: unknown[] = []
    const counting: PostgresPool = {
      async connect() {
        const client = await pool.connect()
        return {
          query(config) {
            if (config.text.includes('open_month')) asked.push(config.values?.[1])
            return client.query(config)
          },
          release: isBroken => client.release(isBroken),
        }
      },
      end: async () => {},
    }
    const month = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 3)
    const monthsLater = (n: number): number => Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 3 + n)
    await open().usage.append(makeRow('first', 1, { at: month }))
    const backup = await pool.connect()
    onTestFinished(() => backup.release(true))
    await backup.query(`BEGIN; LOCK TABLE ${schema}.usage, ${schema}.usage_default IN ACCESS SHARE MODE`)
    const { usage } = postgresStorage({ pool: counting }, { schema })
    for (let n = 0; n < 3; n++) await usage.append(makeRow(`during ${n}`, n, { at: monthsLater(1) }))
    expect(asked).toEqual([monthsLater(1), monthsLater(2)])
    expect((await pool.query(`SELECT count(*)::int AS rows FROM ${schema}.usage_default`)).rows).toEqual([{ rows: 0 }])
  })

  test('a database whose encoding cannot store every character is refused at the start', async () => {
    const database = `test_${randomBytes(6).toString('hex')}`
    await pool.query(`CREATE DATABASE ${database} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`)
    const { ping, close } = postgresStorage(postgresUrl.replace(/postgres$/, database))
    onTestFinished(async () => {
      await close()
      await pool.query(`DROP DATABASE ${database} WITH (FORCE)`)
    })
    await expect(Promise.resolve(ping())).rejects.toThrow(/encoding LATIN1.*ENCODING 'UTF8'/)
  })

  test.each(['repeatable read', 'serializable'])(
    'a database whose transactions are %s is refused at the start, because concurrent requests would fail each other',
    async isolation => {
      const options = encodeURIComponent(`-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`)
      const { ping, close } = postgresStorage(`${postgresUrl}?options=${options}`, { schema })
      onTestFinished(() => close())
      await expect(Promise.resolve(ping())).rejects.toThrow(new RegExp(`isolation is ${isolation}.*'read committed'`))
    },
  )
})
