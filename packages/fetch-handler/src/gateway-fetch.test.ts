import { expect, test } from 'vitest'
import { delta, fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { gatewayFetch } from './index.ts'

const headers = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' }
const post = (body: string, more: RequestInit = {}): RequestInit => ({ method: 'POST', headers, body, ...more })

test.each(['http://signalbox.local/v1/responses', 'https://anything.example:8443/v1/responses', 'http://x/responses'])(
  '%s is a URL of the gateway',
  async address => {
    const fetch = gatewayFetch(fakeGateway().gateway)
    for (const input of [address, new URL(address)]) expect((await fetch(input, post('{}'))).status).toBe(200)
    expect((await fetch(new Request(address, post('{}')))).status).toBe(200)
  },
)

test.each([
  ['http://x/messages', 200],
  ['http://x/chat/completions', 200],
  ['http://x/v1/v1/responses', 400],
  ['http://x/nothing', 404],
  ['http://x/v1', 404],
])('%s returns %d', async (address, status) => {
  expect((await gatewayFetch(fakeGateway().gateway)(address, post('{}'))).status).toBe(status)
})

test('an init overrides the request passed with it', async () => {
  const fetch = gatewayFetch(fakeGateway().gateway)
  const request = new Request('http://x/v1/me', { headers: { authorization: 'Bearer ak_wrong' } })
  expect((await fetch(request)).status).toBe(401)
  expect((await fetch(request, { headers })).status).toBe(200)
})

test('a relative URL rejects, as in every fetch', async () => {
  await expect(gatewayFetch(fakeGateway().gateway)('/v1/me')).rejects.toBeInstanceOf(TypeError)
})

test('the body may be a stream, and so may the response', async () => {
  const fake = fakeGateway()
  fake.act = () => {
    const left = ['one', 'two']
    return {
      batches: () => ({
        next: async () => {
          const text = left.shift()
          return text === undefined ? { done: true, value: undefined } : { done: false, value: [delta(text)] }
        },
      }),
    }
  }
  const body = new Blob(['{"stream":', 'true}']).stream()
  const response = await gatewayFetch(fake.gateway)('http://x/v1/responses', { ...post(''), body, duplex: 'half' } as RequestInit)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  expect(await response.text()).toMatch(/one[\s\S]*two/)
})

test('an abort rejects before and in the middle of a response, and cancels the source', async () => {
  const fake = fakeGateway()
  let left = 0
  fake.act = () => ({
    batches: () => ({
      next: async () => ({ done: false, value: [delta('x')] }),
      return: async () => {
        left++
        return { done: true, value: undefined }
      },
    }),
  })
  const fetch = gatewayFetch(fake.gateway)
  await expect(fetch('http://x/v1/responses', post('{}', { signal: AbortSignal.abort() }))).rejects.toMatchObject({ name: 'AbortError' })
  const controller = new AbortController()
  const response = await fetch('http://x/v1/responses', post('{"stream":true}', { signal: controller.signal }))
  const reader = response.body?.getReader()
  await reader?.read()
  controller.abort()
  await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' })
  await expect.poll(() => left).toBe(1)
  expect(fake.calls.at(-1)?.signal?.aborted).toBe(true)
})
