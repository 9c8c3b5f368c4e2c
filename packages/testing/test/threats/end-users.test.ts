import { createRequire } from 'node:module'
import { createGateway, type Gateway, type GatewayOptions, usd } from '@signalbox/core'
import type { EndUser, EndUserBudget } from '@signalbox/core/management'
import { simulated } from '@signalbox/core/providers'
import { createFetchHandler } from '@signalbox/fetch-handler'
import { memoryStorage } from '@signalbox/storage-memory'
import { postgresStorage } from '@signalbox/storage-sql/postgres'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { fakeClock } from '../../src/index.ts'
import { describeWith } from '../services.ts'

// What a user of an app may try against the gateway that the app embeds, and against the app's other users.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', provider_model_id: 'echo', dialect: 'chat' as const, price, max_output_tokens: 100 }
/** Microdollars: one word goes in, one comes out, and each token costs one microdollar. */
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }

async function stage(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [
      { id: 'small', offers: [offer] },
      { id: 'b:small', offers: [offer] },
    ],
    storage: memoryStorage(),
    logger: quiet,
    ...options,
  })
  onTestFinished(() => gateway.close())
  for (const id of ['app', 'other']) await gateway.workspaces.create({ id, name: id, billing: 'postpaid' })
  return gateway
}

/** The code of what a request of a user ends with; `ok` if it is answered. */
async function outcome(gateway: Gateway, user: EndUser, { model = 'small', workspace = 'app' } = {}): Promise<string> {
  const caller = await gateway.workspaces(workspace).as(user)
  return gateway.responses.create({ ...ask, model }, { caller }).then(
    () => 'ok',
    (error: { readonly code: string }) => error.code,
  )
}

const describePostgres = await describeWith('postgres')
const schema = `end_users_${process.pid}`
const url = 'postgres://postgres@127.0.0.1:5432/postgres'
afterAll(async () => {
  if (describePostgres !== describe) return
  const { Pool } = createRequire(import.meta.resolve('@signalbox/storage-sql/postgres'))('pg')
  const pool = new Pool({ connectionString: url })
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool.end()
})
const stores = [
  [describe, 'memory', () => memoryStorage()],
  [describe, 'SQLite', () => sqliteStorage(':memory:')],
  [describePostgres, 'PostgreSQL', () => postgresStorage(url, { schema, clock: 'caller' })],
] as const

for (const [describeHere, name, makeStorage] of stores)
  describeHere(`in ${name}`, () => {
    test('budgets whose periods begin on the same date, or that count the same, hold side by side', async () => {
      // A Monday that is the first of its month.
      const clock = fakeClock({ now: Date.UTC(2027, 1, 1, 12) })
      const gateway = await stage({ storage: makeStorage(), clock })
      const periods = (['day', 'week', 'month', 'total'] as const).map((period): EndUserBudget => ({ limit: usd(1), period }))
      expect(await outcome(gateway, { user: 'all', budgets: periods })).toBe('ok')
      const twins = [{ limit: usd(1) }, { limit: usd(1), includeByok: true }, { limit: 0 }, { limit: usd(2) }]
      expect(await outcome(gateway, { user: 'twins', budgets: twins })).toBe('budget_exceeded')
      expect(await outcome(gateway, { user: 'twins', budgets: twins.slice(0, 2) })).toBe('ok')
      // What was spent on the first day of the week counts in the week, and not in the days after it.
      const spend = (more: readonly EndUserBudget[]) => outcome(gateway, { user: 'u', budgets: [{ limit: 250, period: 'day' }, ...more] })
      const ends: string[] = []
      for (let n = 0; n < 90 && ends.at(-1) !== 'budget_exceeded'; n++) ends.push(await spend([{ limit: 260, period: 'week' }]))
      expect(ends.at(-1)).toBe('budget_exceeded')
      await clock.advance(86_400_000)
      expect(await spend([])).toBe('ok')
      expect(await spend([{ limit: 250, period: 'week' }])).toBe('budget_exceeded')
    })

    test('ids of any script and length are users of their own, whose usage is found', async () => {
      const gateway = await stage({ storage: makeStorage() })
      const users = ['é', 'e\u0301', '__proto__', 'constructor', '\u{1f600}'.repeat(100), '漢'.repeat(200), ' ', '%', 'a:b', "';--"]
      const limited = { limits: { requestsPerMinute: 1 }, budgets: [{ limit: usd(1), group: 'toString' }, { limit: usd(1) }] }
      expect(await Promise.all(users.map(user => outcome(gateway, { user, ...limited })))).toEqual(users.map(() => 'ok'))
      const counted = await Promise.all(
        users.map(async user => (await gateway.workspaces('app').analytics.requests({ apiKeyId: `user:${user}` })).length),
      )
      expect(counted).toEqual(users.map(() => 1))
    })
  })

