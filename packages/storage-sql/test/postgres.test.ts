import { randomBytes } from 'node:crypto'
import type { UsageRow } from '@signalbox/storage'
import { Pool } from 'pg'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { describeWith, postgresUrl, services } from '../../testing/test/services.ts'
import { type PostgresPool, poolClient } from '../src/postgres/client.ts'
import { openPostgres } from '../src/postgres/connection.ts'
import { startPostgresMaintenance } from '../src/postgres/maintenance.ts'
import { type PostgresStorageOptions, postgresStorage, printPostgresMigrations } from '../src/postgres.ts'
import { makeRow } from './usage-row.ts'

const describePostgres = describeWith('postgres')
const DAY = 86_400_000

describePostgres('postgresStorage', () => {
  const pool = new Pool({ connectionString: postgresUrl, max: 4, options: '-c client_min_messages=warning' })
  const schemas: string[] = []
  const newSchema = (): string => {
    const schema = `test_${randomBytes(6).toString('hex')}`
    schemas.push(schema)
    return schema
  }
  afterAll(async () => {
    for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await pool.end()
  })
  const open = (schema: string, options: PostgresStorageOptions = {}) => {
    const storage = postgresStorage(postgresUrl, { schema, connections: 4, ...options })
    onTestFinished(() => storage.close())
    return storage
  }
  const partitions = async (schema: string, table: string): Promise<readonly string[]> => {
    const { rows } = await pool.query(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${schema}.${table}'::regclass`,
    )
    return rows.map(({ name }) => String(name).replace(`${schema}.`, '')).sort()
  }

  test('several storages that start concurrently on an empty database create the schema once, and all are ready', async () => {
    const schema = newSchema()
    const storages = Array.from({ length: 6 }, () => open(schema))
    await Promise.all(storages.map(({ ledger }, n) => ledger.credit({ id: `c${n}`, account: 'a', amount: 1, at: 0 })))
    expect((await storages[0]?.ledger.balance('a'))?.balance).toBe(6)
    expect((await pool.query(`SELECT version FROM ${schema}.schema_version`)).rows).toHaveLength(1)
  })

  test('a connection that waited for another migration sees its schema', async () => {
    const one = new Pool({ connectionString: postgresUrl, max: 1, options: '-c client_min_messages=warning' })
    const other = await pool.connect()
    onTestFinished(async () => {
      other.release()
      await one.end()
    })
    // A connection that has once asked for a missing schema may remember that there is none.
    for (let round = 0; round < 3; round++) {
      const schema = newSchema()
      await other.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('signalbox migrations ${schema}'))`)
      const credited = postgresStorage({ pool: one }, { schema }).ledger.credit({ id: 'c', account: 'a', amount: 1, at: 0 })
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
      await expect.poll(async () => (await pool.query(waiting)).rowCount).toBeGreaterThan(0)
      await other.query(printPostgresMigrations({ schema }).replace('BEGIN;', ''))
      await credited
      expect((await pool.query(`SELECT version FROM ${schema}.schema_version`)).rows).toHaveLength(1)
    }
  })

  test('a schema of a newer version is refused, and unchanged', async () => {
    const schema = newSchema()
    await open(schema).ping()
    await pool.query(`UPDATE ${schema}.schema_version SET version = 1000`)
    for (const migrate of [true, false]) {
      const { ledger, ping } = open(schema, { migrate })
      await expect(Promise.resolve(ping())).rejects.toThrow('has schema 1000')
      const credits = Array.from({ length: 20 }, (_, n) => ledger.credit({ id: `c${n}`, account: 'a', amount: 1, at: 0 }))
      for (const { status } of await Promise.allSettled(credits)) expect(status).toBe('rejected')
    }
    expect((await pool.query(`SELECT * FROM ${schema}.accounts`)).rows).toEqual([])
  })

  test('without migrating, a missing schema is a clear error; the printed SQL creates it', async () => {
    const schema = newSchema()
    const storage = open(schema, { migrate: false })
    await expect(Promise.resolve(storage.ping())).rejects.toThrow(`\`${schema}\` has schema 0`)
    await pool.query(printPostgresMigrations({ schema }))
    await storage.ping()
    await storage.ledger.credit({ id: 'c', account: 'a', amount: 1, at: 0 })
    expect((await storage.ledger.balance('a')).balance).toBe(1)
  })

  test('invalid options are refused at once, and no connection is made before the first use', () => {
    for (const schema of ['', 'Public', 'a"b', 'pg_x', 'x; DROP', 'a'.repeat(49)])
      expect(() => postgresStorage(postgresUrl, { schema })).toThrow('`schema`')
    expect(() => postgresStorage(pool as never)).toThrow('Pass a pool of `pg` as `{ pool }`')
    for (const connections of [0, 0.5, Number.NaN]) expect(() => postgresStorage(postgresUrl, { connections })).toThrow('`connections`')
    postgresStorage('postgres://nobody@127.0.0.1:1/none')
  })

  test('no error contains the password, if the server is away, refuses it, or the database does not exist', async () => {
    const urls = ['postgres://me:s3cr%24t@127.0.0.1:1/db', `postgres://nobody_here:s3cr%24t@127.0.0.1:${services.postgres.port}/none`]
    for (const url of urls) {
      const storage = postgresStorage(url, { connectTimeoutMs: 500 })
      onTestFinished(() => storage.close())
      const error = await Promise.resolve(storage.ping()).then(String, String)
      expect(error).toContain('postgresStorage')
      expect(error).not.toMatch(/s3cr(%24|\$)t/)
    }
  })

  test('a closed storage refuses calls, and earlier calls are written', async () => {
    const schema = newSchema()
    const storage = open(schema)
    await storage.ping()
    const writing = Array.from({ length: 2_000 }, (_, n) => storage.ledger.credit({ id: `c${n}`, account: 'a', amount: 1, at: 0 }))
    await storage.close()
    await Promise.all(writing)
    await expect(Promise.resolve(storage.ledger.balance('a'))).rejects.toThrow('is closed')
    expect((await open(schema).ledger.balance('a')).balance).toBe(2_000)
  })

  test('the server’s clock decides: processes with clocks hours apart share windows and slots', async () => {
    const schema = newSchema()
    const [one, other] = [open(schema), open(schema)]
    const now = Date.now()
    const rpm = { key: 'rpm', amount: 1, limit: 3, windowMs: 60_000 }
    const slot = { key: 'k', limit: 2, ttlMs: 60_000 }
    for (const [storage, at] of [
      [one, now],
      [other, now + 7 * 3_600_000],
      [one, now - DAY],
    ] as const)
      expect(await storage.counters.take([rpm], at)).toBeUndefined()
    const refusal = await other.counters.take([rpm], now + 30 * DAY)
    expect(refusal).toMatchObject({ key: 'rpm', retryAfterMs: expect.toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000) })
    expect(await one.counters.enter({ ...slot, slot: 'a' }, now)).toBe(true)
    expect(await other.counters.enter({ ...slot, slot: 'b' }, now + DAY)).toBe(true)
    expect(await other.counters.enter({ ...slot, slot: 'c' }, now + 9 * DAY)).toBe(false)
  })

  test('the server’s clock decides: processes with clocks hours apart find each other’s items until they expire', async () => {
    const schema = newSchema()
    const [hour, minute] = [3_600_000, 60_000]
    const now = Date.now()
    const times = (at: number) => ({ at, latest: at + hour + minute })
    const clocks = [0, hour, -hour, 7 * DAY].map(skew => ({ items: open(schema).items, at: now + skew }))
    for (const [n, { items, at }] of clocks.entries()) {
      await items?.put([{ workspaceId: 'w', id: `i${n}`, expiresAt: at + hour, body: 'x' }], 1_000, times(at))
      await items?.put([{ workspaceId: 'w', id: `old${n}`, expiresAt: at - 1, body: 'x' }], 1_000, times(at))
    }
    const ids = clocks.flatMap((_, n) => [`i${n}`, `old${n}`])
    const readAll = async () =>
      Promise.all(clocks.map(async ({ items, at }) => ({ at, found: (await items?.find('w', ids, times(at))) ?? [] })))
    for (const { at, found } of await readAll()) {
      expect(found.map(({ id }) => id).sort()).toEqual(['i0', 'i1', 'i2', 'i3'])
      for (const { expiresAt } of found) expect(Math.abs(expiresAt - at - hour)).toBeLessThan(minute)
    }
    for (const [n, { items, at }] of clocks.entries()) await items?.renew('w', [`i${n}`], { until: at - 1, at })
    for (const { found } of await readAll()) expect(found).toEqual([])
  })

  test('usage is stored in a partition of its month, created before its first row along with the next one, also concurrently', async () => {
    const schema = newSchema()
    const storages = [open(schema), open(schema), open(schema)]
    const month = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 3, 10)
    const rows = Array.from({ length: 90 }, (_, n): UsageRow => makeRow(`req_${n}`, n, { at: month + (n % 3) * 31 * DAY }))
    await Promise.all(rows.map((row, n) => storages[n % 3]?.usage.append(row)))
    const names = await partitions(schema, 'usage')
    const nameOf = (at: number): string => `usage_${new Date(at).toISOString().slice(0, 7).replace('-', '_')}`
    for (const { at } of rows) expect(names).toContain(nameOf(at))
    expect(names).toContain(nameOf(month + 3 * 31 * DAY))
    expect((await pool.query(`SELECT count(*) AS rows FROM ${schema}.usage_default`)).rows).toEqual([{ rows: '0' }])
    expect(await storages[0]?.usage.list({ workspaceId: 'ws_1', from: 0, to: month * 2, limit: 1_000 })).toHaveLength(90)
    // The same id twice does nothing, though it comes in another month and from another process.
    await storages[1]?.usage.append({ ...(rows[0] ?? makeRow('req_0', 0)), at: month + 62 * DAY, cost: 9 })
    expect(await storages[2]?.usage.find('ws_1', 'req_0')).toEqual(rows[0])
    expect(await storages[2]?.usage.count({ workspaceId: 'ws_1', from: 0, to: month * 2, limit: 1_000 })).toBe(90)
  })

  test('rows of times without a partition are still stored', async () => {
    const { usage } = open(newSchema())
    const times = [0, -5 * DAY, Date.UTC(1999, 1), Date.UTC(2399, 1), Number.MAX_SAFE_INTEGER - 1]
    for (const [n, at] of times.entries()) await usage.append(makeRow(`req_${n}`, n, { at }))
    for (const [n, at] of times.entries()) expect((await usage.find('ws_1', `req_${n}`))?.at).toBe(at)
  })

  test('several processes that count totals concurrently count each row once, during writes too', async () => {
    const schema = newSchema()
    const storages = [open(schema), open(schema), open(schema)]
    const query = { workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER, interval: 'day' } as const
    let appended = 0
    for (let round = 0; round < 6; round++) {
      const rows = Array.from({ length: 300 }, (_, n) => makeRow(`req_${round}_${n}`, n))
      const [, ...seen] = await Promise.all([
        Promise.all(rows.map((row, n) => storages[n % 3]?.usage.append(row))),
        ...storages.map(({ usage }) => usage.totals(query)),
      ])
      appended += rows.length
      for (const totals of seen) {
        const requests = totals.reduce((sum, total) => sum + total.requests, 0)
        expect(requests).toBeGreaterThanOrEqual(appended - rows.length)
        expect(requests).toBeLessThanOrEqual(appended)
      }
    }
    for (const { usage } of storages) {
      const totals = await usage.totals(query)
      expect(totals.reduce((sum, total) => sum + total.requests, 0)).toBe(appended)
    }
    expect(await storages[0]?.usage.forget({ workspaceId: 'ws_1', before: query.to, limit: 100_000 })).toBe(appended)
    const left = (await storages[1]?.usage.totals(query)) ?? []
    expect(left.reduce((sum, total) => sum + total.requests, 0)).toBe(appended)
  })

  test('months whose rows are all forgotten, or older than the retention, are dropped, and totals still count them', async () => {
    const schema = newSchema()
    const client = poolClient(() => Promise.resolve(pool as unknown as PostgresPool), { timeoutMs: 10_000, owned: false })
    const connection = openPostgres(client, {
      ...{ schema, migrate: true, prepare: true, isServerTime: true, secrets: [], connections: 10, connectTimeoutMs: 5_000 },
    })
    const maintenance = startPostgresMaintenance(connection, { usageMonths: 2 })
    onTestFinished(() => maintenance.stop())
    const { usage } = open(schema)
    const monthsAgo = (n: number): number => Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - n, 9)
    for (let n = 0; n < 6; n++)
      for (const workspaceId of ['ws_1', 'ws_2']) await usage.append(makeRow(`${workspaceId} ${n}`, n, { workspaceId, at: monthsAgo(n) }))
    const always = { workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER }
    const count = async (): Promise<number> => (await partitions(schema, 'usage')).length
    const all = await count()
    expect(await usage.forget({ workspaceId: 'ws_1', before: monthsAgo(4), limit: 99 })).toBe(1)
    expect(await count()).toBe(all)
    expect(await usage.forget({ workspaceId: 'ws_2', before: monthsAgo(4), limit: 99 })).toBe(1)
    expect(await count()).toBe(all - 1)
    // Rows that no total counts yet are not dropped.
    await usage.append(makeRow('late', 1, { at: monthsAgo(4) }))
    await maintenance.run()
    expect(await usage.find('ws_1', 'late')).toBeDefined()
    await usage.forget({ workspaceId: 'nobody', before: 0, limit: 1 })
    await maintenance.run()
    expect(await count()).toBe(all - 3)
    expect((await usage.list({ ...always, limit: 99 })).map(({ id }) => id)).toEqual(['ws_1 0', 'ws_1 1', 'ws_1 2'])
    expect((await usage.totals(always))[0]?.requests).toBe(7)
    expect((await pool.query(`SELECT id FROM ${schema}.usage_ids WHERE id LIKE 'ws_1%' ORDER BY id`)).rows).toHaveLength(3)
    await usage.append(makeRow('ws_1 4', 4, { at: monthsAgo(4) }))
    expect(await usage.find('ws_1', 'ws_1 4')).toBeDefined()
  })

  test('a statement blocked by a lock fails with the reason, and later calls succeed once the lock is gone', async () => {
    const schema = newSchema()
    const storage = open(schema, { statementTimeoutMs: 300 })
    await storage.ledger.credit({ id: 'c', account: 'a', amount: 100, at: 0 })
    const locker = await pool.connect()
    await locker.query(`BEGIN; SELECT * FROM ${schema}.accounts FOR UPDATE`)
    const hold = { id: 'h', amount: 10, accounts: [{ account: 'a', floor: 0 }], at: 0 }
    await expect(Promise.resolve(storage.ledger.reserve(hold))).rejects.toThrow('statementTimeoutMs')
    await locker.query('ROLLBACK')
    locker.release()
    expect(await storage.ledger.reserve(hold)).toBeUndefined()
    expect((await storage.ledger.balance('a')).held).toBe(10)
  })

  test('concurrent batches of many processes on the same accounts in any order never deadlock', async () => {
    const schema = newSchema()
    const storages = [open(schema), open(schema), open(schema)]
    const accounts = Array.from({ length: 12 }, (_, n) => `account ${n}`)
    const shuffled = (n: number) =>
      accounts.toSorted((a, b) => ((a.length * 7 + a.charCodeAt(8) * n) % 13) - ((b.length * 7 + b.charCodeAt(8) * n) % 13))
    const one = async (storage: (typeof storages)[number], id: string, n: number): Promise<void> => {
      const held = shuffled(n)
        .slice(0, 5)
        .map(account => ({ account, floor: -1_000_000, amount: 1 }))
      await storage.ledger.reserve({ id, amount: 1, accounts: held, at: 0 })
      await Promise.all([
        storage.ledger.settle({
          id,
          amounts: Object.fromEntries(
            shuffled(n + 3)
              .slice(0, 4)
              .map(account => [account, 1]),
          ),
          at: 0,
        }),
        storage.records.commit({
          credits: shuffled(n + 5)
            .slice(0, 3)
            .map(account => ({ id, account, amount: 2, at: 0 })),
        }),
        storage.ledger.credit({ id: `${id} too`, account: shuffled(n)[0] ?? '', amount: 1, at: 0 }),
      ])
    }
    const deadlocks = async () =>
      Number((await pool.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')).rows[0]?.deadlocks)
    const before = await deadlocks()
    await Promise.all(storages.flatMap((storage, s) => Array.from({ length: 150 }, (_, n) => one(storage, `${s} ${n}`, n))))
    const sums = await Promise.all(accounts.map(account => storages[0]?.ledger.balance(account)))
    expect(sums.reduce((total, sum) => total + (sum?.balance ?? 0), 0)).toBe(450 * (3 * 2 + 1 - 4))
    expect(sums.every(sum => sum?.held === 0)).toBe(true)
    await new Promise(next => setTimeout(next, 1_100))
    expect(await deadlocks()).toBe(before)
  })
})
