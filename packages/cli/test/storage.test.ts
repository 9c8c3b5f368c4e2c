import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openBlockableProxy } from '../../testing/test/blockable-proxy.ts'
import { describeWith, postgresUrl, postgresUrlAs, postgresUrlAt, redisUrl, services } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { withoutPassword } from '../src/fault.ts'
import { runMigrate } from '../src/migrate.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { refused, serving } from './in-process.ts'
import { type Asking, ask, look, newFolder, stop } from './launch.ts'
import { adminKey, clientAgent, cost, countOutcomes, meteredConfig, meteredUpstream, post, workersListening } from './workers.ts'

const sealing_key = '5'.repeat(64)

/** A schema that is gone after the test. */
function newSchema(): string {
  const schema = `test_${randomBytes(6).toString('hex')}`
  onTestFinished(() => queryPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).then(() => {}))
  return schema
}

async function queryPostgres(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function migrated(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const texts: string[] = []
  await runMigrate(args, { environment: variables, print: text => texts.push(text) })
  return texts.join('\n')
}

describe('the storage of the config', () => {
  test('accepts all of its options', async () => {
    const folder = newFolder()
    const server = await serving({ folder, config: { storage: { url: 'sqlite:own.db', durability: 'full' } } })
    expect((await ask(server, { model: 'sim/echo', input: 'x' })).status).toBe(200)
    expect(existsSync(join(folder, 'own.db'))).toBe(true)
  })

  test('can be backed up while the server runs: a copy with its sealing key continues from there', async () => {
    const [folder, other] = [newFolder(), newFolder()]
    const server = await serving({ folder, config: {} })
    const prompt = { model: 'sim/echo', input: 'x' }
    expect((await ask(server, prompt)).status).toBe(200)
    const db = new DatabaseSync(join(folder, 'signalbox.db'))
    db.exec(`VACUUM INTO '${join(other, 'signalbox.db')}'`)
    db.close()
    copyFileSync(join(folder, 'signalbox.db.key'), join(other, 'signalbox.db.key'))
    const credits = async (asking: Asking) => (await look(asking, '/v1/credits')).json()
    const before = await credits(server)
    const copy = { ...(await serving({ folder: other, config: {} })), key: server.key }
    expect(await credits(copy)).toEqual(before)
    expect((await ask(copy, prompt)).status).toBe(200)
  })

  test('prints no password and no token', async () => {
    const variables = { SIGNALBOX_SEALING_KEY: sealing_key }
    const { line } = await refused({ config: { storage: 'postgres://me:secret@127.0.0.1:9/x?sslpassword=hidden' }, variables })
    expect(line).toMatch(/^The storage is not available: /)
    expect(line).not.toMatch(/secret|hidden/)
    const away = await refused({ config: { storage: { url: 'http://127.0.0.1:9', token: 'hidden' } }, variables })
    expect(away.line).toMatch(/^The storage is not available: /)
    expect(away.line).not.toContain('hidden')
    const { shown } = namedStorage({ url: 'libsql://me:secret@x.example?authToken=hidden&tls=1', token: 'also-hidden' })
    expect(shown).toBe('libsql://…@x.example?authToken=…&tls=1')
  })

  test.each([
    ['redis://u:S3@CRET@h:6379', 'redis://…@h:6379'],
    ['redis://u:S3/CRET@h', 'redis://…@h'],
    ['http://u:S3?CRET#@h/x', 'http://…@h/x'],
    ['postgres://u:S3@CRET@h/x?sslpassword=S3@CRET&a=1', 'postgres://…@h/x?sslpassword=…&a=1'],
    ['redis:/u:S3CRET@h', 'redis:…@h'],
    ['u:S3CRET@h', 'u:…@h'],
    ['sqlite:/data/a@b.db', 'sqlite:/data/a@b.db'],
    ['claude@20250514', 'claude@20250514'],
  ])('shows %s as %s', (address, expected) => {
    expect(withoutPassword(address)).toBe(expected)
  })
})

describe('signalbox migrate', () => {
  test('creates and migrates a SQLite file, and may be repeated', async () => {
    const file = join(newFolder(), 'x.db')
    for (const _ of [1, 2])
      expect(await migrated([], { SIGNALBOX_STORAGE: `sqlite:${file}` })).toBe(`sqlite:${file} already has the latest schema.`)
    const storage = await openStorage(namedStorage(`sqlite:${file}`))
    expect(await storage.records.list({ kind: 'workspace', limit: 1 })).toEqual([])
    await storage.close()
  })

  test('prints SQL that creates a SQLite file, which a storage finds up to date', async () => {
    const file = join(newFolder(), 'x.db')
    const db = new DatabaseSync(file)
    db.exec(await migrated(['--print'], { SIGNALBOX_STORAGE: 'sqlite:nowhere/x.db' }))
    db.close()
    const storage = await openStorage(namedStorage(`sqlite:${file}`))
    expect(await storage.records.list({ kind: 'workspace', limit: 1 })).toEqual([])
    await storage.close()
  })

  test('refuses storages without a schema, and dialects that it cannot print', async () => {
    await expect(migrated([], { SIGNALBOX_STORAGE: 'memory:' })).rejects.toThrow('which has no schema to migrate')
    await expect(migrated(['--print', '--dialect', 'oracle'])).rejects.toThrow('There is no SQL to print for "oracle"; --dialect takes ')
    await expect(migrated(['--prnt'])).rejects.toThrow(/Unknown option '--prnt'.*Try --help\./)
  })
})

const describePostgres = describeWith('postgres')

describePostgres('PostgreSQL', () => {
  test('says how to mend what a role of PostgreSQL may not do, in the words of the config', async () => {
    const role = `test_role_${randomBytes(6).toString('hex')}`
    await queryPostgres(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    onTestFinished(() => queryPostgres(`DROP ROLE ${role}`).then(() => {}))
    const { line } = await refused({ config: { storage: { url: postgresUrlAs(role, 'secret'), schema: 'test_missing' }, sealing_key } })
    expect(line).toMatch(/permission denied for database postgres\. .*CREATE SCHEMA … AUTHORIZATION .*`storage\.schema`\.$/)
  })

  test('is migrated by command or by the printed SQL, and then used by a server that may not migrate', async () => {
    const [byCommand, bySql] = [newSchema(), newSchema()]
    const variables = { SIGNALBOX_STORAGE: postgresUrl }
    expect(await migrated(['--schema', byCommand], variables)).toBe(
      `postgres://…@127.0.0.1:${services.postgres.port}/postgres already has the latest schema.`,
    )
    await queryPostgres(await migrated(['--print', '--dialect', 'postgres', '--schema', bySql]))
    expect(await migrated(['--print', '--schema', bySql], variables)).toContain(`CREATE SCHEMA ${bySql};`)
    for (const schema of [byCommand, bySql]) {
      const folder = newFolder()
      const server = await serving({ folder, config: { sealing_key, storage: { url: postgresUrl, schema, migrate: false, pool_size: 3 } } })
      expect((await ask(server, { model: 'sim/echo', input: 'x' })).status).toBe(200)
      await server.stop()
      // No key beside a database, and no file while no settlement waits.
      expect(readdirSync(folder)).toEqual(['signalbox.config.json'])
    }
    const { line } = await refused({ config: { sealing_key, storage: { url: postgresUrl, schema: newSchema(), migrate: false } } })
    expect(line).toMatch(/^The storage is not available: .*has schema 0, but this version needs \d+\. Apply the migrations/)
  })

  test.each(['refusing', 'hanging'] as const)(
    'an outage, %s, loses no response and no settlement of running requests; new ones are 503 meanwhile',
    async how => {
      const schema = newSchema()
      const way = await openBlockableProxy(services.postgres.port)
      const storage = { url: postgresUrlAt(way.port), schema }
      const streaming = Promise.withResolvers<void>()
      const config = meteredConfig(await meteredUpstream({ streamMs: 1_500, onStream: streaming.resolve }), {
        workers: 1,
        sealing_key,
        storage,
      })
      const server = { ...(await serving({ config })), key: adminKey }
      const agent = clientAgent(8)
      expect(await post(server, { agent })).toBe(200)
      const stream = post(server, { agent, stream: true })
      // Its hold was made before the provider was called.
      await streaming.promise
      way.block(how)
      // One after the other: only the first may have to wait until the outage is noticed.
      for (let n = 0; n < 20; n++) expect(await post(server, { agent })).toBe(503)
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
      expect(await stream).toBe(200)
      way.unblock()
      await waitFor(async () => expect(await post(server, { agent })).toBe(200), { interval: 500 })
      const settled = () => queryPostgres(`SELECT count(*)::int AS count FROM ${schema}.usage WHERE cost = ${cost} AND streamed = 1`)
      await waitFor(async () => expect(await settled()).toEqual([{ count: 1 }]), { interval: 500 })
    },
  )

  const all = inject('isLongRun') ? { workers: 4, requests: 1_000, affordable: 333 } : { workers: 2, requests: 120, affordable: 40 }

  test(`${all.workers} workers admit exactly ${all.affordable} of ${all.requests} requests on the credit for them`, async () => {
    const schema = newSchema()
    const config = meteredConfig(await meteredUpstream(), {
      workers: all.workers,
      sealing_key,
      storage: { url: postgresUrl, schema },
      workspace: { credit_usd: (all.affordable * cost) / 1_000_000 },
    })
    const server = await workersListening(all.workers, { config })
    const agent = clientAgent(64)
    const outcomes = await Promise.all(Array.from({ length: all.requests }, (_, at) => post(server, { stream: at % 4 === 0, agent })))
    expect(countOutcomes(outcomes)).toEqual({ 200: all.affordable, 402: all.requests - all.affordable })
    expect(await stop(server)).toEqual({ code: 0, signal: null })
    const rows = await queryPostgres(`SELECT count(*)::int AS count, sum(cost)::int AS cost FROM ${schema}.usage WHERE cost > 0`)
    expect(rows).toEqual([{ count: all.affordable, cost: all.affordable * cost }])
  })
})

const describeRedis = describeWith('redis')

describeRedis('Redis beside the storage', () => {
  test('counts the limits of all processes; credit stays in the storage', async () => {
    const prefix = `signalbox-test:${randomBytes(6).toString('hex')}:`
    // A loaded machine is no outage of Redis.
    const base = meteredConfig(await meteredUpstream(), {
      limits: { inference_rpm: 25 },
      redis: { url: redisUrl, prefix, max_wait_ms: 10_000 },
    })
    const folder = newFolder()
    const server = await workersListening(2, { folder, config: base })
    const agent = clientAgent(32)
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => post(server, { agent })))
    expect(countOutcomes(outcomes)).toEqual({ 200: 25, 429: 75 })
    await stop(server)
    expect(server.out()).toContain(`storage:   sqlite:signalbox.db, limits in ${redisUrl};`)
    const db = new DatabaseSync(join(folder, 'signalbox.db'))
    expect(db.prepare('SELECT count(*) AS count FROM usage WHERE cost > 0').get()).toEqual({ count: 25 })
    expect(db.prepare("SELECT count(*) AS count FROM counters WHERE key LIKE '%rpm%'").get()).toEqual({ count: 0 })
    db.close()
  })
})

test.each(['storage', 'local'])('without Redis a server starts, serves, logs it once, and counts limits in the %s', async fallback => {
  const redis = { url: 'redis://me:secret@127.0.0.1:9', fallback }
  const server = await serving({ config: { redis, limits: { inference_rpm: 2 } } })
  const statuses: number[] = []
  for (let at = 0; at < 3; at++) statuses.push((await ask(server, { model: 'sim/echo', input: 'x' })).status)
  expect(statuses).toEqual([200, 200, 429])
  expect(server.lines().filter(({ message }) => String(message).startsWith('The counter store is unavailable'))).toHaveLength(1)
  expect(server.err() + server.out()).not.toContain('secret')
})
