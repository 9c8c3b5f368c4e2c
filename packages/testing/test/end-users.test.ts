import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EndUserBudget, EndUserOf } from '@signalbox/core/access'
import { type FetchOptions, toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway, type Gateway, usd } from '@signalbox/gateway'
import { toNodeHandler } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { storesFor } from './stores.ts'

// Users of the app that embeds the gateway call without API keys: the app identifies them and sets what they may spend.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
/** Microdollars: one token of input, one of output, and each token costs one microdollar. */
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }

async function createFixture(storage: Storage = memoryStorage()): Promise<Gateway> {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'small', offers: [offer] }],
    storage,
    logger: quiet,
    storedItems: false,
  })
  onTestFinished(() => gateway.close())
  for (const id of ['app', 'a:b']) await gateway.workspaces.create({ id, name: id, billing: 'postpaid' }).catch(() => {})
  return gateway
}

/** Runs `count` requests at once; returns how many were answered and what an account of the user paid. */
async function race(gateway: Gateway, user: Omit<EndUserOf, 'workspace'>, count: number) {
  const caller = await gateway.workspaces('app').asUser(user)
  const ends = await Promise.allSettled(Array.from({ length: count }, () => gateway.responses.create(ask, { caller })))
  const codes = ends.flatMap(end => (end.status === 'rejected' ? [(end.reason as { code: string }).code] : []))
  return { answered: count - codes.length, codes: new Set(codes) }
}

const spentBy = async (storage: Storage, who: string): Promise<number> => {
  const month = new Date().toISOString().slice(0, 7)
  return (await storage.ledger.balance(`budget:app:${who}:month:${month}-01`)).spent
}

for (const { describeHere, name, make: makeStorage } of await storesFor(`budgets_${process.pid}`))
  describeHere(`budgets of end users, in ${name}`, () => {
    test('no user exceeds a cap, however many requests run concurrently', async () => {
      const storage = makeStorage()
      const gateway = await createFixture(storage)
      const users = Array.from({ length: inject('isLongRun') ? 10_000 : 60 }, (_each, at) => `u${at}`)
      const limit = 350
      const ends: Awaited<ReturnType<typeof race>>[] = []
      for (let at = 0; at < users.length; at += 200)
        ends.push(...(await Promise.all(users.slice(at, at + 200).map(user => race(gateway, { user, budgets: [{ limit }] }, 12)))))
      for (const [at, { answered, codes }] of ends.entries()) {
        expect(answered).toBeGreaterThan(0)
        expect([...codes].every(code => code === 'budget_exceeded')).toBe(true)
        expect(await spentBy(storage, `user:u${at}`)).toBeLessThanOrEqual(limit)
      }
      // Once nothing is on hold any more, a user without room is refused, and another is not.
      expect((await race(gateway, { user: 'u0', budgets: [{ limit: 100 }] }, 1)).codes).toEqual(new Set(['budget_exceeded']))
      expect((await race(gateway, { user: 'new', budgets: [{ limit }] }, 1)).answered).toBe(1)
    }, 900_000)

    test('users of one group share a cap, and each has its own cap', async () => {
      const storage = makeStorage()
      const gateway = await createFixture(storage)
      const budgets: readonly EndUserBudget[] = [{ limit: usd(1) }, { limit: 500, group: 'team' }]
      const ends = await Promise.all(['a', 'b', 'c'].map(user => race(gateway, { user, budgets }, 20)))
      expect(ends.some(({ codes }) => codes.has('budget_exceeded'))).toBe(true)
      const own = await Promise.all(['a', 'b', 'c'].map(user => spentBy(storage, `user:${user}`)))
      const shared = await spentBy(storage, 'group:team')
      expect(shared).toBeLessThanOrEqual(500)
      expect(own.reduce((sum, each) => sum + each, 0)).toBe(shared)
    })

    test('ids that contain separators never refer to the account of another user', async () => {
      const storage = makeStorage()
      const gateway = await createFixture(storage)
      const spend = async (workspace: string, user: string) => {
        const caller = await gateway.workspaces(workspace).asUser({ user, budgets: [{ limit: 150, period: 'total' }] })
        return gateway.responses.create(ask, { caller })
      }
      await spend('a:b', 'c')
      for (const [workspace, user] of [
        ['app', 'user:c'],
        ['app', 'a%3Ab:user:c'],
        ['app', 'group:c'],
      ] as const)
        await expect(spend(workspace, user)).resolves.toMatchObject({ status: 'completed' })
    })
  })

test.each<readonly [string, (gateway: Gateway) => Promise<unknown>]>([
  ['a user', gateway => gateway.workspaces('app').asUser({ user: 'u1' })],
  ['a session', gateway => gateway.workspaces('app').sessions.create({ user: 'u1' })],
])('%s of a workspace that `setup` creates exists from the first call on', async (_, call) => {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim' })],
    models: [{ id: 'small', offers: [offer] }],
    storage: memoryStorage(),
    logger: quiet,
    async setup({ workspaces }) {
      await workspaces.create({ id: 'app', name: 'App' })
      await call({ workspaces } as Gateway)
    },
  })
  onTestFinished(() => gateway.close())
  await expect(call(gateway)).resolves.toBeDefined()
})

