import { clientDialects } from '@signalbox/dialects'
import type { Model } from '@signalbox/dialects/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { catalogRoutes } from '../src/catalog/routes.ts'
import { type Api, type ApiReply, createApi } from '../src/index.ts'
import { makeDocument } from '../src/openapi/document.ts'
import { allRoutes as routes } from '../src/routes.ts'
import { ask, parsed } from './asking.ts'
import { directory } from './catalog.ts'
import { bare, byok, callable, inDirectory, list, nowhere, sellers, small, thinker, tiersOf } from './catalog-answers.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'

const headers = { authorization: `Bearer ${goodKey}` }
const apiOf = (models = directory()): Api => createApi(fakeGateway({ models, dialects: clientDialects }).gateway)
const get = (path: string, query = '', api = apiOf()): Promise<ApiReply> => ask(api, `GET ${path}`, { headers, query })

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
const document = closed(JSON.parse(JSON.stringify(await makeDocument(routes, { ownedBy: 'signalbox' })))) as {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Readonly<Record<string, { readonly $ref?: string }>> } }>>
}
ajv.addSchema({ $id: 'document', ...document })

/** The document allows future fields; what is sent now must be in it. */
function closed(schema: object): object {
  const inner = Object.entries(schema).map(([key, value]) => [key, typeof value === 'object' && value !== null ? closed(value) : value])
  if (Array.isArray(schema)) return inner.map(([, value]) => value)
  return { ...('properties' in schema && { additionalProperties: false }), ...Object.fromEntries(inner) }
}

/** The differences between a body and the OpenAPI document. */
function misfits(path: string, reply: ApiReply): readonly string[] {
  const template = path.replace(/:([a-z_]+)\+?/g, '{$1}')
  const { $ref } = document.paths[template]?.get.responses[reply.status] ?? {}
  const response = $ref ?? `#/paths/${template.replaceAll('/', '~1')}/get/responses/${reply.status}`
  const validate = ajv.getSchema(`document${response}/content/application~1json/schema`)
  if (validate === undefined) return [`The document has no body for ${path} and ${reply.status}.`]
  return validate(parsed(reply)) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe.each<readonly [row: string, path: string, answers: readonly (readonly [query: string, body: unknown])[]]>([
  ['/v1/models/:model_id+', '/v1/models/thinker-2', [['', callable]]],
  ['/v1/models/:model_id+', '/v1/models/acme%2Fthinker-2', [['beta=true', callable]]],
  [
    '/v1/models',
    '/v1/models',
    ['', 'endpoint=messages', 'limit=4', 'after_id=a', 'before_id=zz', 'beta=true'].map(query => [
      query,
      expect.objectContaining({ count: 4, has_more: false, first_id: 'bare', last_id: 'thinker-2' }),
    ]),
  ],
  ['/v1/registry/models', '/v1/registry/models', [['', { models: [bare, nowhere, small, thinker], count: 4 }]]],
  [
    '/v1/registry/providers',
    '/v1/registry/providers',
    [
      ['', list(sellers.plain, sellers.cloud, sellers.idle)],
      ['provider=cloud', list(sellers.cloud)],
      ['capability=vision', list(sellers.cloud)],
      ['capability=tools', list(sellers.plain, sellers.cloud)],
      ['author=acme', list(sellers.plain, sellers.cloud)],
      ['author=acme&provider=plain&capability=web_search', list(sellers.plain)],
      ['author=tiny&provider=plain', list()],
    ],
  ],
  [
    '/v1/directory/models',
    '/v1/directory/models',
    [
      ['', list(inDirectory.bare, inDirectory.nowhere, inDirectory.small, inDirectory.thinker)],
      ['provider=plain', list(inDirectory.bare, inDirectory.thinker)],
      ['capability=json_mode', list(inDirectory.small)],
      ['author=acme', list(inDirectory.thinker)],
      ['provider=cloud&capability=streaming&author=acme', list(inDirectory.thinker)],
      ['provider=cloud&capability=vision&author=acme', list()],
    ],
  ],
  [
    '/v1/byok/providers',
    '/v1/byok/providers',
    [
      [
        '',
        list(
          byok('plain', 'Plain AI', { key_hint: 'As in the environment variable PLAIN_API_KEY' }),
          byok('cloud', 'Cloud'),
          byok('idle', 'idle'),
        ),
      ],
    ],
  ],
  [
    '/v1/byok/providers/:provider/tiers',
    tiersOf('plain'),
    [
      [
        '',
        {
          object: 'list',
          provider: 'plain',
          data: [
            { tier: 'free', display_name: 'Free', data_policy: 'may_train', qualification: 'Nothing paid yet' },
            { tier: 'zdr', display_name: 'Zero retention', data_policy: 'zdr', qualification: 'By agreement' },
          ],
          count: 2,
        },
      ],
    ],
  ],
  ['/v1/byok/providers/:provider/tiers', tiersOf('idle'), [['', { object: 'list', provider: 'idle', data: [], count: 0 }]]],
])('%s at %s', (row, path, answers) => {
  test.each(answers)('responds to "%s" as documented', async (query, body) => {
    const reply = await get(path, query)
    expect([reply.status, parsed(reply)]).toEqual([200, body])
    expect(misfits(row, reply)).toEqual([])
  })

  test('refuses unknown parameters with a proper error', async () => {
    const reply = await get(path, 'colour=red')
    expect([reply.status, parsed(reply).error.code, parsed(reply).error.param]).toEqual([400, 'unknown_parameter', 'colour'])
    expect(misfits(row, reply)).toEqual([])
    expect((await ask(apiOf(), `POST ${path}`, { headers })).headers.allow).toBe('GET, HEAD, OPTIONS')
  })

  test('sends an ETag, and no body to a client that has it', async () => {
    const api = apiOf()
    const [query = ''] = answers.at(-1) ?? []
    const first = await get(path, query, api)
    const etag = first.headers.etag ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const keeping = catalogRoutes.find(each => each.path === row)?.cache === 'public' ? 'public, max-age=60' : 'private, no-cache'
    expect(first.headers['cache-control']).toBe(keeping)
    for (const names of [etag, `W/${etag}`, '*', `"other", ${etag}`, `"a,b" , W/"c",W/${etag},"d"`]) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await ask(api, `${method} ${path}`, { headers: { ...headers, 'if-none-match': names }, query })
        expect([names, reply.status, reply.body]).toEqual([names, 304, ''])
        expect(reply.headers).toEqual({
          etag,
          'cache-control': keeping,
          'x-request-id': expect.any(String),
          'x-content-type-options': 'nosniff',
        })
      }
    }
    for (const names of ['"other"', etag.slice(1, -1), `${etag.slice(0, -1)}x"`, '', '"*"']) {
      const reply = await ask(api, `GET ${path}`, { headers: { ...headers, 'if-none-match': names }, query })
      expect([names, reply.status, reply.body]).toEqual([names, 200, first.body])
    }
  })

  test('gives equal texts the same ETag in every process, and different texts another', async () => {
    const [query = ''] = answers[0] ?? []
    const { headers: told, body } = await get(path, query)
    const again = await get(path, query)
    expect([again.headers.etag, again.body]).toEqual([told.etag, body])
    const sold = directory()
      .list()
      .map(model => ({ ...model, aliases: [...(model.aliases ?? []), `${model.id}-x`], displayName: 'New' }))
    const other = await get(path, query, apiOf(directory({ models: sold, facts: [] })))
    expect(other.headers.etag === told.etag).toBe(other.body === body)
  })
})

