import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway as createGatewaySdk } from '@ai-sdk/gateway'
import { makeSecret } from '@signalbox/core/access'
import type { NewSession } from '@signalbox/core/resources'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { toNodeHandler } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { generateText } from 'ai'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { storesFor } from './stores.ts'

// A page calls models with a token that its server made for one user: for a while, for some models, up to a sum, from its own origin.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
/** Microdollars: one token of input, one of output, and each token costs one microdollar. */
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }
const origin = 'https://app.example'

async function createFixture(storage: Storage = memoryStorage()): Promise<Gateway> {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [
      { id: 'small', aliases: ['tiny'], offers: [offer] },
      { id: 'large', offers: [offer] },
    ],
    storage,
    logger: quiet,
    storedItems: false,
    limits: { inferenceRpm: 1_000_000, managementReadsRpm: 1_000_000, managementWritesRpm: 1_000_000 },
  })
  onTestFinished(() => gateway.close())
  await gateway.workspaces.create({ id: 'app', name: 'App', billing: 'postpaid' }).catch(() => {})
  return gateway
}

type Headers = Readonly<Record<string, string>>
type Send = (methodAndPath: string, headers: Headers, body?: object) => Promise<Response>

function pageOf(gateway: Gateway): Send {
  const handler = toFetchHandler(gateway)
  return (methodAndPath, headers, body) => {
    const [method = '', path] = methodAndPath.split(' ')
    return handler(
      new Request(`http://gateway.example${path}`, {
        method,
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  }
}

const bearer = (token: string, from: string | undefined = origin): Headers => ({
  authorization: `Bearer ${token}`,
  ...(from && { origin: from }),
})
const outcomeOf = async (response: Response) => {
  const body = (await response.json()) as { error?: { code?: string } }
  return [response.status, body.error?.code]
}

for (const { describeHere, name, make: makeStorage } of await storesFor(`sessions_${process.pid}`))
  describeHere(`sessions, in ${name}`, () => {
    test('no session exceeds its spending limit, and no user its budget over all sessions', async () => {
      const storage = makeStorage()
      const gateway = await createFixture(storage)
      const { sessions } = gateway.workspaces('app')
      // Creating 20,000 sessions, each in the audit chain, takes PostgreSQL longer than the races.
      const many = name === 'PostgreSQL' ? 1_000 : 10_000
      const users = Array.from({ length: inject('isLongRun') ? many : 20 }, (_each, n) => `u${n}`)
      let refused = 0
      const spentOf = async (account: string) => (await storage.ledger.balance(`budget:app:${account}`)).spent
      const race = async (user: string) => {
        const made = await Promise.all(
          [1, 2].map(() => sessions.create({ user, maxSpend: 250, budgets: [{ limit: 350, period: 'total' }] })),
        )
        const asked = made.flatMap(({ token }) => Array.from({ length: 5 }, () => gateway.responses.create(ask, { apiKey: token })))
        const ends = await Promise.allSettled(asked)
        const codes = ends.flatMap(end => (end.status === 'rejected' ? [(end.reason as { code: string }).code] : []))
        expect(codes.every(code => code === 'budget_exceeded')).toBe(true)
        refused += codes.length
        const own = await Promise.all(
          made.map(({ id, expiresAt }) => spentOf(`session:${id}:${new Date(expiresAt).toISOString().slice(0, 10)}`)),
        )
        expect(Math.max(...own)).toBeLessThanOrEqual(250)
        const all = await spentOf(`user:${user}:total`)
        expect(all).toBeLessThanOrEqual(350)
        expect(own.reduce((sum, each) => sum + each, 0)).toBe(all)
        expect(all).toBeGreaterThan(0)
      }
      for (let at = 0; at < users.length; at += 100) await Promise.all(users.slice(at, at + 100).map(race))
      expect(refused).toBeGreaterThan(0)
    }, 900_000)

    test('a forged, expired or revoked token, or one of another origin, is refused, and a valid one is not', async () => {
      const clock = { now: () => Date.now() + skipped }
      let skipped = 0
      const storage = makeStorage()
      const gateway = await createFixture(storage)
      gateway.clock.now = clock.now
      const { sessions } = gateway.workspaces('app')
      const send = pageOf(gateway)
      const before = await gateway.workspaces('app').analytics.count({}, 1e7)
      const good = await sessions.create({ user: 'good', origins: [origin], expiresIn: 86_400 })
      const gone = await sessions.create({ user: 'gone' })
      const old = await sessions.create({ user: 'old', expiresIn: 1 })
      const listed = async (headers: Headers) => outcomeOf(await send('GET /v4/ai/config', headers))
      expect((await send('POST /v1/responses', bearer(old.token), ask)).status).toBe(200)
      expect((await send('POST /v1/responses', bearer(gone.token), ask)).status).toBe(200)
      await sessions.revoke(gone.id)
      skipped = 2_000
      const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
      const { token } = good
      const swapped = (text: string) => text.replace(/[A-Za-z]/g, letter => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
      const forgeries: readonly ((n: number) => string)[] = [
        // One digit is another.
        n => {
          const at = 3 + (n % 49)
          const instead = digits[(digits.indexOf(token.charAt(at)) + 1 + (Math.floor(n / 49) % 61)) % 62]
          return `${token.slice(0, at)}${instead}${token.slice(at + 1)}`
        },
        // Well made, and of no session.
        () => makeSecret(gateway.ids, 'st_'),
        () => makeSecret(gateway.ids),
        n => token.slice(0, 3 + (n % 49)),
        n => `${token}${digits[n % 62]}`,
        () => swapped(token),
        () => `st_${swapped(token.slice(3))}`,
        () => `ak_${token.slice(3)}`,
        () => `st_${token.slice(10)}${token.slice(3, 10)}`,
        () => `st_${good.id.replaceAll('-', '')}`.padEnd(52, '0'),
        () => good.id,
        n => `${token.slice(0, 11)}${makeSecret(gateway.ids, 'st_').slice(11 + (n % 2))}`,
      ]
      const forged = (n: number): string => forgeries[n % forgeries.length]?.(Math.floor(n / forgeries.length)) ?? ''
      const origins = ['https://evil.example', 'null', 'http://app.example', 'https://app.example:8443', 'https://app.example.evil.example']
      const wrong: readonly (readonly [(n: number) => Headers, number, string])[] = [
        [n => bearer(forged(n)), 401, 'invalid_api_key'],
        [n => ({ 'x-api-key': forged(n), origin }), 401, 'invalid_api_key'],
        [() => bearer(old.token), 401, 'invalid_api_key'],
        [() => bearer(gone.token), 401, 'invalid_api_key'],
        [n => bearer(good.token, origins[n % origins.length]), 403, 'operation_not_allowed'],
        [() => ({ authorization: `Bearer ${good.token}` }), 403, 'operation_not_allowed'],
      ]
      const tries = inject('isLongRun') ? 100_000 : 400
      for (let n = 0; n < tries; n += 100) {
        const many = Array.from({ length: 100 }, async (_each, more) => {
          const [headers, status, code] = wrong[(n + more) % wrong.length] ?? []
          expect(await outcomeOf(await send('POST /v1/responses', headers?.(n + more) ?? {}, ask))).toEqual([status, code])
        })
        await Promise.all(many)
      }
      expect((await send('POST /v1/responses', bearer(good.token), ask)).status).toBe(200)
      expect((await listed(bearer(good.token)))[0]).toBe(200)
      expect(await gateway.workspaces('app').analytics.count({}, 1e7)).toBe(before + 3)
    }, 900_000)
  })

test('a token works in every dialect, whole and streamed, and in the protocol of the AI SDK, for its models only', async () => {
  const gateway = await createFixture()
  const send = pageOf(gateway)
  const { token } = await gateway.workspaces('app').sessions.create({ user: 'u1', tags: ['page'], models: ['tiny'], origins: [origin] })
  const messages = [{ role: 'user', content: 'hi' }]
  const bodies: readonly (readonly [string, object])[] = [
    ['/v1/responses', { input: 'hi' }],
    ['/v1/chat/completions', { messages }],
    ['/v1/messages', { messages, max_tokens: 50 }],
  ]
  for (const [path, body] of bodies)
    for (const stream of [false, true]) {
      const response = await send(`POST ${path}`, bearer(token), { ...body, model: 'small', stream })
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([path, 200, origin])
      expect(await response.text()).toContain('hi')
      const other = await send(`POST ${path}`, bearer(token), { ...body, model: 'large', stream })
      expect([other.status, (await other.text()).includes('does not allow the model')]).toEqual([400, true])
    }
  const anthropic = { 'x-api-key': token, origin }
  expect((await send('POST /v1/messages', anthropic, { ...bodies[2]?.[1], model: 'small' })).status).toBe(200)
  const sdk = createGatewaySdk({
    apiKey: token,
    baseURL: 'http://gateway.example/v4/ai',
    fetch: (input, init) =>
      send(
        `POST ${new URL(String(input)).pathname}`,
        { ...Object.fromEntries(new globalThis.Headers(init?.headers)), origin },
        JSON.parse(String(init?.body)),
      ),
  })
  const { text } = await generateText({ model: sdk('small'), prompt: 'hi' })
  expect(text).toContain('hi')
  const rows = await gateway.workspaces('app').analytics.requests({ user: 'u1', tag: 'page' })
  expect(rows.filter(({ result }) => result === 'ok').length).toBe(8)
})

test('every list of models has those of the session alone', async () => {
  const gateway = await createFixture()
  const { token } = await gateway.workspaces('app').sessions.create({ user: 'u', models: ['small'], origins: [origin] })
  const send = pageOf(gateway)
  const listed = async (path: string) => (await send(`GET ${path}`, bearer(token))).json()
  expect(await listed('/v1/models')).toMatchObject({ data: [{ id: 'small' }] })
  expect(await listed('/v4/ai/config')).toMatchObject({ models: [{ id: 'small' }] })
})

test('a token gives access to no management route, and to no information about the workspace', async () => {
  const gateway = await createFixture()
  const send = pageOf(gateway)
  const { token } = await gateway.workspaces('app').sessions.create({ user: 'u1' })
  for (const path of [
    '/v1/me',
    '/v1/credits',
    '/v1/workspaces/app/sessions',
    '/v1/workspaces/app/api-keys',
    '/v1/workspaces/app/analytics/summary',
  ])
    expect(await outcomeOf(await send(`GET ${path}`, bearer(token)))).toEqual([403, 'operation_not_allowed'])
  expect(await outcomeOf(await send('POST /v1/workspaces/app/sessions', bearer(token), { user: 'u2' }))).toEqual([
    403,
    'operation_not_allowed',
  ])
  expect((await send('GET /v1/workspaces/other/sessions', bearer(token))).status).toBe(403)
})

describe('a page of another site', () => {
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type', origin }

  test('may send a token and read the reply, refusals too, but not manage or read the reply to an API key', async () => {
    const gateway = await createFixture()
    const send = pageOf(gateway)
    const app = gateway.workspaces('app')
    const { token } = await app.sessions.create({ user: 'u1', origins: [origin] })
    const allowed = await send('OPTIONS /v1/responses', preflight)
    const allowedOf = (response: Response) =>
      ['origin', 'methods', 'headers'].map(name => response.headers.get(`access-control-allow-${name}`))
    expect([allowed.status, ...allowedOf(allowed)]).toEqual([204, origin, 'POST, OPTIONS', 'authorization,content-type'])
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    const managing = await send('OPTIONS /v1/workspaces/app/sessions', preflight)
    expect(allowedOf(managing)).toEqual([null, null, null])
    const refused = await send('POST /v1/responses', bearer(token, 'https://evil.example'), ask)
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, 'https://evil.example'])
    const { secret } = await app.apiKeys.create({ name: 'k' })
    const byKey = await send('POST /v1/responses', bearer(secret), ask)
    expect([byKey.status, byKey.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })
})

test('over HTTP, sessions are created, listed and revoked, and count against the key that created them', async () => {
  const gateway = await createFixture()
  const send = pageOf(gateway)
  const { secret, id } = await gateway.workspaces('app').apiKeys.create({ name: 'server', scopes: '*', budget: { limit: 300 } })
  const path = '/v1/workspaces/app/sessions'
  const body = { user: 'u1', max_spend_usd: 0.5, origins: [origin], expires_in: 60, budgets: [{ limit_usd: 5, period: 'day' }] }
  const made = (await (await send(`POST ${path}`, bearer(secret, ''), body)).json()) as Record<string, unknown> & {
    id: string
    token: string
  }
  expect(made).toMatchObject({ user: 'u1', max_spend_usd: 0.5, models: null, budgets: [{ limit_usd: 5, period: 'day' }] })
  const { token, ...shown } = made
  expect(await (await send(`GET ${path}?user=u1`, bearer(secret, ''))).json()).toMatchObject({ data: [shown], has_more: false })
  expect(await (await send(`GET ${path}?user=u2`, bearer(secret, ''))).json()).toMatchObject({ data: [] })
  const ends = await Promise.all(Array.from({ length: 9 }, () => send('POST /v1/responses', bearer(token), ask)))
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set([200, 402]))
  const lesser = await gateway.workspaces('app').apiKeys.create({ name: 'manager', scopes: ['keys:write'] })
  expect(await outcomeOf(await send(`POST ${path}`, bearer(lesser.secret, ''), { user: 'u1' }))).toEqual([403, 'operation_not_allowed'])
  const other = await gateway.workspaces('app').sessions.create({ user: 'u3' })
  expect((await send(`DELETE ${path}/${other.id}`, bearer(secret, ''))).status).toBe(202)
  expect((await send(`DELETE ${path}/${other.id}`, bearer(secret, ''))).status).toBe(404)
  expect((await send('POST /v1/responses', bearer(other.token), ask)).status).toBe(401)
  await gateway.workspaces('app').apiKeys.revoke(id)
  expect((await send('POST /v1/responses', bearer(token), ask)).status).toBe(401)
  const events = await gateway.workspaces('app').auditEvents.list({ limit: 20 })
  expect(events.filter(({ event }) => event.startsWith('session.')).map(({ event, actorName }) => [event, actorName])).toEqual([
    ['session.revoked', 'server'],
    ['session.created', undefined],
    ['session.created', 'server'],
  ])
  expect(JSON.stringify(events)).not.toContain(token)
})

test('a session survives a replaced key above the key that created it, and is below the keys that are then above it', async () => {
  const gateway = await createFixture()
  const send = pageOf(gateway)
  const create = async (path: string, secret: string, body: object) => {
    const reply = await send(`POST /v1/workspaces/app/${path}`, bearer(secret, ''), body)
    return (await reply.json()) as { readonly id: string; readonly api_key: string; readonly token: string }
  }
  const owner = await gateway.workspaces('app').apiKeys.create({ name: 'owner', scopes: '*' })
  const scopes = ['inference:invoke', 'keys:write']
  const admin = await create('api-keys', owner.secret, { name: 'admin', scopes })
  const server = await create('api-keys', admin.api_key, { name: 'server', scopes })
  const { token } = await create('sessions', server.api_key, { user: 'u1' })
  const status = async (): Promise<number> => (await send('POST /v1/responses', bearer(token), ask)).status
  expect(await status()).toBe(200)
  await gateway.workspaces('app').apiKeys.revoke(admin.id, { keepMade: true })
  expect(await status()).toBe(200)
  await gateway.workspaces('app').budgets.create({ name: 'of the owner', apiKeyId: owner.id, period: 'total', limit: 1 })
  expect(await status()).toBe(402)
  await gateway.workspaces('app').apiKeys.revoke(server.id, { keepMade: true })
  expect(await status()).toBe(401)
})

test('unknown fields and invalid values of a session are refused with the field', async () => {
  const { sessions } = (await createFixture()).workspaces('app')
  const wrong: readonly (readonly [object, string])[] = [
    [{}, '`user` is missing'],
    [{ user: '' }, '`user`'],
    [{ user: 'u', model: ['small'] }, 'Did you mean "models"?'],
    [{ user: 'u', models: ['smal'] }, 'Did you mean'],
    [{ user: 'u', models: [] }, '`models`'],
    [{ user: 'u', maxSpend: 0.5 }, '`maxSpend`'],
    [{ user: 'u', expiresIn: 86_401 }, '`expiresIn`'],
    [{ user: 'u', origins: ['app.example'] }, '`origins[0]`'],
    [{ user: 'u', origins: ['https://app.example/'] }, '`origins[0]`'],
    [{ user: 'u', origins: ['*'] }, '`origins[0]`'],
    [{ user: 'u', tags: ['a,b'] }, '`tags[0]`'],
    [{ user: 'u', budgets: [{ limit: -1 }] }, '`budgets[0].limit`'],
    [{ user: 'u', budgets: [{ limit: 1, periods: 'day' }] }, '`budgets[0].periods`'],
  ]
  for (const [input, message] of wrong) await expect(sessions.create(input as NewSession)).rejects.toThrow(message)
})

test('a workspace has a bounded number of live sessions; revoked and expired ones free their place', async () => {
  const storage = memoryStorage()
  const gateway = await createFixture(storage)
  const { sessions } = gateway.workspaces('app')
  const made = await sessions.create({ user: 'u1' })
  const record = await storage.records.find('session_count', 'app', 'app')
  if (!record) throw new Error('Sessions are not counted.')
  const { ends } = JSON.parse(record.body) as { ends: readonly [number, number][] }
  const full = { ends: [...ends, [Date.now() + 60_000, 99_999]] }
  await storage.records.commit({ puts: [{ ...record, body: JSON.stringify(full) }], removals: [], credits: [], audit: [] })
  await expect(sessions.create({ user: 'u2' })).rejects.toMatchObject({ code: 'state_precondition_failed' })
  await sessions.revoke(made.id)
  await sessions.create({ user: 'u2' })
})

test('concurrently created sessions are committed together; one over the bound fails alone', async () => {
  const storage = memoryStorage()
  const { commit } = storage.records
  let commits = 0
  const gateway = await createFixture({
    ...storage,
    records: {
      ...storage.records,
      commit: async change => {
        commits += 1
        // As long as a database takes.
        await new Promise(resolve => setTimeout(resolve, 5))
        return commit(change)
      },
    },
  })
  const { sessions, auditEvents } = gateway.workspaces('app')
  const first = await sessions.create({ user: 'u0' })
  const record = (await storage.records.find('session_count', 'app', 'app')) ?? expect.fail('Sessions are not counted.')
  const room = 200
  const { ends } = JSON.parse(record.body) as { ends: readonly [number, number][] }
  const almostFull = { ends: [...ends, [Date.now() + 60_000, 100_000 - 1 - room]] }
  await storage.records.commit({ puts: [{ ...record, body: JSON.stringify(almostFull) }] })
  commits = 0
  const made = await Promise.allSettled(Array.from({ length: room + 1 }, (_, n) => sessions.create({ user: `u${n}` })))
  const refused = made.flatMap(each => (each.status === 'rejected' ? [each.reason.code] : []))
  expect(refused).toEqual(['state_precondition_failed'])
  expect(commits).toBeLessThan(10)
  const ids = made.flatMap(each => (each.status === 'fulfilled' ? [each.value.id] : []))
  const events = await auditEvents.list({ limit: 500 })
  const created = events.filter(({ event }) => event === 'session.created').map(({ subjectId }) => subjectId)
  expect(new Set(created)).toEqual(new Set([first.id, ...ids]))
  expect((await auditEvents.verify()).valid).toBe(true)
  const caller = made.flatMap(each => (each.status === 'fulfilled' ? [each.value.token] : [])).at(-1)
  expect((await gateway.authenticate(caller)).workspaceId).toBe('app')
})

test('a WebSocket accepts a token of its own origin only', async () => {
  const gateway = await createFixture()
  const listener = toNodeHandler(gateway)
  const server = createServer(listener).on('upgrade', listener.upgrade)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { WebSocket } = await import('ws')
  const { token, id } = await gateway.workspaces('app').sessions.create({ user: 'u1', origins: [origin] })
  const open = (from: string, protocols: readonly string[] = [], headers: Headers = { authorization: `Bearer ${token}` }) =>
    new Promise<InstanceType<typeof WebSocket> | number>(resolve => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, [...protocols], { headers, origin: from })
      socket.on('open', () => resolve(socket))
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0))
      socket.on('error', () => resolve(0))
    })
  expect(await open('https://evil.example')).toBe(403)
  // A page cannot set headers: it names the token among the protocols.
  for (const socket of [await open(origin), await open(origin, ['signalbox', `signalbox-token.${token}`], {})]) {
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`)
    const lastEvent = () =>
      new Promise<{ type: string; error?: { code: string } }>(resolve => {
        const look = (data: unknown) => {
          const event = JSON.parse(String(data)) as { type: string }
          if (!['response.completed', 'error', 'response.failed'].includes(event.type)) return
          socket.off('message', look)
          resolve(event)
        }
        socket.on('message', look)
      })
    const first = lastEvent()
    socket.send(JSON.stringify({ type: 'response.create', ...ask }))
    expect((await first).type).toBe('response.completed')
    socket.close()
  }
  await gateway.workspaces('app').sessions.revoke(id)
  expect(await open(origin)).toBe(401)
})
