import { type ErrorCode, GatewayError } from '@signalbox/dialects/errors'
import { describe, expect, test } from 'vitest'
import { checkRows } from '../../testing/test/check-rows.ts'
import { type ApiReply, createApi } from '../src/index.ts'
import type { Route } from '../src/route.ts'
import { allRoutes as routes } from '../src/routes.ts'
import { ask, parsed } from './asking.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'

const codeOf = (reply: ApiReply): unknown => parsed(reply).error?.code

/** Management needs a real gateway: its rows are tested in packages/testing/test. */
const isManagement = ({ of, input, needs }: Route): boolean =>
  of !== undefined || input !== undefined || (typeof needs !== 'string' && !needs.includes('inference:invoke'))
const outside = routes.filter(row => !isManagement(row))
const rows = outside.map(row => [`${row.method} ${row.path.replace(/:[a-z_]+\+?/g, 'small')}`, row] as const)
const bearer = { authorization: `Bearer ${goodKey}` }
/** What proxies and other frameworks listen to. None of it may open a door. */
const tricks = {
  host: 'localhost',
  'x-forwarded-host': 'localhost',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-prefix': '/healthz',
  'x-original-url': '/healthz',
  'x-rewrite-url': '/healthz',
  'x-http-method-override': 'OPTIONS',
  'x-middleware-subrequest': 'middleware',
  cookie: `authorization=Bearer ${goodKey}`,
  'proxy-authorization': `Bearer ${goodKey}`,
  'api-key': goodKey,
  'x-goog-api-key': goodKey,
}
const bareKey = { 'x-api-key': goodKey }

