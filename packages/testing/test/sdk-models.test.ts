import { toFetchHandler } from '@signalbox/fetch-handler'
import { serve } from '@signalbox/node-http'
import OpenAI from 'openai'
import OpenAI6 from 'openai6'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedProvider, type TestGateway, testGateway } from '../src/index.ts'
import { versions } from './drivers/anthropic-versions.ts'
import { traitsOf } from './drivers/provider-traits.ts'
import { serveFetch } from './fetch-server.ts'

// The lists of models as the packages of both vendors read them, over a socket.

const ids = ['acme/one', 'acme/two', 'five', 'four', 'seven', 'six', 'three']
const provider = scriptedProvider({ id: 'scripted', dialect: traitsOf('messages').dialect })
const models = ids.map(id => ({
  id,
  aliases: [`${id}-latest`],
  created: 1_750_000_000,
  offers: [{ provider: 'scripted', model: id, api: 'messages', contextWindow: 1_000, price: { input: 1, output: 1 } }],
}))

describe.each([
  ['node-http', (testbed: TestGateway) => serve(testbed.gateway, { port: 0 })],
  ['the fetch handler', (testbed: TestGateway) => serveFetch(toFetchHandler(testbed.gateway))],
] as const)('behind %s', (_, start) => {
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }
  beforeAll(async () => {
    testbed = await testGateway({ providers: [provider], models })
    server = await start(testbed)
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
  })

  describe.each(versions)('@anthropic-ai/sdk $version', ({ Package }) => {
    const open = (): InstanceType<typeof Package> => new Package({ apiKey: testbed.secret, baseURL: server.url, maxRetries: 0 })

    test.each([undefined, 1, 2, 3, 7, 1000])('pages forward automatically: %s at a time', async limit => {
      const seen: string[] = []
      for await (const { id, type } of open().models.list(limit === undefined ? {} : { limit })) seen.push(`${type} ${id}`)
      expect(seen).toEqual(ids.map(id => `model ${id}`))
    })

    test.each([1, 3, 1000])('pages back automatically: %s at a time', async limit => {
      const pages: string[][] = []
      for (let page = await open().models.list({ limit, before_id: 'zzz' }); ; page = await page.getNextPage()) {
        pages.unshift(page.data.map(({ id }) => id))
        if (!page.hasNextPage()) break
      }
      expect(pages.flat()).toEqual(ids)
      expect(Math.max(...pages.map(({ length }) => length))).toBe(Math.min(limit, ids.length))
    })

    test('also lists them as beta, and retrieves one by any of its names', async () => {
      const seen: string[] = []
      for await (const { id } of open().beta.models.list({ limit: 2 })) seen.push(id)
      expect(seen).toEqual(ids)
      for (const name of ['acme/two', 'acme/two-latest']) {
        const facts = { id: 'acme/two', type: 'model', created_at: '2025-06-15T15:06:40.000Z', display_name: 'acme/two' }
        expect(await open().models.retrieve(name)).toMatchObject(facts)
        expect(await open().beta.models.retrieve(name)).toMatchObject(facts)
      }
      await expect(open().models.retrieve('acme/tow')).rejects.toThrow(Package.NotFoundError)
      const tooMany = Promise.resolve(open().models.list({ limit: 1001 }))
      await expect(tooMany).rejects.toThrow(Package.BadRequestError)
    })
  })

  test.each([
    ['of today', OpenAI],
    ['before', OpenAI6 as unknown as typeof OpenAI],
  ])('the openai package %s lists them all, and retrieves one by any of its names', async (_name, Package) => {
    const client = new Package({ apiKey: testbed.secret, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const seen: string[] = []
    for await (const { id, object, created } of client.models.list()) seen.push(`${object} ${id} ${created}`)
    expect(seen).toEqual(ids.map(id => `model ${id} 1750000000`))
    expect(await client.models.retrieve('acme/one-latest')).toMatchObject({ id: 'acme/one', owned_by: 'signalbox' })
    await expect(client.models.retrieve('acme/oen')).rejects.toThrow(Package.NotFoundError)
  })
})
