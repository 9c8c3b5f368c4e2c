import { createApi } from '@signalbox/api'
import { type Route, allRoutes as routes } from '@signalbox/api/routes'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { usd } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import fc from 'fast-check'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { testModels } from '../../src/gateway.ts'
import { type Answer, ask } from '../matrix/asking.ts'
import { rawExchange } from '../raw-client.ts'
import { scene } from './scene.ts'

const pathOf = ({ path }: Route): string => path.replace(':workspace_id', 'w').replace(/:[a-z_]+\+?/g, 'x')
const open = routes.filter(({ needs }) => needs === 'nothing')

/** Tricks to make a path be parsed in two ways. */
const turns: Readonly<Record<string, (path: string, at: number) => string>> = {
  'a doubled slash': (path, at) => splice(path, at, '/'),
  'a dot': (path, at) => splice(path, at, '/.'),
  'two dots': (path, at) => splice(path, at, '/..'),
  'a way through an open path': path => `/healthz/..${path}`,
  'a way out of an open path': path => `/v1/openapi.json/../..${path}`,
  'an open path behind it': path => `${path}/../../healthz`,
  'an open ending': path => `${path}.json`,
  'an escaped slash': (path, at) => splice(path, at, '%2f'),
  'an escaped letter': (path, at) => escaped(path, at),
  'an escaped escape': (path, at) => escaped(path, at).replace('%', '%25'),
  'an overlong escape': (path, at) => splice(path, at, '%c0%af'),
  'a backslash': (path, at) => splice(path, at, '\\'),
  'a parameter': (path, at) => splice(path, at, ';x=1'),
  'another case': path => path.toUpperCase(),
  'a letter of another case': (path, at) => path.slice(0, at) + path.slice(at, at + 1).toUpperCase() + path.slice(at + 1),
  'a slash at the end': path => `${path}/`,
  'a space': (path, at) => splice(path, at, '%20'),
  'a NUL': (path, at) => splice(path, at, '%00'),
  'a line break': (path, at) => splice(path, at, '%0d%0a'),
  'a fragment': path => `${path}#/healthz`,
  'an escaped question': path => `${path}%3fx=1`,
  'the prefix twice': path => `/v1${path}`,
  'the other prefix': path => path.replace('/v1/', '/v1beta/'),
  'no prefix': path => path.replace('/v1/', '/'),
  'a segment less': path => path.slice(0, path.lastIndexOf('/')),
  'a segment more': (path, at) => splice(path, at, '/x'),
  nothing: path => path,
}

const splice = (path: string, at: number, text: string): string => path.slice(0, at) + text + path.slice(at)
const escaped = (path: string, at: number): string =>
  `${path.slice(0, at)}%${path.charCodeAt(Math.min(at, path.length - 1)).toString(16)}${path.slice(at + 1)}`

const row = fc.oneof(fc.constantFrom(...open), fc.constantFrom(...routes))
const target = fc
  .tuple(row, fc.array(fc.tuple(fc.constantFrom(...Object.keys(turns)), fc.nat(60)), { minLength: 0, maxLength: 3 }))
  .map(([each, steps]) => steps.reduce((path, [turn, at]) => turns[turn]?.(path, Math.min(at, path.length)) ?? path, pathOf(each)))