describe('guards', () => {
  // One for all rows: its document is made once.
  const api = createApi(fakeGateway().gateway)

  test('every route is open only to the key that it needs', () =>
    checkRows(rows, async (row, call) => {
      const closed = row.needs === 'nothing' ? undefined : 'invalid_api_key'
      for (const query of ['', `key=${goodKey}`, `access_token=${goodKey}`]) {
        const code = codeOf(await ask(api, call, { headers: tricks, query: row.needs === 'nothing' ? '' : query }))
        expect(code).toBe(closed)
      }
      expect(codeOf(await ask(api, call, { headers: bareKey }))).toBe(row.keyHeader === undefined ? closed : undefined)
      expect((await ask(api, call, { headers: bearer })).status).toBe(200)
    }))

  test('every route uses the Authorization header even if another header has a key too', () =>
    checkRows(rows, async (row, call) => {
      const closed = row.needs === 'nothing' ? undefined : 'invalid_api_key'
      for (const authorization of ['Bearer ak_wrong', 'Bearer ', 'Basic eDp5', `Bearer ${goodKey}, Bearer ${goodKey}`]) {
        expect(codeOf(await ask(api, call, { headers: { ...bareKey, authorization } }))).toBe(closed)
      }
      expect(codeOf(await ask(api, call, { headers: { ...bearer, 'x-api-key': 'ak_wrong' } }))).toBeUndefined()
      for (const key of ['ak_wrong', `${goodKey} x`, `${goodKey}, ${goodKey}`, `Bearer ${goodKey}`, 'x'.repeat(513)]) {
        expect(codeOf(await ask(api, call, { headers: { 'x-api-key': key } }))).toBe(closed)
      }
    }))

  test('every route is open only to a key with one of its scopes', async () => {
    const caller = await fakeGateway().gateway.authenticate(goodKey)
    let scopes: readonly string[]
    const scoped = createApi(fakeGateway({ authenticate: async () => ({ ...caller, scopes: new Set(scopes) }) }).gateway)
    await checkRows(rows, async (row, call) => {
      for (scopes of [[], ['inference:*'], ['INFERENCE:INVOKE'], ['*'], ['keys:read']]) {
        const allowed = typeof row.needs === 'string' || row.needs.some(scope => scopes.includes(scope))
        expect(codeOf(await ask(scoped, call, { headers: bearer }))).toBe(allowed ? undefined : 'operation_not_allowed')
      }
    })
  })

  test('every route counts against its class, before any work', async () => {
    let counted: string[]
    const fake = fakeGateway({ countManagement: async (_who, kind) => void counted.push(kind) })
    const counting = createApi(fake.gateway)
    await checkRows(rows, async (row, call) => {
      counted = []
      await ask(counting, call, { headers: bearer })
      expect(counted).toEqual(row.rate === 'reads' || row.rate === 'writes' ? [row.rate] : [])
    })
  })

  test('every route refuses unknown query parameters, except those sent by probes and model SDKs', () =>
    checkRows(rows, async (row, call) => {
      const reply = await ask(api, call, { headers: bearer, query: 'constructor=1' })
      expect(codeOf(reply)).toBe(/^\/v\d\//.test(row.path) && row.rate !== 'inference' ? 'unknown_parameter' : undefined)
    }))

  test('every route responds to HEAD and OPTIONS without a body', () =>
    checkRows(rows, async (row, call) => {
      const path = call.slice(row.method.length + 1)
      const options = await ask(api, `OPTIONS ${path}`)
      expect([options.status, options.body]).toEqual([204, ''])
      expect(options.headers.allow).toContain(row.method)
      const head = await ask(api, `HEAD ${path}`, { headers: bearer })
      expect([head.status, head.body]).toEqual([row.method === 'GET' ? 200 : 405, ''])
    }))

  test('every route always has a request id, also under the header that its clients read', () =>
    checkRows(rows, async (row, call) => {
      for (const headers of [{}, bearer]) {
        const reply = await ask(api, call, { headers })
        expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
        expect(reply.headers['x-content-type-options']).toBe('nosniff')
        expect(reply.headers['request-id']).toBe(row.idHeader === undefined ? undefined : reply.headers['x-request-id'])
      }
    }))

  test('every route returns every error in the format of its dialect', () =>
    checkRows(rows, async (row, call) => {
      const path = call.slice(row.method.length + 1)
      const gone = fakeGateway({ authenticate: () => Promise.reject(new Error('no such thing')) })
      const refused: readonly (readonly [number, ApiReply])[] = [
        [405, await ask(api, `TRACE ${path}`)],
        ...(row.needs === 'nothing'
          ? []
          : ([
              [401, await ask(api, call)],
              [500, await ask(createApi(gone.gateway), call)],
            ] as const)),
        ...(row.body === undefined
          ? []
          : ([
              [413, await ask(api, call, { headers: bearer, huge: true })],
              [400, await ask(api, call, { headers: bearer, body: '{' })],
              [415, await ask(api, call, { headers: { ...bearer, 'content-type': 'text/plain' } })],
            ] as const)),
      ]
      for (const [status, reply] of refused) {
        expect(reply.status).toBe(status)
        const { type, request_id, error } = parsed(reply)
        expect(error).toMatchObject({ message: expect.any(String), type: expect.any(String), code: expect.any(String) })
        expect([type, request_id]).toEqual(row.dialect === 'messages' ? ['error', reply.headers['x-request-id']] : [undefined, undefined])
      }
    }))
})

describe('the Messages dialect', () => {
  test('has its error format also for unknown paths below its own', async () => {
    const api = createApi(fakeGateway().gateway, { basePath: '/api' })
    const typeAt = async (path: string): Promise<unknown> => parsed(await ask(api, `GET ${path}`)).type
    expect(await typeAt('/api/v1/messages/batches')).toBe('error')
    expect(await typeAt('/api/v1/messagesome')).toBeUndefined()
    expect(await typeAt('/api/v1/responses/x')).toBeUndefined()
    expect(await typeAt('/v1/messages')).toBeUndefined()
  })

  test.each(['/v1/messages', '/v1/messages/count_tokens'])('%s accepts `beta`, and reads the headers of its clients', async path => {
    const asked: unknown[] = []
    const fake = fakeGateway({
      countTokens: async request => {
        asked.push(request)
        return { input_tokens: 7, estimated: true }
      },
    })
    const headers = { ...bareKey, 'anthropic-beta': 'a,b' }
    const reply = await ask(createApi(fake.gateway), `POST ${path}`, { headers, query: 'beta=true&api-version=2026-01-01' })
    expect(reply.status).toBe(200)
    expect(asked[0] ?? fake.calls[0]?.request).toMatchObject({ beta: 'a,b' })
  })

  test('a count states whether it is an estimate', async () => {
    const counting = async (estimated: boolean): Promise<unknown> => {
      const fake = fakeGateway({ countTokens: async () => ({ input_tokens: 12, estimated }) })
      const { body, headers } = await ask(createApi(fake.gateway), 'POST /v1/messages/count_tokens', { headers: bareKey })
      return [body, headers['x-token-count']]
    }
    expect(await counting(true)).toEqual(['{"input_tokens":12}', 'estimated'])
    expect(await counting(false)).toEqual(['{"input_tokens":12}', undefined])
  })
})

test('a dialect that the gateway does not support has no rows', async () => {
  const { responses } = fakeGateway().gateway.dialects
  const api = createApi(fakeGateway({ dialects: { responses } }).gateway)
  expect((await ask(api, 'POST /v1/messages', { headers: bareKey })).status).toBe(404)
  expect((await ask(api, 'POST /v1/responses', { headers: bearer })).status).toBe(200)
  expect(parsed(await ask(api, 'GET /v1/models', { headers: bearer })).data[0].supported_endpoints).toEqual(['responses'])
  expect(Object.keys(parsed(await ask(api, 'GET /v1/openapi.json')).paths)).not.toContain('/v1/messages')
})

describe('an error that no retry can fix', () => {
  const told = async (code: ErrorCode, retryAfterMs?: number): Promise<Readonly<Record<string, string>>> => {
    const fake = fakeGateway()
    fake.act = () => ({
      response: Promise.reject(new GatewayError(code, { message: 'No.', ...(retryAfterMs !== undefined && { retryAfterMs }) })),
    })
    return (await ask(createApi(fake.gateway), 'POST /v1/messages', { headers: bearer })).headers
  }

  test.each<ErrorCode>(['insufficient_credits', 'budget_exceeded', 'provider_error', 'routing_failed'])(
    '%s says not to retry',
    async code => {
      expect((await told(code))['x-should-retry']).toBe('false')
    },
  )

  test('a very long wait says not to retry', async () => {
    const short = await told('rate_limit_exceeded', 2_400)
    expect([short['retry-after'], short['retry-after-ms'], short['x-should-retry']]).toEqual(['3', '2400', undefined])
    const long = await told('rate_limit_exceeded', 61_000)
    expect([long['retry-after'], long['x-should-retry']]).toEqual(['61', 'false'])
  })
})

describe('models', () => {
  const get = async (path: string, query = ''): Promise<ReturnType<typeof JSON.parse>> => {
    const { body } = await ask(createApi(fakeGateway().gateway), `GET ${path}`, { headers: bearer, query })
    return JSON.parse(typeof body === 'string' ? body : '')
  }

  test('the list matches the SDKs of both vendors', async () => {
    expect(await get('/v1/models')).toMatchObject({
      object: 'list',
      count: 2,
      has_more: false,
      first_id: 'meta/llama',
      last_id: 'small',
      data: [
        { id: 'meta/llama' },
        {
          id: 'small',
          object: 'model',
          type: 'model',
          created: 1_700_000_000,
          created_at: '2023-11-14T22:13:20.000Z',
          owned_by: 'signalbox',
          context_window: 8192,
          supported_endpoints: ['responses', 'chat_completions', 'messages'],
          providers: [{ name: 'p', input_price: 0.05, output_price: 0.1 }],
        },
      ],
    })
  })

  test('an alias resolves to its model, and a wrong name suggests the nearest', async () => {
    expect((await get('/v1/models/s')).id).toBe('small')
    expect((await get('/v1/models/meta%2Fllama')).id).toBe('meta/llama')
    expect((await get('/v1/models/smal')).error).toMatchObject({
      code: 'model_not_found',
      message: 'Model "smal" does not exist. Did you mean "small"?',
    })
  })

  test('the filter accepts endpoints only', async () => {
    expect((await get('/v1/models', 'endpoint=responses')).count).toBe(2)
    expect((await get('/v1/models', 'endpoint=messages')).count).toBe(2)
    expect((await get('/v1/models', 'endpoint=batch')).error).toMatchObject({ code: 'invalid_parameter_value', param: 'endpoint' })
  })
})

test('readiness lists what is missing', async () => {
  const reply = await ask(
    createApi(fakeGateway({ health: async () => ({ problems: ['The storage cannot be used.'], notices: [] }) }).gateway),
    'GET /readyz',
  )
  expect([reply.status, reply.body]).toEqual([503, '{"status":"not_ready","problems":["The storage cannot be used."]}'])
})

test('readiness reports old prices, and stays ready', async () => {
  const { gateway } = fakeGateway()
  const dated = (days: readonly (string | undefined)[]) =>
    days.map((asOf, at) => ({
      id: `m${at}`,
      offers: [{ provider: 'p', model: 'x', api: 'chat', ...(asOf !== undefined && { asOf }) }],
    }))
  const readyOn = async (now: string, days: readonly (string | undefined)[]) => {
    const clock = { ...gateway.clock, now: () => Date.parse(now) }
    const models = { ...gateway.models, list: () => dated(days) }
    const { status, body } = await ask(createApi({ ...gateway, clock, models }), 'GET /readyz')
    return [status, body]
  }
  const ok = [200, '{"status":"ok"}']
  const old = '{"status":"ok","notices":["Half of the prices date from 2026-09-30 or earlier and may be outdated. Update the catalog."]}'
  expect(await readyOn('2026-10-30T00:00:00Z', ['2026-09-30', '2026-09-30'])).toEqual(ok)
  expect(await readyOn('2026-10-30T00:00:01Z', ['2026-09-30', '2026-09-30', undefined])).toEqual([200, old])
  expect(await readyOn('2026-11-30T00:00:00Z', ['2026-09-30', '2026-11-20', '2026-11-21'])).toEqual(ok)
  expect(await readyOn('2036-11-30T00:00:00Z', [undefined])).toEqual(ok)
})

test.each([
  ['GET /v1/responses', 'websocket', 426],
  ['GET /v1/responses', 'foo, WebSocket', 426],
  ['GET /v1/responses', 'h2c', 405],
  ['GET /v1/responses', 'websocketx', 405],
  ['GET /v1/chat/completions', 'websocket', 405],
  ['DELETE /v1/responses', 'websocket', 405],
  ['POST /v1/responses', 'websocket', 200],
])('%s with Upgrade: %s is %d', async (call, upgrade, status) => {
  const reply = await ask(createApi(fakeGateway().gateway), call, { headers: { ...bearer, upgrade } })
  expect(reply.status).toBe(status)
  expect(reply.headers.upgrade).toBe(status === 426 ? 'HTTP/1.1' : undefined)
})

test('no header value can end a header line, whatever it contains', async () => {
  const fake = fakeGateway()
  const { dialects } = fake.gateway
  const stamped = createApi({
    ...fake.gateway,
    dialects,
    infer: (...call) => {
      const reply = fake.gateway.infer(...call)
      return {
        ...reply,
        metadata: () => ({
          ...reply.metadata(),
          warnings: [
            { code: 'a\r\nset-cookie: x=1', message: 'm' },
            { code: 'ü\u2028😀', message: 'm' },
          ],
        }),
      }
    },
  })
  const { headers } = await ask(stamped, 'POST /v1/responses', { headers: bearer })
  expect(headers['x-warnings']).toBe('aset-cookie: x=1, ü')
})
