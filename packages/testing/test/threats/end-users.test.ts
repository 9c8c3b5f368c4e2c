import { createRequire } from 'node:module'
import type { EndUser, EndUserBudget } from '@signalbox/core/access'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway, type Gateway, type GatewayOptions, usd } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { postgresStorage } from '@signalbox/storage-sql/postgres'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { json } from '../../src/chaos/acts.ts'
import { chaosProvider, fakeClock, testGateway } from '../../src/index.ts'
import { describeWith, postgresUrl } from '../services.ts'
import { waitFor, waitUntil } from '../waits.ts'

// What a user of an app may try against the gateway that the app embeds, and against the app's other users.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
/** Microdollars: one token of input, one of output, and each token costs one microdollar. */
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }

async function createFixture(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
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
  const caller = await gateway.workspaces(workspace).asUser(user)
  return gateway.responses.create({ ...ask, model }, { caller }).then(
    () => 'ok',
    (error: { readonly code: string }) => error.code,
  )
}

const describePostgres = describeWith('postgres')
const schema = `end_users_${process.pid}`
afterAll(async () => {
  if (describePostgres !== describe) return
  const { Pool } = createRequire(import.meta.resolve('@signalbox/storage-sql/postgres'))('pg')
  const pool = new Pool({ connectionString: postgresUrl })
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool.end()
})
const stores = [
  [describe, 'memory', () => memoryStorage()],
  [describe, 'SQLite', () => sqliteStorage(':memory:')],
  [describePostgres, 'PostgreSQL', () => postgresStorage(postgresUrl, { schema, clock: 'caller' })],
] as const