test('every catalog row has its rate tier, and the public ones need no key', () => {
  expect(catalogRoutes.map(({ path, tier, needs, rate }) => [path, tier, needs, rate])).toEqual([
    ['/v1/models', 'stable', 'any key', 'reads'],
    ['/v1/models/:model_id+', 'stable', 'any key', 'reads'],
    ...[
      '/v1/registry/models',
      '/v1/registry/providers',
      '/v1/directory/models',
      '/v1/byok/providers',
      '/v1/byok/providers/:provider/tiers',
    ].map(path => [path, 'preview', 'nothing', 'none']),
  ])
})

describe('an unknown name', () => {
  const wrong = (param: string, suggestion?: string) => ({ code: 'invalid_parameter_value', param, suggestion })
  const absent = (suggestion?: string) => ({ code: 'resource_not_found', param: 'provider', suggestion })
  test.each([
    ['/v1/directory/models', 'capability=vison', wrong('capability', 'Did you mean "vision"?')],
    ['/v1/registry/providers', 'capability=prompt_cache', wrong('capability', 'Did you mean "prompt_caching"?')],
    ['/v1/registry/providers', 'capability=', wrong('capability')],
    ['/v1/directory/models', 'capability=constructor', wrong('capability')],
    ['/v1/directory/models', 'author=acme&author=acme', wrong('author')],
    ['/v1/directory/models', 'author=acne', wrong('author', 'Did you mean "acme"?')],
    ['/v1/registry/providers', 'author=', wrong('author')],
    ['/v1/directory/models', 'author=__proto__', wrong('author')],
    ['/v1/directory/models', 'provider=plane', wrong('provider', 'Did you mean "plain"?')],
    ['/v1/registry/providers', 'provider=elsewhere', wrong('provider')],
    ['/v1/registry/providers', 'provider=__proto__', wrong('provider')],
    ['/v1/models', 'endpoint=chat', wrong('endpoint', 'Did you mean "chat_completions"?')],
    [
      '/v1/models/thinker-3',
      '',
      { code: 'model_not_found', param: 'model_id', suggestion: 'Did you mean "thinker-2" or "thinker" or "acme/thinker-2"?' },
    ],
    [tiersOf('plane'), '', absent('Did you mean "plain"?')],
    [tiersOf('elsewhere'), '', absent()],
    [tiersOf('__proto__'), '', absent()],
  ])('%s?%s', async (path, query, told) => {
    const reply = await get(path, query)
    const { code, param, suggestion, message } = parsed(reply).error
    expect({ code, param, suggestion }).toEqual(told)
    expect(message).toContain(told.suggestion ?? '')
    expect([reply.headers.etag, reply.headers['cache-control']]).toEqual([undefined, undefined])
  })
})

