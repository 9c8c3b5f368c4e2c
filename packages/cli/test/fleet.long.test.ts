import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { describeWith, postgresUrl, redisUrl } from '../../testing/test/services.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { type Ended, startFleet, traffic } from './fleet.ts'
import { fleetLimits, isAnswered, makeCallers, outcomesOf } from './fleet-books.ts'
import { adminKey, cost, meteredConfig, meteredUpstream } from './workers.ts'

vi.setConfig({ testTimeout: 240_000 })

const sealing_key = '5'.repeat(64)

const runMs = 60_000
const killEveryMs = 5_000
/** What a killed process held is settled when it has stood still for 45 s, by checks every 10 s. */
const leftoverMs = 75_000
const { affordable, perMinute } = fleetLimits

/** A schema that is dropped after the test, and a Redis prefix, whose keys expire. */
async function openBooks() {
  const name = `test_${randomBytes(6).toString('hex')}`
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 2 })
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
    await pool.end()
  })
  const query = async (sql: string, values: readonly unknown[] = []) =>
    (await pool.query(sql.replaceAll('SCHEMA', name), [...values])).rows as readonly Readonly<Record<string, unknown>>[]
  return { schema: name, prefix: `signalbox-test:${name}:`, query }
}

/** The workspaces with credit, made before the servers start. */
async function openCallers(schema: string) {
  const storage = await openStorage(namedStorage({ url: postgresUrl, schema }))
  const callers = await makeCallers(storage)
  await storage.close()
  return callers
}

async function runUnderKills(books: Awaited<ReturnType<typeof openBooks>>, redis: object) {
  const callers = await openCallers(books.schema)
  const storage = { url: postgresUrl, schema: books.schema, pool_size: 5 }
  const config = meteredConfig(await meteredUpstream({ streamMs: 200 }), {
    workers: 1,
    admin_key: adminKey,
    sealing_key,
    storage,
    ...redis,
  })
  const fleet = await startFleet(4, config)
  const end = performance.now() + runMs
  const isOver = (): boolean => performance.now() > end
  const replacing: Promise<void>[] = []
  const timer = setInterval(() => {
    // A machine that is slow to start replacements gets the next kill later.
    if (isOver() || fleet.members().length < 3) return
    const replaced = fleet.replaceOne()
    replaced.catch(() => {})
    replacing.push(replaced)
  }, killEveryMs)
  onTestFinished(() => clearInterval(timer))
  const [rich, poor, limited] = await Promise.all([
    traffic(fleet, { key: callers.rich.key, clients: 8 }, isOver),
    traffic(fleet, { key: callers.poor.key, clients: 10, most: 1_000, pauseMs: 250 }, isOver),
    traffic(fleet, { key: callers.limited.key, clients: 8, pauseMs: 100 }, isOver),
  ])
  clearInterval(timer)
  await Promise.all(replacing)
  return { callers, fleet, rich, poor, limited }
}

/** Waits until what the killed processes held is settled. Gateways search for it while they are used. */
async function settleLeftovers(run: Awaited<ReturnType<typeof runUnderKills>>, books: Awaited<ReturnType<typeof openBooks>>) {
  let isOver = false
  const more = traffic(run.fleet, { key: run.callers.rich.key, clients: 1, pauseMs: 500 }, () => isOver)
  const began = performance.now()
  try {
    await vi.waitFor(
      async () => expect(await books.query("SELECT id FROM SCHEMA.holds WHERE journal IS NOT NULL OR amounts <> '{}'")).toEqual([]),
      {
        timeout: leftoverMs,
        interval: 500,
      },
    )
  } finally {
    isOver = true
  }
  return { afterMs: Math.round(performance.now() - began), more: await more }
}

/** Answered requests without exactly one usage row and one entry of its cost. */
const wronglyBooked = (
  { query }: Awaited<ReturnType<typeof openBooks>>,
  { id }: { readonly id: string },
  answered: readonly Ended[],
): Promise<readonly unknown[]> =>
  query(
    `SELECT asked.id FROM unnest($1::text[]) AS asked(id)
     WHERE (SELECT array_agg(cost::int) FROM SCHEMA.usage WHERE usage.id = asked.id AND workspace_id = $3) IS DISTINCT FROM ARRAY[${cost}]
        OR (SELECT array_agg(amount::int) FROM SCHEMA.entries WHERE entries.id = asked.id AND kind = 'usage' AND account = $2)
           IS DISTINCT FROM ARRAY[${-cost}]`,
    [answered.map(each => each.id), `credit:${id}`, id],
  )

async function expectExactness({ title, redis }: { readonly title: string; readonly redis?: true }): Promise<void> {
  const books = await openBooks()
  const run = await runUnderKills(books, redis ? { redis: { url: redisUrl, prefix: books.prefix } } : {})
  const { callers, rich, poor, limited } = run
  const { afterMs, more } = await settleLeftovers(run, books)

  const lived = [...rich, ...poor, ...limited, ...more].filter(({ isOfKilled }) => !isOfKilled)
  const good = lived.filter(({ outcome }) => [200, 402, 429].includes(Number(outcome)))
  const admitted = poor.filter(isAnswered).length
  const windowEnd = Math.min(...limited.map(({ from }) => from)) + 60_000
  const inWindow = limited.filter(each => isAnswered(each) && each.to < windowEnd).length
  const [sums] = await books.query(`SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids, sum(cost)::bigint AS cost,
      count(*) FILTER (WHERE result = 'interrupted')::int AS interrupted FROM SCHEMA.usage`)
  const [ledger] = await books.query(
    `SELECT sum(spent)::bigint AS spent, sum(held)::bigint AS held FROM SCHEMA.accounts WHERE account LIKE 'credit:%'`,
  )
  console.log(
    JSON.stringify({
      title,
      kills: run.fleet.kills(),
      rich: outcomesOf(rich),
      poor: outcomesOf(poor),
      limited: outcomesOf(limited),
      inWindow,
      lived: lived.length,
      good: good.length,
      ...sums,
      ...ledger,
      holdsGoneAfterMs: afterMs,
    }),
  )
  expect(run.fleet.kills()).toBeGreaterThanOrEqual(5)
  expect(admitted).toBeLessThanOrEqual(affordable)
  expect(admitted).toBeGreaterThan(affordable / 2)
  expect(inWindow).toBeLessThanOrEqual(perMinute)
  expect(inWindow).toBeGreaterThan(perMinute / 2)
  expect(good.length / lived.length).toBeGreaterThan(0.999)
  for (const [caller, ended] of [
    [callers.rich, [...rich, ...more]],
    [callers.poor, poor],
    [callers.limited, limited],
  ] as const)
    expect(await wronglyBooked(books, caller, ended.filter(isAnswered))).toEqual([])
  expect(sums?.rows).toBe(sums?.ids)
  expect(ledger).toEqual({ spent: sums?.cost, held: '0' })
  const [poorAccount] = await books.query('SELECT balance::int AS balance FROM SCHEMA.accounts WHERE account = $1', [
    `credit:${callers.poor.id}`,
  ])
  expect(Number(poorAccount?.balance)).toBeGreaterThanOrEqual(0)
}

const describePostgres = describeWith('postgres')
const describeRedis = describeWith('redis')

describePostgres(
  'four servers under load, one of which is killed every 5 s: credit and limits are exact, each answer is booked once',
  () => {
    test('with PostgreSQL alone', () => expectExactness({ title: 'PostgreSQL alone' }))

    describeRedis('and Redis', () => {
      test('with PostgreSQL and Redis', () => expectExactness({ title: 'PostgreSQL and Redis', redis: true }))
    })
  },
)
