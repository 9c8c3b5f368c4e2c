import type { JsonObject } from '@signalbox/dialects/protocol'
import { nodeTransport, serve } from '@signalbox/node-http'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type ChaosProvider, chaosProvider, type TestGateway, testGateway } from '../src/index.ts'
import { found, providerTraits } from './drivers/provider-traits.ts'

// Images may be tens of megabytes, and are text on their way: nothing between client and provider has reason to decode them.

const megabytes = inject('isLongRun') ? 8 : 2
/** The last letter has unused bits, so that decoding and encoding again changes it. */
const data = `${'iVBORw0KGgo+/A8z'.repeat(62_500 * megabytes)}QR==`

interface Asking {
  readonly client: string
  readonly path: string
  readonly body: JsonObject
}

const url = `data:image/png;base64,${data}`
const source = { type: 'base64', media_type: 'image/png', data }
const asked = { model: 'test-model', max_tokens: 100 }

const asking: readonly Asking[] = [
  {
    client: 'responses',
    path: '/v1/responses',
    body: { model: 'test-model', input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }] },
  },
  {
    client: 'chat',
    path: '/v1/chat/completions',
    body: { ...asked, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
  },
  {
    client: 'messages',
    path: '/v1/messages',
    body: { ...asked, messages: [{ role: 'user', content: [{ type: 'image', source }] }] },
  },
]

test('an image that was decoded and encoded again would be detected', () => {
  expect(Buffer.from(data, 'base64').toString('base64') === data).toBe(false)
})

describe.each(providerTraits)('to a provider of $name', traits => {
  let provider: ChaosProvider
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }

  beforeAll(async () => {
    provider = await chaosProvider()
    testbed = await testGateway({ servers: [provider], dialect: traits.name, transport: nodeTransport() })
    server = await serve(testbed.gateway, { port: 0 })
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
    await provider.close()
  })

  // The default run meets each provider with one client, and each client with one provider or two.
  const met = asking.filter((_, at) => inject('isLongRun') || at === providerTraits.indexOf(traits) % asking.length)
  test.each(met)(`an image of ${megabytes} MB is sent as a client of $client sent it, without being decoded`, async ({ path, body }) => {
    const decoding = [vi.spyOn(globalThis, 'atob'), vi.spyOn(Buffer, 'from')]
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const decoded = decoding
      .flatMap(({ mock }) => mock.calls)
      .filter(([text]) => typeof text === 'string' && text.startsWith(data.slice(0, 1_000)))
    expect(await answer.text()).toContain('Signals were set by hand once')
    expect(answer.headers.get('x-warnings')).toBeNull()
    const [picture, ...more] = found(provider.requests.at(-1)?.json, traits.picture)
    expect(picture?.type).toBe('image/png')
    // Not compared by `toBe(data)`: the difference would be unreadable.
    expect(picture?.data === data).toBe(true)
    expect(more).toEqual([])
    expect(decoded.length).toBe(0)
  })
})
