import { clientDialects } from '@signalbox/dialects'
import type { Model } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Api, type ApiReply, createApi } from '../src/index.ts'
import { ask, parsed } from './asking.ts'
import { directory } from './catalog.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'

const headers = { authorization: `Bearer ${goodKey}` }
const apiOf = (models = directory()): Api => createApi(fakeGateway({ models, dialects: clientDialects }).gateway)
const get = (path: string, query = '', api = apiOf()): Promise<ApiReply> => ask(api, `GET ${path}`, { headers, query })

describe('pages of models', () => {
  const pages = async (query: string, api = apiOf()): Promise<readonly unknown[]> => {
    const { data, has_more, first_id, last_id } = parsed(await get('/v1/models', query, api))
    expect([first_id, last_id]).toEqual([data[0]?.id ?? null, data.at(-1)?.id ?? null])
    return [data.map(({ id }: Model) => id), has_more]
  }

  test.each([
    ['limit=1', ['bare'], true],
    ['limit=1000', ['bare', 'nowhere', 'small', 'thinker-2'], false],
    ['after_id=bare&limit=2', ['nowhere', 'small'], true],
    ['after_id=nowhere&limit=2', ['small', 'thinker-2'], false],
    ['after_id=thinker-2', [], false],
    ['after_id=n', ['nowhere', 'small', 'thinker-2'], false],
    ['before_id=thinker-2&limit=2', ['nowhere', 'small'], true],
    ['before_id=small&limit=2', ['bare', 'nowhere'], false],
    ['before_id=bare', [], false],
    ['limit=2&endpoint=responses', ['bare', 'nowhere'], true],
  ])('%s', async (query, ids, more) => {
    expect(await pages(query)).toEqual([ids, more])
  })

  test.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=2.5',
    'limit=',
    'limit=ten',
    'limit=1e2',
    'limit=0x10',
    'limit=1&limit=2',
    'after_id=a&before_id=b',
  ])('%s is refused', async query => {
    expect(parsed(await get('/v1/models', query)).error).toMatchObject({ code: 'invalid_parameter_value' })
  })

  test('paged forward or back, contain every model once, in order', async () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-z0-9/.:_-]{1,8}$/), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(ids, fc.integer({ min: 1, max: 5 }), async (names, limit) => {
        const api = apiOf(directory({ models: names.map(id => ({ id, offers: [] })) }))
        const all = [...names].sort()
        const forward: string[] = []
        const back: string[] = []
        for (let query = `limit=${limit}`, more = true; more; ) {
          const body = parsed(await get('/v1/models', query, api))
          forward.push(...body.data.map(({ id }: Model) => id))
          query = `limit=${limit}&after_id=${encodeURIComponent(body.last_id)}`
          more = body.has_more
        }
        for (let query = `limit=${limit}&before_id=~`, more = true; more; ) {
          const body = parsed(await get('/v1/models', query, api))
          back.unshift(...body.data.map(({ id }: Model) => id))
          query = `limit=${limit}&before_id=${encodeURIComponent(body.first_id)}`
          more = body.has_more
        }
        expect([forward, back]).toEqual([all, all])
      }),
    )
  })
})