describe('after models are replaced', () => {
  test('the next response has the new ones and a new ETag', async () => {
    const models = directory()
    const api = apiOf(models)
    const before = await get('/v1/directory/models', 'author=acme', api)
    models.replace([{ id: 'newest', author: 'acme', offers: [] }])
    const reply = await ask(api, 'GET /v1/directory/models', {
      query: 'author=acme',
      headers: { 'if-none-match': before.headers.etag ?? '' },
    })
    expect([reply.status, parsed(reply).data.map(({ id }: Model) => id)]).toEqual([200, ['newest']])
    expect(parsed(await get('/v1/models/thinker', '', api)).error.code).toBe('model_not_found')
    expect(parsed(await get('/v1/registry/providers', '', api)).data.map((each: { model_count: number }) => each.model_count)).toEqual([
      0, 0, 0,
    ])
  })

  test('the same models have the same ETag', async () => {
    const models = directory()
    const api = apiOf(models)
    const { etag } = (await get('/v1/directory/models', '', api)).headers
    models.replace(models.list())
    expect((await get('/v1/directory/models', '', api)).headers.etag).toBe(etag)
  })

  test('pagination continues where it was', async () => {
    const models = directory()
    const api = apiOf(models)
    expect(parsed(await get('/v1/models', 'limit=2', api)).last_id).toBe('nowhere')
    models.replace(models.list().filter(({ id }) => id !== 'nowhere'))
    expect(parsed(await get('/v1/models', 'limit=2&after_id=nowhere', api)).data.map(({ id }: Model) => id)).toEqual(['small', 'thinker-2'])
  })
})

test('a URL of the gateway includes the base path', async () => {
  const api = createApi(fakeGateway({ models: directory() }).gateway, { basePath: '/api' })
  const [first] = parsed(await ask(api, 'GET /api/v1/byok/providers')).data
  expect(first.tiers_url).toBe('/api/v1/byok/providers/plain/tiers')
  expect((await ask(api, `GET ${first.tiers_url}`)).status).toBe(200)
})

describe('source and time of the facts', () => {
  const offer = { model: 'x', api: 'chat', price: { input: 1_000_000, output: 2_000_000 } }
  const dated: Model = {
    id: 'dated',
    author: 'acme',
    offers: [
      { ...offer, provider: 'plain', source: 'https://plain.example/prices', asOf: '2026-11-10' },
      { ...offer, provider: 'cloud', api: 'messages', source: 'https://cloud.example/prices', asOf: '2026-09-30' },
    ],
  }
  const models = directory()
  models.replace([dated])
  const api = apiOf(models)

  test.each([
    ['/v1/registry/models', 'models'],
    ['/v1/directory/models', 'data'],
  ])('%s has those of the offer read last', async (path, list) => {
    const reply = await get(path, '', api)
    expect(parsed(reply)[list][0]).toMatchObject({ source: 'https://plain.example/prices', as_of: '2026-11-10' })
    expect(misfits(path, reply)).toEqual([])
  })

  test('/v1/directory/models has those of each price', async () => {
    const [{ prices }] = parsed(await get('/v1/directory/models', '', api)).data
    expect(prices.map(({ provider, source, as_of }: Record<string, string>) => [provider, source, as_of])).toEqual([
      ['plain', 'https://plain.example/prices', '2026-11-10'],
      ['cloud', 'https://cloud.example/prices', '2026-09-30'],
    ])
  })
})
