import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBlockableProxy } from '../../testing/test/blockable-proxy.ts'
import { describeWith, postgresUrl, postgresUrlAt, services } from '../../testing/test/services.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { type Ended, inStream503, startFleet, traffic } from './fleet.ts'
import { booksOf, fleetLimits, isAnswered, makeCallers, outcomesOf, settleLeftovers, wronglyBooked } from './fleet-books.ts'
import { adminKey, cost, meteredConfig, meteredUpstream } from './workers.ts'

const sealing_key = '5'.repeat(64)
vi.setConfig({ testTimeout: 300_000 })

const [beforeMs, awayMs, afterMs] = [10_000, 30_000, 25_000]
const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))

/** A schema that is gone after the test, with a storage of the test's own on the direct way. */
async function openBooks() {
  const schema = `test_${randomBytes(6).toString('hex')}`
  const storage = await openStorage(namedStorage({ url: postgresUrl, schema }))
  onTestFinished(async () => {
    await storage.close()
    const client = new pg.Client({ connectionString: postgresUrl })
    await client.connect()
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await client.end()
  })
  return { schema, storage }
}

interface Outage {
  readonly title: string
  readonly of: 'postgres' | 'redis'
  readonly how: 'refusing' | 'hanging'
  readonly on_outage?: object
  /** One of the servers is killed while the database is away, and started again once it is back. */
  readonly kills?: true
}

/** Two servers on PostgreSQL and Redis, with a 30 s outage of one of them under load. */
async function runThrough({ of, how, on_outage, kills }: Outage) {
  const { schema, storage } = await openBooks()
  const callers = await makeCallers(storage)
  const methods = { postgres: await openBlockableProxy(services.postgres.port), redis: await openBlockableProxy(services.redis.port) }
  const url = postgresUrlAt(methods.postgres.port)
  const config = meteredConfig(await meteredUpstream({ streamMs: 200 }), {
    workers: 1,
    admin_key: adminKey,
    sealing_key,
    storage: { url, schema, pool_size: 5, ...(on_outage && { on_outage }) },
    redis: { url: `redis://127.0.0.1:${methods.redis.port}`, prefix: `signalbox-test:${schema}:` },
  })
  const fleet = await startFleet(2, config)
  const began = performance.now()
  const isOver = (): boolean => performance.now() > began + beforeMs + awayMs + afterMs
  const load = Promise.all([
    traffic(fleet, { key: callers.rich.key, clients: 4, pauseMs: 20 }, isOver),
    traffic(fleet, { key: callers.poor.key, clients: 2, most: 1_000, pauseMs: 100 }, isOver),
    traffic(fleet, { key: callers.limited.key, clients: 4, pauseMs: 100 }, isOver),
    traffic(fleet, { key: callers.postpaid.key, clients: 2, pauseMs: 50 }, isOver),
  ])
  await pause(beforeMs)
  const cutAt = performance.now()
  methods[of].block(how)
  await pause(awayMs - 5_000)
  const restart = kills ? fleet.killOne() : undefined
  await pause(5_000)
  methods[of].unblock()
  const backAt = performance.now()
  await restart?.()
  const [rich, poor, limited, postpaid] = await load
  const { afterMs: holdsGoneAfterMs, more } = await settleLeftovers(storage, fleet, callers.rich)
  return { storage, callers, cutAt, backAt, holdsGoneAfterMs, ended: { rich: [...rich, ...more], poor, limited, postpaid } }
}

const during =
  ({ cutAt, backAt }: { readonly cutAt: number; readonly backAt: number }) =>
  (each: Ended): boolean =>
    each.from > cutAt + 3_000 && each.to < backAt