test('an id with a control character, which a database may refuse, is refused at once, and so is a scope that there is not', async () => {
  const gateway = await stage()
  const wrong: readonly (readonly [EndUser, string])[] = [
    [{ user: 'u\0' }, '`user`'],
    [{ user: 'u\nv' }, '`user`'],
    [{ user: 'u', budgets: [{ limit: 1, group: 'g\0' }] }, '`budgets[0].group`'],
    [{ user: 'u', scopes: ['inference:*'] }, 'inference:invoke'],
  ]
  for (const [user, message] of wrong) await expect(gateway.workspaces('app').as(user)).rejects.toThrow(message)
})

test('no user uses up the rate of another by an id that ends like the name of a model', async () => {
  const gateway = await stage()
  const limits = { requestsPerMinute: 1 }
  expect(await outcome(gateway, { user: 'a:b', limits })).toBe('ok')
  expect(await outcome(gateway, { user: 'a', limits }, { model: 'b:small' })).toBe('ok')
  expect(await outcome(gateway, { user: 'a', limits }, { model: 'b:small' })).toBe('requests_per_min_exceeded')
})

test('refused requests of users with one id in two workspaces are counted in each', async () => {
  const warned: string[] = []
  const storage = memoryStorage()
  const gateway = await stage({ storage, logger: { ...quiet, warn: (_, text) => void warned.push(text) } })
  const limited = { user: 'u', limits: { requestsPerMinute: 1 } }
  for (const workspace of ['app', 'other']) {
    for (const end of ['ok', 'requests_per_min_exceeded']) expect(await outcome(gateway, limited, { workspace })).toBe(end)
  }
  await gateway.close()
  for (const workspaceId of ['app', 'other'])
    expect(await storage.records.list({ kind: 'key_refusals', workspaceId, groups: ['user:u'], limit: 9 })).toHaveLength(1)
  expect(warned).toEqual([])
})

describe.each([[false], [true]])('items of answers, stored: %s', store => {
  test('a user refers to items of its own answers, and to those of no other user', async () => {
    const gateway = await stage({ items: { store }, storage: sqliteStorage(':memory:'), sealingKey: new Uint8Array(32).fill(1) })
    const [ann, ben] = await Promise.all(['ann', 'ben'].map(user => gateway.workspaces('app').as({ user })))
    const { output } = await gateway.responses.create({ ...ask, input: 'My secret is 4711' }, { caller: ann as never })
    const id = output[0]?.id ?? ''
    const input = [
      { type: 'item_reference', id },
      { role: 'user', content: 'Repeat' },
    ] as never
    await expect(gateway.responses.create({ ...ask, input }, { caller: ann as never })).resolves.toMatchObject({ status: 'completed' })
    const other = await gateway.responses.create({ ...ask, input }, { caller: ben as never }).catch(String)
    expect(other).toContain('is not kept here')
    const { secret } = await gateway.workspaces('app').apiKeys.create({ name: 'k' })
    const key = await gateway.authenticate(secret)
    await expect(gateway.responses.create({ ...ask, input }, { caller: key })).rejects.toThrow('is not kept here')
  })
})

describe('a user with scopes of management', () => {
  const scopes = ['inference:invoke', 'keys:write', 'budgets:write', 'workspace:write', 'billing:write']
  const send = (gateway: Gateway, user: EndUser) => {
    const handler = createFetchHandler(gateway, { authenticate: () => ({ workspace: 'app', ...user }) })
    return async (method: string, path: string, body?: object) => {
      const init = { method, headers: { 'content-type': 'application/json' }, ...(body && { body: JSON.stringify(body) }) }
      return (await handler(new Request(`http://app.example${path}`, init))).status
    }
  }

  test('makes no key that would spend outside its budget, and does not loosen what bounds the workspace', async () => {
    const gateway = await stage()
    const { id } = await gateway.workspaces('app').budgets.create({ name: 'all', limit: usd(1), period: 'month' })
    const asBounded = send(gateway, { user: 'u', scopes, budgets: [{ limit: usd(1) }] })
    expect(await asBounded('POST', '/v1/workspaces/app/api-keys', { name: 'mine' })).toBe(403)
    expect(await asBounded('PATCH', `/v1/workspaces/app/budgets/${id}`, { limit_usd: 1_000 })).toBe(403)
    expect(await asBounded('PATCH', `/v1/workspaces/other/budgets/${id}`, { limit_usd: 1_000 })).toBe(404)
    // Who manages the workspace by the sign-in of the app has nothing to get around.
    const asManager = send(gateway, { user: 'm', scopes })
    expect(await asManager('POST', '/v1/workspaces/app/api-keys', { name: 'theirs' })).toBe(202)
    expect(await asManager('PATCH', `/v1/workspaces/app/budgets/${id}`, { limit_usd: 2 })).toBe(202)
  })

  test('is told what it is', async () => {
    const handler = createFetchHandler(await stage(), { authenticate: () => ({ workspace: 'app', user: 'u' }) })
    const me = await (await handler(new Request('http://app.example/v1/me'))).json()
    expect(me).toMatchObject({ credential_type: 'user', key_id: 'user:u', scopes: ['inference:invoke'] })
  })
})
