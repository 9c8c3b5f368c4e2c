import { Miniflare } from 'miniflare'
import { expect, inject, onTestFinished, test } from 'vitest'
import { d1Storage } from '../src/d1.ts'
import { sqliteMigrations } from '../src/sqlite/migrate.ts'
import { bundleTests } from './other-runtimes/bundle.ts'
import { expectConformance } from './other-runtimes/expect-conformance.ts'

const AT = 1_750_000_000_000

/** Two Workers over one database. */
async function startWorkers() {
  const modules = [{ type: 'ESModule' as const, path: 'd1.mjs', contents: await bundleTests('d1.ts') }]
  const worker = (name: string) => ({ name, modules, compatibilityDate: '2026-01-01', d1Databases: { DB: 'shared' } })
  const miniflare = new Miniflare({ workers: [worker('one'), worker('two')] })
  onTestFinished(() => miniflare.dispose())
  const ask = async (name: string, path: string): Promise<unknown> => {
    const asked = (await miniflare.getWorker(name)) as unknown as { fetch(url: string): Promise<Response> }
    return (await asked.fetch(`http://localhost${path}`)).json()
  }
  return { ask, db: await miniflare.getD1Database('DB', 'one') }
}

// Each call goes through two Workers, which takes minutes for the whole suite.
if (inject('isLongRun'))
  test('D1 conforms, in a Worker without Node APIs', { timeout: 900_000 }, async () => {
    const { ask } = await startWorkers()
    expectConformance((await ask('one', '/?share=0.1')) as Parameters<typeof expectConformance>[0])
  })

const { holds, affordable } = inject('isLongRun') ? { holds: 1_000, affordable: 333 } : { holds: 200, affordable: 67 }

test(`of ${holds} concurrent holds of two Workers on credit for ${affordable}, exactly ${affordable} are admitted, also on an empty database`, async () => {
  const { ask, db } = await startWorkers()
  const { ledger } = d1Storage(db)
  const race = async (name: string, count: number) => Number(await ask(name, `/race?name=${name}&holds=${count}`))
  // Both find an empty database, and one of them makes the tables.
  await Promise.all(['one', 'two'].map(name => race(name, 1)))
  await ledger.credit({ id: 'c', account: 'a', amount: 10 * affordable, at: AT })
  const admitted = await Promise.all(['one', 'two'].map(name => race(name, holds / 2)))
  expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(affordable)
  const all = 10 * affordable
  expect(await ledger.balance('a')).toEqual({ balance: all, held: all, credited: all, spent: 0 })
})

test('a D1 database of a newer version is refused, and an unresponsive one fails in time', async () => {
  const { db } = await startWorkers()
  const storage = d1Storage(db)
  await storage.ping()
  await db
    .prepare('UPDATE schema_version SET version = ?')
    .bind(sqliteMigrations.length + 1)
    .run()
  await storage.ping()
  await expect(d1Storage(db).ping()).rejects.toThrow('a newer version created it')
  const silent = { prepare: db.prepare.bind(db), batch: () => new Promise<never>(() => {}) }
  const stuck = d1Storage(silent as unknown as Parameters<typeof d1Storage>[0], { timeoutMs: 50 })
  await expect(stuck.ledger.balance('a')).rejects.toThrow('d1Storage: no answer within 50 ms')
})