async function expectSound(outage: Outage) {
  const run = await runThrough(outage)
  const { storage, callers, ended, cutAt, backAt } = run
  const all = Object.values(ended).flat()
  const books = await booksOf(storage, callers)
  const poorBalance = (await storage.ledger.balance(`credit:${callers.poor.id}`)).balance
  const windowEnd = Math.min(...ended.limited.map(({ from }) => from)) + 60_000
  const inWindow = ended.limited.filter(each => isAnswered(each) && each.to < windowEnd).length
  const longestMs = (some: readonly Ended[]): number => Math.round(Math.max(0, ...some.map(({ from, to }) => to - from)))
  const away = Object.fromEntries(Object.entries(ended).map(([name, some]) => [name, some.filter(during(run))]))
  const firstGood = Math.min(...ended.rich.filter(each => isAnswered(each) && each.from > backAt).map(({ to }) => to))
  console.log(
    JSON.stringify({
      title: outage.title,
      whole: Object.fromEntries(Object.entries(ended).map(([name, some]) => [name, outcomesOf(some)])),
      away: Object.fromEntries(Object.entries(away).map(([name, some]) => [name, outcomesOf(some)])),
      longestMs: longestMs(all),
      longestAwayMs: longestMs(Object.values(away).flat()),
      wellAfterMs: Math.round(firstGood - backAt),
      poorBalance,
      inWindow,
      ...books,
      holdsGoneAfterMs: run.holdsGoneAfterMs,
    }),
  )
  const lived = all.filter(({ isOfKilled }) => !isOfKilled)
  // Clear failures, and no others.
  const clear: readonly (number | string)[] = [200, 402, 429, 503, inStream503]
  expect(lived.filter(({ outcome }) => !clear.includes(outcome))).toEqual([])
  for (const name of ['rich', 'poor', 'limited', 'postpaid'] as const)
    expect(await wronglyBooked(storage, callers[name], ended[name])).toEqual([])
  expect(books.cost).toBe(books.spent)
  expect(books.held).toBe(0)
  // Well again without a restart.
  expect(ended.rich.filter(each => each.from > backAt + 20_000 && !each.isOfKilled && !isAnswered(each))).toEqual([])
  return { ...run, away, poorBalance, inWindow, books, cutAt }
}

const describePostgres = describeWith('postgres')
const describeRedis = describeWith('redis')

describePostgres('two servers under load', () => {
  describeRedis('on PostgreSQL and Redis', () => {
    test.each(['refusing', 'hanging'] as const)(
      'PostgreSQL is down for 30 s, %s: no request is admitted, and no charge is lost',
      async how => {
        const { away, poorBalance, inWindow } = await expectSound({ title: `PostgreSQL ${how}, stop`, of: 'postgres', how })
        expect(Object.values(away).flat().filter(isAnswered)).toEqual([])
        expect(poorBalance).toBeGreaterThanOrEqual(0)
        expect(inWindow).toBeLessThanOrEqual(fleetLimits.perMinute)
      },
    )

    const cap = 20 * cost
    const on_outage = { per_account_usd: 100, per_process_usd: 200, per_limited_account_usd: cap / 1_000_000, processes: 2 }
    test.each(['refusing', 'hanging'] as const)(
      'PostgreSQL is down for 30 s, %s: requests continue within caps, also if a server is killed meanwhile',
      async how => {
        const { away, poorBalance, inWindow } = await expectSound({
          title: `PostgreSQL ${how}, continue, one killed`,
          of: 'postgres',
          how,
          on_outage,
          kills: true,
        })
        const postpaid = away.postpaid ?? []
        const failed = postpaid.filter(each => !isAnswered(each) && !each.isOfKilled)
        expect(failed).toEqual([])
        expect(postpaid.length).toBeGreaterThan(100)
        // Two servers, and the successor of one.
        expect(poorBalance).toBeGreaterThanOrEqual(-3 * cap)
        expect(inWindow).toBeLessThanOrEqual(fleetLimits.perMinute)
      },
    )

    test.each(['refusing', 'hanging'] as const)('Redis is down for 30 s, %s: no request fails', async how => {
      const { ended, poorBalance, inWindow } = await expectSound({ title: `Redis ${how}`, of: 'redis', how })
      expect(
        Object.values(ended)
          .flat()
          .filter(({ outcome }) => outcome === 503),
      ).toEqual([])
      expect(poorBalance).toBeGreaterThanOrEqual(0)
      // What one server took since the other last read the counter.
      expect(inWindow).toBeLessThanOrEqual(fleetLimits.perMinute + 10)
    })
  })
})