test('a user is shown what is left of its own budgets, not of those that it shares', async () => {
  const gateway = await createFixture()
  const app = gateway.workspaces('app')
  await app.budgets.create({ name: 'all of the app', limit: usd(9) })
  const budgets: readonly EndUserBudget[] = [{ limit: 1_000 }, { limit: 500, group: 'team' }, { limit: usd(1), period: 'total' }]
  const caller = await app.asUser({ user: 'u', budgets })
  await gateway.responses.create(ask, { caller })
  const { cost } = await app.analytics.summary({ user: 'u' })
  expect(cost).toBeGreaterThan(0)
  const { budgets: told, budget } = await gateway.identity(caller)
  expect(told).toEqual([
    { name: 'u', period: 'month', enforce: true, limit: 1_000, used: cost, remaining: 1_000 - cost, resetsAt: expect.any(Number) },
    { name: 'u', period: 'total', enforce: true, limit: usd(1), used: cost, remaining: usd(1) - cost },
  ])
  expect(budget?.limit).toBe(1_000)
})

test('usage is counted by user, and limits apply to each user separately', async () => {
  const gateway = await createFixture()
  const limited = { user: 'u1', limits: { requestsPerMinute: 3 } }
  const { answered, codes } = await race(gateway, limited, 10)
  expect([answered, codes]).toEqual([3, new Set(['requests_per_min_exceeded'])])
  expect((await race(gateway, { ...limited, user: 'u2' }, 3)).answered).toBe(3)
  const rows = await gateway.workspaces('app').analytics.requests({ apiKeyId: 'user:u1' })
  expect(rows.filter(({ result }) => result === 'ok')).toHaveLength(3)
})

test('tags of a user and of its request are recorded, also if it failed, and audit events name the user', async () => {
  const gateway = await createFixture()
  const app = gateway.workspaces('app')
  const caller = await app.asUser({ user: 'u1', tags: ['plan:pro'], scopes: ['inference:invoke', 'keys:write'] })
  const metadata = { tags: 'search,plan:pro', page: '7' }
  await gateway.responses.create({ ...ask, gateway: { metadata } }, { caller })
  await gateway.chat.completions.create({ model: 'small', messages: [{ role: 'user', content: 'hi' }] }, { caller })
  const tight = await app.asUser({ user: 'u1', tags: ['plan:free'], budgets: [{ limit: 0, group: 'plan:free' }] })
  await expect(gateway.responses.create(ask, { caller: tight })).rejects.toMatchObject({ code: 'budget_exceeded' })
  const rows = await app.analytics.requests({ user: 'u1' })
  expect(rows.map(({ tags }) => tags)).toEqual([['plan:pro'], ['plan:pro', 'search']])
  expect(rows[1]?.metadata).toEqual(metadata)
  expect((await app.analytics.trends({ groupBy: 'tag' })).map(({ group }) => group)).toEqual(['plan:pro', 'search'])

  const { keyId: id, keyName: name, scopes } = caller
  await gateway.workspaces('app', { key: { id, name, scopes } }).apiKeys.create({ name: 'made by a user' })
  const [event] = await app.auditEvents.list({ limit: 1 })
  expect(event).toMatchObject({ event: 'api_key.created', actorKeyId: 'user:u1', actorName: 'u1' })
})

test('an invalid user is refused with the field, and so is an unknown workspace', async () => {
  const gateway = await createFixture()
  const wrong: readonly (readonly [object, string])[] = [
    [{}, '`user`'],
    [{ user: '' }, '`user`'],
    [{ user: 'u'.repeat(201) }, '`user`'],
    [{ user: 'u', scope: ['x'] }, 'Did you mean `scopes`?'],
    [{ user: 'u', budgets: [{ limit: 0.5 }] }, '`budgets[0].limit`'],
    [{ user: 'u', budgets: [{ limit: -1 }] }, '`budgets[0].limit`'],
    [{ user: 'u', budgets: [{ limit: 1, period: 'year' }] }, '`budgets[0].period`'],
    [{ user: 'u', budgets: Array.from({ length: 9 }, () => ({ limit: 1 })) }, 'at most 8 budgets'],
    [{ user: 'u', limits: { requestsPerMinute: 0 } }, '`limits.requestsPerMinute`'],
    [{ user: 'u', tags: ['a,b'] }, '`tags`'],
    [{ user: 'u', tags: Array.from({ length: 9 }, (_, n) => `t${n}`) }, '`tags`'],
  ]
  for (const [user, message] of wrong) await expect(gateway.workspaces('app').asUser(user as EndUserOf)).rejects.toThrow(message)
  await expect(gateway.workspaces('gone').asUser({ user: 'u' })).rejects.toMatchObject({ code: 'resource_not_found' })
})

