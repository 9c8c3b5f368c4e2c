import { createApi } from '@signalbox/api'
import { responsesProvider } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { ask, parsed } from '../../../api/test/asking.ts'
import { testGateway } from '../../src/gateway.ts'
import { scriptedProvider } from '../../src/scripted-provider.ts'

// A row of the request log stays small, whatever a request contains: lists hold a hundred rows in memory, and each request leaves one.

const bodies: Readonly<Record<string, JsonObject>> = {
  '/v1/responses': { input: 'Hi' },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 16 },
}
const languageModel = '/v4/ai/language-model'

async function scene() {
  const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
  const { gateway, secret, storage, caller } = await testGateway({ providers: [provider] })
  const api = createApi(gateway)
  const headers = {
    authorization: `Bearer ${secret}`,
    'ai-language-model-id': 'test-model',
    'ai-language-model-specification-version': '4',
  }
  return {
    provider,
    rows: () => storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 }),
    post: (path: string, body: JsonObject) => ask(api, `POST ${path}`, { headers, body: JSON.stringify({ model: 'test-model', ...body }) }),
    /** With options of the AI SDK. */
    postOptions: (options: JsonObject) =>
      ask(api, `POST ${languageModel}`, {
        headers,
        body: JSON.stringify({
          prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
          providerOptions: { gateway: options },
        }),
      }),
  }
}

describe.each(Object.keys(bodies))('a request to %s', path => {
  test.each<[what: string, metadata: JsonObject, param: string]>([
    ['a long value', { note: 'x'.repeat(1_025) }, 'gateway.metadata.note'],
    ['a long name', { ['n'.repeat(129)]: 'x' }, 'gateway.metadata'],
  ])('with %s in its metadata is refused, and no provider is called', async (_, metadata, param) => {
    const { post, provider } = await scene()
    const reply = await post(path, { ...bodies[path], gateway: { metadata } })
    expect([reply.status, parsed(reply).error.param]).toEqual([400, param])
    expect(provider.calls).toHaveLength(0)
  })

  test('with the longest names and values is served', async () => {
    const { post } = await scene()
    const metadata = { ['n'.repeat(128)]: 'x'.repeat(1_024) }
    expect((await post(path, { ...bodies[path], gateway: { metadata } })).status).toBe(200)
  })
})

test.each<[param: string, options: JsonObject]>([
  ['providerOptions.gateway.user', { user: 'u'.repeat(1_025) }],
  ['providerOptions.gateway.tags', { tags: Array.from({ length: 200 }, () => 'plan:pro') }],
  ['providerOptions.gateway.metadata.note', { metadata: { note: 'x'.repeat(1_025) } }],
])('%s of the AI SDK has the same bound', async (param, options) => {
  const { postOptions, provider } = await scene()
  const reply = await postOptions(options)
  expect(reply.status).toBe(400)
  expect(reply.body).toContain(param)
  expect(provider.calls).toHaveLength(0)
})

test('a request with thousands of unknown fields leaves a row with one code of a warning', async () => {
  const { post, rows } = await scene()
  const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field_${at}`, 1]))
  const reply = await post('/v1/messages', { ...bodies['/v1/messages'], ...unknown })
  expect(reply.status).toBe(200)
  const [row] = await rows()
  expect(row?.warnings.length).toBeGreaterThan(0)
  expect(row?.warnings).toEqual([...new Set(row?.warnings)])
  expect(JSON.stringify(row).length).toBeLessThan(20_000)
})
