import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EndUserOf } from '@signalbox/core/access'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import { type NodeOptions, toNodeHandler } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openWebSocket } from '../../../node-http/test/web-socket-client.ts'
import { waitUntil } from '../waits.ts'

// The sign-in of the app, and connections that outlive what opened them.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }

async function createFixture(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'small', offers: [offer] }],
    storage: memoryStorage(),
    logger: quiet,
    ...options,
  })
  onTestFinished(() => gateway.close())
  for (const id of ['app', 'other']) await gateway.workspaces.create({ id, name: id, billing: 'postpaid' })
  return gateway
}

async function listen(gateway: Gateway, options: NodeOptions = {}): Promise<string> {
  const listener = toNodeHandler(gateway, options)
  const server = createServer(listener).on('upgrade', listener.upgrade)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    listener.closeWebSockets({ cut: true })
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

describe('an open WebSocket', () => {
  type Open = Awaited<ReturnType<typeof openWebSocket>>
  const endOf = async ({ ask: send }: Open, fields: object = {}) => {
    const last = (await send({ ...ask, ...fields })).at(-1)
    return last?.error?.code ?? last?.response?.status
  }

  test('serves no message after its session, its key or the key above is revoked or expired, and is closed', async () => {
    let skipped = 0
    const gateway = await createFixture()
    gateway.clock.now = () => Date.now() + skipped
    const { sessions, apiKeys } = gateway.workspaces('app')
    const url = await listen(gateway)
    const session = await sessions.create({ user: 'u' })
    const key = await apiKeys.create({ name: 'k' })
    const parent = await apiKeys.create({ name: 'parent', scopes: '*' })
    const { keyId: id, keyName: name, scopes } = await gateway.authenticate(parent.secret)
    const below = await gateway.workspaces('app', { key: { id, name, scopes } }).sessions.create({ user: 'u' })
    const short = await sessions.create({ user: 'u', expiresIn: 60 })
    const ends: readonly (readonly [string, () => unknown])[] = [
      [session.token, () => sessions.revoke(session.id)],
      [key.secret, () => apiKeys.revoke(key.id)],
      [below.token, () => apiKeys.revoke(parent.id)],
      [short.token, () => (skipped = 61_000)],
    ]
    for (const [secret, end] of ends) {
      const open = await openWebSocket(url, bearer(secret))
      expect(await endOf(open)).toBe('completed')
      await end()
      expect(await endOf(open)).toBe('invalid_api_key')
      expect((await open.untilClosed()).code).toBe(1008)
    }
  })

  test('applies the current limits and budgets of its key to each message', async () => {
    const gateway = await createFixture()
    const { apiKeys, budgets } = gateway.workspaces('app')
    const url = await listen(gateway)
    const limited = await apiKeys.create({ name: 'k' })
    const open = await openWebSocket(url, bearer(limited.secret))
    expect(await endOf(open)).toBe('completed')
    await apiKeys.update(limited.id, { rateLimitRpm: 1 })
    expect(await endOf(open)).toBe('requests_per_min_exceeded')
    await apiKeys.update(limited.id, { rateLimitRpm: null })
    expect(await endOf(open)).toBe('completed')
    await budgets.create({ name: 'all', limit: 1, period: 'total' })
    expect(await endOf(open)).toBe('budget_exceeded')
  })

  test('calls the sign-in for each message, and serves none of a user that is signed out, refused, or different', async () => {
    const gateway = await createFixture()
    const signedOut: readonly (EndUserOf | Response | undefined)[] = [
      undefined,
      Response.redirect('https://app.example/sign-in'),
      new Response('<p>Sign in</p>'),
      { workspace: 'app', user: 'ben' },
      { workspace: 'other', user: 'ann' },
    ]
    let user: EndUserOf | Response | undefined
    const cookies: unknown[] = []
    const url = await listen(gateway, {
      authenticate: ({ headers }) => {
        cookies.push(headers.cookie)
        return user
      },
    })
    for (const next of signedOut) {
      user = { workspace: 'app', user: 'ann' }
      const open = await openWebSocket(url, { cookie: 'session=1' })
      const first = (await open.ask(ask)).at(-1)?.response
      expect(first?.status).toBe('completed')
      user = next
      expect(await endOf(open, { previous_response_id: first?.id })).toBe('invalid_api_key')
      expect((await open.untilClosed()).code).toBe(1008)
    }
    expect(new Set(cookies)).toEqual(new Set(['session=1']))
    expect(cookies).toHaveLength(3 * signedOut.length)
    user = { workspace: 'app', user: 'ann' }
    const open = await openWebSocket(url, {})
    expect(await endOf(open)).toBe('completed')
    user = { ...user, budgets: [{ limit: 0 }] }
    expect(await endOf(open)).toBe('budget_exceeded')
    expect(await gateway.workspaces('other').analytics.count({}, 10)).toBe(0)
  })
})

describe('a sign-in', () => {
  const send = (handler: (request: Request) => Promise<Response>, init: RequestInit = {}) =>
    handler(new Request('http://app.example/v1/me', init))
  const codeOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    return [response.status, error.code, error.message]
  }

  test('that never resolves ends in a 503 that names it, for requests, upgrades and messages, and a late result does nothing', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown): unknown => rejections.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const gateway = await createFixture()
    let fail: (error: Error) => void = () => {}
    const silent = () => new Promise<undefined>((_, reject) => (fail = reject))
    const handler = toFetchHandler(gateway, { authenticate: silent, authenticateMs: 20 })
    const [status, code, message] = await codeOf(await send(handler))
    expect([status, code]).toEqual([503, 'service_unavailable'])
    expect(message).toContain('`authenticate`')
    fail(new Error('too late'))
    // A body that never ends is the sign-in's, too.
    const endless = () => new Response(new ReadableStream({ start: controller => controller.enqueue(new Uint8Array(9)) }))
    expect((await send(toFetchHandler(gateway, { authenticate: endless, authenticateMs: 20 }))).status).toBe(503)

    let isSilent = false
    const authenticate = () => (isSilent ? silent() : { workspace: 'app', user: 'u' })
    const url = await listen(gateway, { authenticate, authenticateMs: 20 })
    const { ask: create } = await openWebSocket(url, {})
    isSilent = true
    expect((await create(ask)).at(-1)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } })
    isSilent = false
    expect((await create(ask)).at(-1)?.response?.status).toBe('completed')
    isSilent = true
    expect((await fetch(`${url}/v1/responses`, { headers: {} })).status).toBe(405)
    expect((await fetch(`${url}/v1/me`)).status).toBe(503)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(rejections).toEqual([])
  })

  test('is not awaited after the client has disconnected, and leaves no timer', async () => {
    const gateway = await createFixture()
    const codes: unknown[] = []
    const { clock } = gateway
    const timers = new Set<unknown>()
    const { setTimeout: start, clearTimeout: stop } = clock
    clock.setTimeout = (run, ms) => {
      const timer = start.call(clock, run, ms)
      if (ms === 4_711) timers.add(timer)
      return timer
    }
    clock.clearTimeout = timer => {
      timers.delete(timer)
      stop.call(clock, timer)
    }
    const asked = vi.fn(() => new Promise<undefined>(() => {}))
    const url = await listen(gateway, { authenticate: asked, authenticateMs: 4_711, onRequest: ({ code }) => void codes.push(code) })
    const leaving = new AbortController()
    const left = fetch(`${url}/v1/me`, { signal: leaving.signal }).catch(() => 'left')
    await waitUntil(() => asked.mock.calls.length === 1)
    expect(timers.size).toBe(1)
    leaving.abort()
    expect(await left).toBe('left')
    await waitUntil(() => codes.length === 1)
    expect([codes, timers.size]).toEqual([['client_disconnected'], 0])
  })

  test('that throws, rejects or returns an invalid value is a 500 without details, whatever the name of its user', async () => {
    const gateway = await createFixture()
    const wrong: readonly (() => unknown)[] = [
      () => {
        throw new Error('secret detail')
      },
      () => Promise.reject(new Error('secret detail')),
      () => Promise.reject(undefined),
      () => 'secret detail',
      () => ({ status: 'active', workspace: 'app', user: 'u' }),
      () => ({ status: 200, headers: {}, body: 'secret detail', reply: true }),
      () => ({ keyId: 'secret detail', workspaceId: 'app', scopes: new Set(['*']) }),
      () => Response.error(),
    ]
    for (const authenticate of wrong) {
      const handler = toFetchHandler(gateway, { authenticate: authenticate as () => undefined })
      const [status, , message] = await codeOf(await send(handler, bearer('ak_wrong_0123456789') as RequestInit))
      expect([authenticate.toString(), status]).toEqual([authenticate.toString(), 500])
      expect(message).not.toContain('secret detail')
    }
  })

  test('can set several cookies, in a fetch handler, on Node, and when an upgrade is refused', async () => {
    const gateway = await createFixture()
    const cookies = ['a=1; Path=/; HttpOnly', 'b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT', 'c=3']
    const authenticate = () => {
      const headers = new Headers({ location: '/sign-in', etag: '"1"', 'content-encoding': 'gzip', 'content-length': '3' })
      for (const cookie of cookies) headers.append('set-cookie', cookie)
      return new Response('Sign in.', { status: 302, headers })
    }
    const url = await listen(gateway, { authenticate })
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    const handler = toFetchHandler(gateway, { authenticate })
    const replies = [
      await handler(new Request('http://app.example/v1/models')),
      await fetch(`${url}/v1/models`, { redirect: 'manual' }),
      await fetch(`${url}/v1/responses`, { method: 'POST', redirect: 'manual', body: 'x'.repeat(99) }),
    ]
    for (const reply of replies) {
      expect([reply.status, reply.headers.getSetCookie(), await reply.text()]).toEqual([302, cookies, 'Sign in.'])
      // The caching headers of the route apply to its own responses.
      expect(reply.headers.get('cache-control')).toBeNull()
    }
    expect((await fetch(`${url}/v1/models`, { method: 'HEAD', redirect: 'manual' })).headers.getSetCookie()).toEqual(cookies)
    const { request } = await import('node:http')
    const refused = await new Promise<string[] | undefined>(resolve => {
      request(`${url}/v1/responses`, { headers: upgrade })
        .on('response', ({ headers }) => resolve(headers['set-cookie']))
        .end()
    })
    expect(refused).toEqual(cookies)
  })
})