for (const [describeHere, name, makeStorage] of stores)
  describeHere(`in ${name}`, () => {
    test('budgets whose periods start on the same date, or that count the same, all apply', async () => {
      // A Monday that is the first of its month.
      const clock = fakeClock({ now: Date.UTC(2027, 1, 1, 12) })
      const gateway = await createFixture({ storage: makeStorage(), clock })
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

    test('accounts of past days are removed after a week, current ones are not, and no cap is reset by it', async () => {
      const clock = fakeClock({ now: Date.UTC(2027, 1, 1, 12) })
      const storage = makeStorage()
      const gateway = await createFixture({ storage, clock })
      const budgets: readonly EndUserBudget[] = [
        { limit: usd(1), period: 'day' },
        { limit: 250, period: 'total' },
        { limit: usd(1), period: 'day', group: 'day:2020-01-01' },
      ]
      const users = Array.from({ length: 12 }, (_, n) => `u${n}`)
      const days = 14
      for (let day = 0; day < days; day++) {
        const spending = users.map(user => outcome(gateway, { user: `${user}.${day < 2 ? '' : 'late'}`, budgets }, { workspace: 'other' }))
        expect(new Set(await Promise.all(spending))).toEqual(new Set(['ok']))
        const page = await gateway.workspaces('other').sessions.create({ user: 'page', maxSpend: usd(1) })
        await gateway.responses.create(ask, { apiKey: page.token })
        await clock.advance(86_400_000)
      }
      // The search runs in the background.
      await waitFor(async () => {
        const names = await storage.ledger.accounts({ prefix: 'budget:other:', limit: 10_000 })
        const dated = names.filter(name => /:\d{4}-\d\d-\d\d$/.test(name))
        expect(names.length - dated.length).toBe(2 * users.length)
        expect(dated.length).toBeGreaterThan(0)
        expect(dated.length).toBeLessThanOrEqual((users.length + 2) * 9)
      })
      // Had the accounts in total gone, the users would have room again.
      const ends: string[] = []
      for (let n = 0; n < 90 && ends.at(-1) !== 'budget_exceeded'; n++)
        ends.push(await outcome(gateway, { user: 'u0.', budgets: [{ limit: 250, period: 'total' }] }, { workspace: 'other' }))
      const spent = (await storage.ledger.balance('budget:other:user:u0.:total')).spent
      expect([ends.at(-1), spent <= 250, spent > 2]).toEqual(['budget_exceeded', true, true])
    })

    test('requests whose client disconnects while their hold is being placed leave nothing on hold', async () => {
      const storage = makeStorage()
      const gateway = await createFixture({ storage })
      const budgets: readonly EndUserBudget[] = [{ limit: usd(1), period: 'total' }]
      const handler = toFetchHandler(gateway, { authenticate: () => ({ workspace: 'app', user: 'leaves', budgets }) })
      const leave = async (n: number): Promise<void> => {
        const leaving = new AbortController()
        const { signal } = leaving
        const headers = { 'content-type': 'application/json' }
        const asked = new Request('http://app.example/v1/responses', { method: 'POST', headers, body: JSON.stringify(ask), signal })
        const reply = handler(asked).catch(() => undefined)
        if (n % 10 > 0) await new Promise(resolve => setTimeout(resolve, n % 10))
        leaving.abort()
        await (await reply)?.text().catch(() => {})
      }
      for (let at = 0; at < 5; at++) await Promise.all(Array.from({ length: 40 }, (_, n) => leave(n)))
      const heldOf = async () => (await storage.ledger.balance('budget:app:user:leaves:total')).held
      // Well below the minute after which the hold of a process that has ended is collected.
      await waitUntil(async () => (await heldOf()) === 0)
    })

    test('ids of any script and length are separate users with their own usage', async () => {
      const gateway = await createFixture({ storage: makeStorage() })
      const users = ['é', 'e\u0301', '__proto__', 'constructor', '\u{1f600}'.repeat(100), '漢'.repeat(200), ' ', '%', 'a:b', "';--"]
      const limited = { limits: { requestsPerMinute: 1 }, budgets: [{ limit: usd(1), group: 'toString' }, { limit: usd(1) }] }
      expect(await Promise.all(users.map(user => outcome(gateway, { user, ...limited })))).toEqual(users.map(() => 'ok'))
      const counted = await Promise.all(
        users.map(async user => (await gateway.workspaces('app').analytics.requests({ apiKeyId: `user:${user}` })).length),
      )
      expect(counted).toEqual(users.map(() => 1))
    })
  })

test('an id with a control character, which a database may refuse, is refused at once, and so is an unknown scope', async () => {
  const gateway = await createFixture()
  const wrong: readonly (readonly [EndUser, string])[] = [
    [{ user: 'u\0' }, '`user`'],
    [{ user: 'u\nv' }, '`user`'],
    [{ user: 'u', budgets: [{ limit: 1, group: 'g\0' }] }, '`budgets[0].group`'],
    [{ user: 'u', scopes: ['inference:*'] }, 'inference:invoke'],
  ]
  for (const [user, message] of wrong) await expect(gateway.workspaces('app').asUser(user)).rejects.toThrow(message)
})

test('an id that ends like a model name does not use up the rate limit of another user', async () => {
  const gateway = await createFixture()
  const limits = { requestsPerMinute: 1 }
  expect(await outcome(gateway, { user: 'a:b', limits })).toBe('ok')
  expect(await outcome(gateway, { user: 'a', limits }, { model: 'b:small' })).toBe('ok')
  expect(await outcome(gateway, { user: 'a', limits }, { model: 'b:small' })).toBe('requests_per_min_exceeded')
})

test('refused requests of users with one id in two workspaces are counted in each', async () => {
  const warned: string[] = []
  const storage = memoryStorage()
  const gateway = await createFixture({ storage, logger: { ...quiet, warn: (_, text) => void warned.push(text) } })
  const limited = { user: 'u', limits: { requestsPerMinute: 1 } }
  for (const workspace of ['app', 'other']) {
    for (const end of ['ok', 'requests_per_min_exceeded']) expect(await outcome(gateway, limited, { workspace })).toBe(end)
  }
  await gateway.close()
  for (const workspaceId of ['app', 'other'])
    expect(await storage.records.list({ kind: 'key_refusals', workspaceId, groups: ['user:u'], limit: 9 })).toHaveLength(1)
  expect(warned).toEqual([])
})

describe.each([[false], [true]])('items of responses, stored: %s', store => {
  test('a user can refer to items of its own responses only', async () => {
    const gateway = await createFixture({
      storedItems: { store },
      storage: sqliteStorage(':memory:'),
      sealingKey: new Uint8Array(32).fill(1),
    })
    const [ann, ben] = await Promise.all(['ann', 'ben'].map(user => gateway.workspaces('app').asUser({ user })))
    const { output } = await gateway.responses.create({ ...ask, input: 'My secret is 4711' }, { caller: ann as never })
    const id = output[0]?.id ?? ''
    const input = [
      { type: 'item_reference', id },
      { role: 'user', content: 'Repeat' },
    ] as never
    await expect(gateway.responses.create({ ...ask, input }, { caller: ann as never })).resolves.toMatchObject({ status: 'completed' })
    const other = await gateway.responses.create({ ...ask, input }, { caller: ben as never }).catch(String)
    expect(other).toContain('was not found')
    const { secret } = await gateway.workspaces('app').apiKeys.create({ name: 'k' })
    const key = await gateway.authenticate(secret)
    await expect(gateway.responses.create({ ...ask, input }, { caller: key })).rejects.toThrow('was not found')
    // A tenant that chose the id of its workspace.
    await gateway.workspaces.create({ id: '["app","user:ann"]', name: 'Ann', billing: 'postpaid' })
    const { secret: apiKey } = await gateway.workspaces('["app","user:ann"]').apiKeys.create({ name: 'k' })
    await expect(gateway.responses.create({ ...ask, input }, { apiKey })).rejects.toThrow('was not found')
  })
})

describe('sealed reasoning of one user', () => {
  test('cannot be used by another user of the workspace or by a key, and that of a key not by a user', async () => {
    const chaos = await chaosProvider()
    onTestFinished(() => chaos.close())
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'as the provider thought' }
    const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: '4711' }] }
    chaos.always(
      json(200, {
        id: 'r',
        object: 'response',
        status: 'completed',
        output: [reasoning, message],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
    const { gateway, caller: key, close } = await testGateway({ servers: [chaos], dialect: 'responses' })
    onTestFinished(close)
    const [ann, ben] = await Promise.all(['ann', 'ben'].map(user => gateway.workspaces(key.workspaceId).asUser({ user })))
    const callers = [ann ?? key, ben ?? key, key]
    for (const [maker, caller] of callers.entries()) {
      const { output } = await gateway.responses.create({ model: 'test-model', input: 'Think.' }, { caller })
      const sealed = output.find(({ type }) => type === 'reasoning')
      expect(JSON.stringify(sealed)).toContain('gw1.')
      for (const [reader, by] of callers.entries()) {
        const input = [sealed, { role: 'user', content: 'Go on.' }] as never
        await gateway.responses.create({ model: 'test-model', input }, { caller: by })
        const sent = JSON.stringify(chaos.requests.at(-1)?.json)
        expect([maker, reader, sent.includes('as the provider thought')]).toEqual([maker, reader, maker === reader])
      }
    }
  })

  test('cannot be opened as a summary by another', async () => {
    const gateway = await createFixture()
    const app = gateway.workspaces('app')
    const { secret } = await app.apiKeys.create({ name: 'k' })
    const other = await app.apiKeys.create({ name: 'k2' })
    const handler = toFetchHandler(gateway, {
      authenticate: ({ headers }) => (headers.has('x-user') ? { workspace: 'app', user: headers.get('x-user') ?? '' } : undefined),
    })
    const callers: readonly Record<string, string>[] = [
      { 'x-user': 'ann' },
      { 'x-user': 'ben' },
      { authorization: `Bearer ${secret}` },
      { authorization: `Bearer ${other.secret}` },
    ]
    const send = (headers: Record<string, string>, path: string, body: object) =>
      handler(
        new Request(`http://app.example${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      )
    const opens = async (by: Record<string, string>) => {
      const made = await send(by, '/v1/responses/compact', { model: 'small', input: 'My secret is 4711' })
      const { output } = (await made.json()) as { output: readonly object[] }
      expect(JSON.stringify(output)).toContain('gwc1.')
      const replies = await Promise.all(
        callers.map(each => send(each, '/v1/responses', { ...ask, input: [...output, { role: 'user', content: 'hi' }] })),
      )
      return replies.map(({ status }) => status)
    }
    expect(await opens(callers[0] ?? {})).toEqual([200, 400, 400, 400])
    expect(await opens(callers[2] ?? {})).toEqual([400, 400, 200, 200])
  })
})

describe('a user with management scopes', () => {
  const scopes = ['inference:invoke', 'keys:write', 'budgets:write', 'workspace:write', 'billing:write']
  const send = (gateway: Gateway, user: EndUser) => {
    const handler = toFetchHandler(gateway, { authenticate: () => ({ workspace: 'app', ...user }) })
    return async (method: string, path: string, body?: object) => {
      const init = { method, headers: { 'content-type': 'application/json' }, ...(body && { body: JSON.stringify(body) }) }
      return (await handler(new Request(`http://app.example${path}`, init))).status
    }
  }

  test('cannot create a key that spends outside its budget, and cannot loosen the limits of the workspace', async () => {
    const gateway = await createFixture()
    const { id } = await gateway.workspaces('app').budgets.create({ name: 'all', limit: usd(1), period: 'month' })
    const asBounded = send(gateway, { user: 'u', scopes, budgets: [{ limit: usd(1) }] })
    expect(await asBounded('POST', '/v1/workspaces/app/api-keys', { name: 'mine' })).toBe(403)
    expect(await asBounded('PATCH', `/v1/workspaces/app/budgets/${id}`, { limit_usd: 1_000 })).toBe(403)
    expect(await asBounded('PATCH', `/v1/workspaces/other/budgets/${id}`, { limit_usd: 1_000 })).toBe(404)
    // A user who manages the workspace through the app's sign-in has no limits to bypass.
    const asManager = send(gateway, { user: 'm', scopes })
    expect(await asManager('POST', '/v1/workspaces/app/api-keys', { name: 'theirs' })).toBe(202)
    expect(await asManager('PATCH', `/v1/workspaces/app/budgets/${id}`, { limit_usd: 2 })).toBe(202)
  })

  test('is shown its own scopes', async () => {
    const handler = toFetchHandler(await createFixture(), { authenticate: () => ({ workspace: 'app', user: 'u' }) })
    const me = await (await handler(new Request('http://app.example/v1/me'))).json()
    expect(me).toMatchObject({ credential_type: 'user', key_id: 'user:u', scopes: ['inference:invoke'] })
  })
})

describe('an error of a user', () => {
  /** What only the workspace knows: names, and amounts that are in nothing else. */
  const secrets = ['4.242', '4242', '77.77', '7777', 'secret-budget', 'secret-group', '31337', '61']
  const users: Readonly<Record<string, EndUser>> = {
    plain: { user: 'plain' },
    grouped: { user: 'grouped', budgets: [{ limit: 61, group: 'secret-group' }] },
    mixed: { user: 'mixed', budgets: [{ limit: usd(9) }, { limit: 61, group: 'secret-group' }] },
    capped: { user: 'capped', budgets: [{ limit: 12, period: 'total' }] },
    limited: { user: 'limited', limits: { requestsPerMinute: 1, concurrentRequests: 1 } },
    thrifty: { user: 'thrifty', limits: { tokensPerMinute: 3 } },
  }
  async function asUser(gateway: Gateway) {
    const authenticate = (request: Request) => {
      const user = users[request.headers.get('x-user') ?? '']
      return user && { ...user, workspace: 'app' }
    }
    const handler = toFetchHandler(gateway, { authenticate })
    return async (headers: Record<string, string>, path = 'POST /v1/responses', body: object | undefined = ask) => {
      const [method = '', url] = path.split(' ')
      const sent = { method, headers: { 'content-type': 'application/json', ...headers } }
      const reply = await handler(
        new Request(`http://app.example${url}`, { ...sent, ...(method === 'POST' && { body: JSON.stringify(body) }) }),
      )
      return {
        status: reply.status,
        budget: reply.headers.get('x-budget-limit-usd'),
        text: `${JSON.stringify([...reply.headers])}${await reply.text()}`,
      }
    }
  }
  // Random ids are left out: a part of one may begin with the digits of a secret.
  const leaks = (text: string) => {
    const words = text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')
    return secrets.filter(secret => new RegExp(`\\b${secret.replace('.', '\\.')}`).test(words))
  }

  test('reveals nothing of the money and limits that it shares, and all of its own; a key is shown both', async () => {
    const gateway = await createFixture()
    const app = gateway.workspaces('app')
    const send = await asUser(gateway)
    const { secret } = await app.apiKeys.create({ name: 'k' })
    const byKey = { authorization: `Bearer ${secret}` }
    const seen = async (user: string, headers: Record<string, string> = { 'x-user': user }) => {
      const { status, budget, text } = await send(headers)
      return [status, budget, leaks(text)]
    }
    // A budget of the workspace.
    const budget = await app.budgets.create({ name: 'secret-budget', limit: 61, period: 'total' })
    expect(await seen('plain')).toEqual([402, null, []])
    expect(await seen('', byKey)).toEqual([402, '0.000061', ['secret-budget']])
    for (const user of ['plain', 'capped']) {
      const me = await send({ 'x-user': user }, 'GET /v1/me')
      expect([me.status, me.budget, leaks(me.text)]).toEqual([200, user === 'capped' ? '0.000012' : null, []])
    }
    await app.budgets.delete(budget.id)
    // A budget of a group, and one of its own.
    expect(await seen('grouped')).toEqual([402, null, []])
    expect(await seen('mixed')).toEqual([402, null, []])
    expect(await seen('capped')).toEqual([402, '0.000012', []])
    // The credit of the workspace.
    await gateway.workspaces.create({ id: 'poor', name: 'poor' })
    await gateway.workspaces('poor').billing.credit({ reference: 'r', amount: 42 })
    const poor = toFetchHandler(gateway, { authenticate: () => ({ workspace: 'poor', user: 'u' }) })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(ask) }
    const refused = await (await poor(new Request('http://app.example/v1/responses', init))).text()
    expect(refused).toContain('insufficient_credits')
    expect(refused).not.toContain('0.000042')
    const own = await gateway.workspaces('poor').apiKeys.create({ name: 'k' })
    await expect(gateway.responses.create(ask, { apiKey: own.secret })).rejects.toThrow('0.000042')
  })

  test('names the caller’s own limit, not those of others', async () => {
    const gateway = await createFixture({ limits: { workspace: { requestsPerMinute: 7777 } } })
    const send = await asUser(gateway)
    const app = gateway.workspaces('app')
    const session = await app.sessions.create({ user: 'page', limits: { requestsPerMinute: 1 } })
    const texts: string[] = []
    const users: Record<string, string>[] = [{ 'x-user': 'limited' }, { authorization: `Bearer ${session.token}` }]
    for (const headers of users) {
      await send(headers)
      const { status, text } = await send(headers)
      expect(status).toBe(429)
      expect(text).toContain('Rate limit reached for this user: 1 requests per minute')
      texts.push(text)
    }
    const thrifty = await send({ 'x-user': 'thrifty' })
    expect(thrifty.text).toContain('more than the limit of 3 tokens per minute of this user')
    expect((await send({ 'x-user': 'limited' }, 'GET /v1/workspaces/app/budgets')).text).toContain('This user lacks')
    // The limits of its workspace, and of the key that a session was made with.
    for (const workspace of [{ requestsPerMinute: 1 }, { tokensPerMinute: 61 }, { concurrentRequests: 61 }]) {
      const strict = await createFixture({ limits: { workspace } })
      const ofStrict = await asUser(strict)
      const replies = await Promise.all(Array.from({ length: 90 }, () => ofStrict({ 'x-user': 'plain' })))
      const [first] = replies.filter(({ status }) => status === 429)
      if (!first) throw new Error(`${JSON.stringify(workspace)} refuses nothing.`)
      expect(first.text).toContain('he workspace of this user')
      expect(leaks(first.text)).toEqual([])
      texts.push(first.text)
    }
    const maker = await app.apiKeys.create({ name: 'maker', scopes: '*', rateLimitRpm: 1 })
    const { keyId: id, keyName: name, scopes } = await gateway.authenticate(maker.secret)
    const below = await gateway.workspaces('app', { key: { id, name, scopes } }).sessions.create({ user: 'below' })
    await send({ authorization: `Bearer ${below.token}` })
    const { text } = await send({ authorization: `Bearer ${below.token}` })
    expect(text).toContain('Rate limit reached for the workspace of this user: requests per minute')
    for (const each of [...texts, text]) expect(each).not.toMatch(/\b[Tt]his key/)
  })
})