describe('over HTTP', () => {
  const signIn = (read: (name: string) => string | null | undefined): EndUserOf | Response | undefined => {
    const user = /user=(\w+)/.exec(read('cookie') ?? '')?.[1]
    if (user === 'banned') return new Response('Go away.', { status: 403, headers: { 'x-app': 'yes' } })
    return user === undefined ? undefined : { workspace: 'app', user, budgets: [{ limit: 350 }] }
  }
  type Send = (path: string, headers: Record<string, string>, body?: object) => Promise<Response>

  async function byFetch(gateway: Gateway, options: FetchOptions = {}): Promise<Send> {
    const handler = toFetchHandler(gateway, { authenticate: request => signIn(name => request.headers.get(name)), ...options })
    return (path, headers, body) => handler(new Request(`http://app.example${path}`, asked(headers, body)))
  }
  async function byNode(gateway: Gateway): Promise<Send> {
    const server = createServer(toNodeHandler(gateway, { authenticate: ({ headers }) => signIn(name => headers[name] as string) }))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    return (path, headers, body) => fetch(`http://127.0.0.1:${port}${path}`, asked(headers, body))
  }
  const asked = (headers: Record<string, string>, body?: object): RequestInit =>
    body === undefined
      ? { headers }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }

  describe.each([
    ['a fetch handler', byFetch],
    ['a node listener', byNode],
  ] as const)('%s', (_, mount) => {
    test('serves a signed-in user without a key, refuses missing scopes, and passes on a response of the sign-in', async () => {
      const gateway = await createFixture()
      const send = await mount(gateway)
      expect((await send('/v1/responses', { cookie: 'user=u1' }, ask)).status).toBe(200)
      expect((await send('/v1/responses', {}, ask)).status).toBe(401)
      const banned = await send('/v1/responses', { cookie: 'user=banned' }, ask)
      expect([banned.status, await banned.text(), banned.headers.get('x-app')]).toEqual([403, 'Go away.', 'yes'])
      expect((await send('/v1/workspaces/app/api-keys', { cookie: 'user=u1' })).status).toBe(403)
      expect((await send('/v1/workspaces/a:b/api-keys', { cookie: 'user=u1' })).status).toBe(404)
      const { secret } = await gateway.workspaces('app').apiKeys.create({ name: 'k' })
      expect((await send('/v1/responses', { authorization: `Bearer ${secret}` }, ask)).status).toBe(200)
    })

    test('returns 402 once the cap of the user is reached', async () => {
      const send = await mount(await createFixture())
      const statuses: number[] = []
      for (let n = 0; n < 200 && !statuses.includes(402); n++)
        statuses.push((await send('/v1/responses', { cookie: 'user=u1' }, ask)).status)
      expect(statuses).toContain(402)
      expect((await send('/v1/responses', { cookie: 'user=u2' }, ask)).status).toBe(200)
    })
  })

  test('a page of another site cannot spend for a signed-in user unless its origin is allowed', async () => {
    const gateway = await createFixture()
    const from = (origin: string, more: Record<string, string> = {}) => ({ cookie: 'user=u1', host: 'app.example', origin, ...more })
    const statusOf = async (send: Send, headers: Record<string, string>) => (await send('/v1/responses', headers, ask)).status
    const send = await byFetch(gateway)
    expect(await statusOf(send, from('https://evil.example'))).toBe(403)
    expect(await statusOf(send, from('null'))).toBe(403)
    // A request that never was on a wire has no Host, and a page without an origin is not of that host.
    for (const [origin, status] of [
      ['null', 403],
      ['https://evil.example', 403],
      ['http://app.example', 200],
    ] as const)
      expect((await send('/v1/responses', { cookie: 'user=u1', origin }, ask)).status).toBe(status)
    // A browser sends no Origin with images and links, but Sec-Fetch-Site.
    for (const [site, status] of [
      ['cross-site', 403],
      ['same-site', 403],
      ['same-origin', 200],
      ['none', 200],
    ] as const)
      expect((await send('/v1/me', { cookie: 'user=u1', 'sec-fetch-site': site })).status).toBe(status)
    // The same host over http is another site.
    expect(await statusOf(send, from('http://app.example', { 'sec-fetch-site': 'cross-site' }))).toBe(403)
    expect(await statusOf(send, from('https://app.example'))).toBe(200)
    expect(await statusOf(send, from('https://proxied.example', { 'sec-fetch-site': 'same-origin' }))).toBe(200)
    expect(await statusOf(await byFetch(gateway, { cors: { origins: '*' } }), from('https://evil.example'))).toBe(403)
    expect(await statusOf(await byFetch(gateway, { cors: { origins: ['https://friend.example'] } }), from('https://friend.example'))).toBe(
      200,
    )
  })

  test('a sign-in that throws or returns no user is a 500 without its message, and the request is not served', async () => {
    const gateway = await createFixture()
    for (const authenticate of [() => Promise.reject(new Error('secret detail')), () => ({ workspace: 'app' }) as EndUserOf]) {
      const send = await byFetch(gateway, { authenticate })
      const response = await send('/v1/responses', {}, ask)
      expect([response.status, (await response.text()).includes('secret detail')]).toEqual([500, false])
    }
  })
})