const strange = ['PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'PROPFIND', '__proto__', 'constructor']
const method = fc.oneof(fc.constant('GET'), fc.constantFrom('HEAD', 'POST', 'PATCH', 'DELETE'), fc.constantFrom(...strange))

/** Exactly a public row, spelled as in the table: the only paths open to all. */
const isOpen = (verb: string, path: string): boolean =>
  open.some(({ method: own, path: row }) => {
    const pattern = new RegExp(`^${row.replace(/[.]/g, '\\.').replace(/:[a-z_]+/g, '[^/]+')}$`)
    return (own === verb || (verb === 'HEAD' && own === 'GET')) && pattern.test(path)
  })

/** Responses allowed without a key. */
const allowed = (verb: string, path: string): readonly number[] => {
  if (isOpen(verb, path)) return [200, 400, 404]
  return verb === 'OPTIONS' ? [204, 400, 404] : [400, 401, 404, 405]
}

describe('without a key', () => {
  test.each(Object.entries(turns))('%s in a path gives access to nothing else, at any position', async (_, turn) => {
    const { api } = await scene()
    for (const [number, each] of routes.entries()) {
      const plain = pathOf(each)
      // The default run turns a third of the guarded paths.
      if (!inject('isLongRun') && each.needs !== 'nothing' && number % 3 !== 0) continue
      for (let at = 0; at <= plain.length; at += each.needs === 'nothing' ? 1 : 5) {
        const path = turn(plain, at)
        const { status } = await ask({ api, secret: undefined }, `${each.method} ${path}`)
        expect([each.method, path, allowed(each.method, path)]).toEqual([each.method, path, expect.arrayContaining([status])])
      }
    }
  })

  test('no spelling of any path gives access to anything but public rows', async () => {
    const { api, gateway } = await scene()
    const before = (await gateway.workspaces('w').auditEvents.list({ limit: 100 })).length
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(method, target, async (verb, path) => {
        const { status, text } = await ask({ api, secret: undefined }, `${verb} ${path.replaceAll(' ', '%20')}`)
        seen.add(status)
        expect([verb, path, allowed(verb, path)]).toEqual([verb, path, expect.arrayContaining([status])])
        if (!isOpen(verb, path)) expect(text).not.toContain('"data"')
      }),
      { numRuns: inject('isLongRun') ? 4_000 : 400 },
    )
    expect([...seen].sort()).toEqual([200, 204, 400, 401, 404, 405])
    expect((await gateway.workspaces('w').auditEvents.list({ limit: 100 })).length).toBe(before)
  })

  test('nor over a socket, whatever host or scheme the request line has', async () => {
    const { gateway } = await scene()
    const { port, close } = await serve(gateway, { port: 0 })
    onTestFinished(() => close())
    const hosts = fc.constantFrom('', 'http://localhost', 'http://127.0.0.1:1', 'https://user@internal', 'HTTP://x')
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'TRACE', 'PATCH'), hosts, target, async (verb, host, turned) => {
        // The part before the first slash is the host, not the path.
        const path = turned.startsWith('/') ? turned : `/${turned}`
        const headers = 'host: localhost\r\nx-original-url: /healthz\r\nx-forwarded-for: 127.0.0.1\r\nconnection: close\r\n'
        const answer = await rawExchange(port, `${verb} ${host}${path} HTTP/1.1\r\n${headers}content-length: 2\r\n\r\n{}`, {
          timeoutMs: 20_000,
        })
        expect([verb, path, allowed(verb, path)]).toEqual([verb, path, expect.arrayContaining([answer.status])])
      }),
      { numRuns: inject('isLongRun') ? 300 : 60 },
    )
  })

  test('nor in a URL, whose dots are resolved before routing', async () => {
    const { gateway } = await scene()
    const handler = toFetchHandler(gateway)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'PATCH', 'PUT'), target, async (verb, path) => {
        const url = `http://localhost${path}`
        if (!URL.canParse(url)) return
        const { status } = await handler(
          new Request(url, { method: verb, headers: { 'content-type': 'application/json' }, ...(verb === 'POST' && { body: '{}' }) }),
        )
        expect([verb, path, allowed(verb, new URL(url).pathname)]).toEqual([verb, path, expect.arrayContaining([status])])
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 100 },
    )
  })

  test('a doubled prefix is explained in the error', async () => {
    const { api } = await scene()
    for (const row of routes.filter(({ path }) => path.startsWith('/v1/'))) {
      const { status, text } = await ask({ api, secret: undefined }, `${row.method} /v1${pathOf(row)}`)
      expect([status, text]).toEqual([400, expect.stringContaining('/v1/v1/')])
    }
  })
})

