import { describe, expect, test } from 'vitest'
import { type Api, type ApiReply, type ApiRequest, createApi } from '../src/index.ts'
import { routes } from '../src/routes.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: string
}

/** `call`: method and path, as in `GET /v1/me`. */
const ask = (api: Api, call: string, { headers = {}, query = '', body = '{}' }: Asked = {}): Promise<ApiReply> => {
  const [method = '', path = ''] = call.split(' ')
  const request: ApiRequest = {
    method,
    path,
    query,
    header: name => headers[name],
    text: async () => ({ ok: true, text: body }),
    signal: new AbortController().signal,
  }
  return api(request)
}
const codeOf = ({ body }: ApiReply): unknown => (typeof body === 'string' && body !== '' ? JSON.parse(body).error?.code : undefined)

const rows = routes.map(row => [`${row.method} ${row.path.replace(/:[a-z_]+\+?/g, 'small')}`, row] as const)
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
  'x-api-key': goodKey,
}

describe.each(rows)('%s', (call, row) => {
  const { method } = row
  const path = call.slice(method.length + 1)

  test('opens only to the key that it needs', async () => {
    const api = createApi(fakeGateway().gateway)
    const without = await ask(api, call, { headers: tricks })
    expect(codeOf(without)).toBe(row.needs === 'nothing' ? undefined : 'invalid_api_key')
    expect((await ask(api, call, { headers: bearer })).status).toBe(200)
  })

  test('opens only to a key with one of its scopes', async () => {
    const caller = await fakeGateway().gateway.authenticate(goodKey)
    for (const scopes of [[], ['inference:*'], ['INFERENCE:INVOKE'], ['*'], ['keys:read']]) {
      const api = createApi(fakeGateway({ authenticate: async () => ({ ...caller, scopes: new Set(scopes) }) }).gateway)
      const allowed = typeof row.needs === 'string' || row.needs.some(scope => scopes.includes(scope))
      expect(codeOf(await ask(api, call, { headers: bearer }))).toBe(allowed ? undefined : 'operation_not_allowed')
    }
  })

  test('counts against its class, before any work', async () => {
    const counted: string[] = []
    const fake = fakeGateway({
      countManagement: async (_who, kind) => {
        counted.push(kind)
      },
    })
    await ask(createApi(fake.gateway), call, { headers: bearer })
    expect(counted).toEqual(row.rate === 'reads' || row.rate === 'writes' ? [row.rate] : [])
  })

  test('refuses query parameters that it does not know, where it knows its own', async () => {
    const reply = await ask(createApi(fakeGateway().gateway), call, { headers: bearer, query: 'constructor=1' })
    expect(codeOf(reply)).toBe(row.query === undefined ? undefined : 'unknown_parameter')
  })

  test('answers HEAD and OPTIONS without a body', async () => {
    const api = createApi(fakeGateway().gateway)
    const options = await ask(api, `OPTIONS ${path}`)
    expect([options.status, options.body]).toEqual([204, ''])
    expect(options.headers.allow).toContain(method)
    const head = await ask(api, `HEAD ${path}`, { headers: bearer })
    expect([head.status, head.body]).toEqual([method === 'GET' ? 200 : 405, ''])
  })

  test('always has a request id', async () => {
    for (const headers of [{}, bearer])
      expect((await ask(createApi(fakeGateway().gateway), call, { headers })).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('models', () => {
  const get = async (path: string, query = ''): Promise<ReturnType<typeof JSON.parse>> => {
    const { body } = await ask(createApi(fakeGateway().gateway), `GET ${path}`, { headers: bearer, query })
    return JSON.parse(typeof body === 'string' ? body : '')
  }

  test('the list fits the SDKs of both vendors', async () => {
    expect(await get('/v1/models')).toMatchObject({
      object: 'list',
      count: 2,
      has_more: false,
      first_id: 'small',
      last_id: 'meta/llama',
      data: [
        {
          id: 'small',
          object: 'model',
          type: 'model',
          created: 1_700_000_000,
          created_at: '2023-11-14T22:13:20.000Z',
          owned_by: 'signalbox',
          context_window: 8192,
          supported_endpoints: ['responses'],
          providers: [{ name: 'p', input_price: 0.05, output_price: 0.1 }],
        },
        { id: 'meta/llama' },
      ],
    })
  })

  test('an alias leads to its model, and a wrong name to the nearest', async () => {
    expect((await get('/v1/models/s')).id).toBe('small')
    expect((await get('/v1/models/meta%2Fllama')).id).toBe('meta/llama')
    expect((await get('/v1/models/smal')).error).toMatchObject({
      code: 'model_not_found',
      message: 'Model "smal" does not exist. Did you mean "small"?',
    })
  })

  test('the filter takes endpoints, and only those', async () => {
    expect((await get('/v1/models', 'endpoint=responses')).count).toBe(2)
    expect((await get('/v1/models', 'endpoint=messages')).count).toBe(0)
    expect((await get('/v1/models', 'endpoint=batch')).error).toMatchObject({ code: 'invalid_parameter_value', param: 'endpoint' })
  })
})

test('readiness tells what is missing', async () => {
  const reply = await ask(createApi(fakeGateway({ problems: async () => ['The storage cannot be used.'] }).gateway), 'GET /readyz')
  expect([reply.status, reply.body]).toEqual([503, '{"status":"not_ready","problems":["The storage cannot be used."]}'])
})

test('no header value can end a header, whatever it is made of', async () => {
  const fake = fakeGateway()
  const { dialects } = fake.gateway
  const stamped = createApi({
    ...fake.gateway,
    dialects,
    infer: (...call) => {
      const reply = fake.gateway.infer(...call)
      return {
        ...reply,
        stamp: () => ({
          ...reply.stamp(),
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