describe('public rows', () => {
  test('are exactly these', () => {
    expect(open.map(({ method: verb, path }) => `${verb} ${path}`).sort()).toEqual([
      'GET /',
      'GET /healthz',
      'GET /readyz',
      'GET /v1/byok/providers',
      'GET /v1/byok/providers/:provider/tiers',
      'GET /v1/directory/models',
      'GET /v1/openapi.json',
      'GET /v1/registry/models',
      'GET /v1/registry/providers',
      'POST /v1/invites/accept',
    ])
  })

  const models = testModels([{ id: 'p', dialect: 'responses' }])
  const asked = ({ path }: Route): readonly string[] =>
    path === '/v1/byok/providers/:provider/tiers' ? ['/v1/byok/providers/openai/tiers', '/v1/byok/providers/none/tiers'] : [path]
  const seen = ({ status, headers: { 'x-request-id': id = '', ...headers }, text }: Answer): unknown => [
    status,
    headers,
    text.replaceAll(id, '<id>'),
  ]

  test('return the same bytes, whatever workspaces exist', async () => {
    const [empty, full] = [await scene({ models }), await scene({ models, sealingKey: new Uint8Array(32).fill(1) })]
    const home = full.gateway.workspaces('w')
    const { secret } = await home.apiKeys.create({ name: 'canary', scopes: '*' })
    await home.billing.credit({ reference: 'canary', amount: 1_000 })
    await home.settings.update({ name: 'canary', allowedModels: ['test-model'], dataPolicyRequired: 'zdr' })
    await home.routingDefaults.update({ strategy: 'cost' })
    await home.budgets.create({ name: 'canary', limit: usd(5) })
    await home.invites.create({ email: 'canary@example.com', role: 'developer' })
    const credentials: Record<string, string>[] = [{}, { authorization: `Bearer ${secret}` }, { 'x-api-key': secret, cookie: 'a=b' }]
    for (const row of open) {
      for (const path of asked(row)) {
        for (const headers of credentials) {
          const body = { token: 'inv_nobody-has-this-one', name: 'canary' }
          const call = `${row.method} ${path}`
          const [here, there] = [
            await ask({ ...empty, secret: undefined }, call, { body }),
            await ask({ ...full, secret: undefined }, call, { headers, body }),
          ]
          expect([call, seen(there)]).toEqual([call, seen(here)])
          expect(there.text.replace('"name":"canary"', '')).not.toContain('canary')
        }
      }
    }
  })

  test('have Cache-Control, and private responses forbid caching', async () => {
    const { api, gateway } = await scene({ models })
    const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'reader', scopes: '*' })
    for (const row of routes.filter(({ method }) => method === 'GET')) {
      const { headers, status } = await ask({ api, secret }, `GET ${pathOf(row).replace('/models/x', '/models/test-model')}`)
      const kept = headers['cache-control']
      if (row.of === 'workspace') expect([row.path, kept, headers.etag]).toEqual([row.path, 'no-store', undefined])
      else if (row.needs !== 'nothing')
        expect([row.path, [undefined, 'private, no-cache']]).toEqual([row.path, expect.arrayContaining([kept])])
      else if (row.cache && status === 200) expect([row.path, kept]).toEqual([row.path, 'public, max-age=60'])
    }
    const made = await ask({ api, secret }, 'POST /v1/workspaces/w/api-keys', { body: { name: 'new' } })
    expect([made.status, made.headers['cache-control']]).toEqual([202, 'no-store'])
  })

  test('vary by origin if some are configured, and not if all are allowed', async () => {
    const { gateway } = await scene({ models })
    const seenBy = async (origins: '*' | readonly string[], origin?: string) => {
      const headers: Record<string, string> = origin === undefined ? {} : { origin }
      const answer = await ask({ api: createApi(gateway, { cors: { origins } }), secret: undefined }, 'GET /v1/registry/models', {
        headers,
      })
      return [answer.headers['access-control-allow-origin'], answer.headers.vary]
    }
    const [ours, evil] = ['https://app.example', 'https://evil.example']
    expect(await seenBy([ours], ours)).toEqual([ours, 'origin'])
    for (const other of [undefined, evil, 'null', `${ours}.evil.example`, ours.toUpperCase()])
      expect(await seenBy([ours], other)).toEqual([undefined, 'origin'])
    for (const any of [undefined, evil]) expect(await seenBy('*', any)).toEqual(['*', undefined])
  })

  test('report that the store is down, without its location', async () => {
    const { storage } = await scene()
    const logged: unknown[] = []
    const ping = async () => {
      throw new Error('connect ECONNREFUSED postgres://admin:canary@10.0.0.7:5432/prod')
    }
    const log = (facts: unknown) => void logged.push(facts)
    const { api } = await scene({ storage: { ...storage, ping }, logger: { info: log, warn: log, error: log } })
    const { status, json, text } = await ask({ api, secret: undefined }, 'GET /readyz')
    expect([status, json.status, text]).toEqual([503, 'not_ready', expect.not.stringMatching(/canary|10\.0\.0\.7|ECONN/)])
    expect(JSON.stringify(logged)).toContain('ECONNREFUSED')
  })
})
