import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { asIterator } from './source.ts'
import { sha256, webIds, webTransport } from './web.ts'

// msw intercepts `fetch`, so this file alone uses it: an intercepted call has no socket that could break in the middle of a frame, send
// half a header or stop reading. Tests of those use `chaosProvider`, a real server.

const server = setupServer()
beforeAll(() => server.listen())
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

const url = 'https://provider.example/v1/responses'
const call = (signal = new AbortController().signal) =>
  webTransport()({
    url,
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    body: '{"a":1}',
    signal,
  })

test('status, headers and bytes arrive as they were sent', async () => {
  server.use(
    http.post(url, async ({ request }) =>
      HttpResponse.json(
        { got: await request.json(), key: request.headers.get('authorization') },
        { status: 201, headers: { 'x-note': 'hi' } },
      ),
    ),
  )
  const reply = await call()
  expect({ status: reply.status, note: reply.header('x-note'), missing: reply.header('x-missing') }).toEqual({
    status: 201,
    note: 'hi',
    missing: undefined,
  })
  const body = asIterator(reply.body)
  const step = await body.next()
  expect(JSON.parse(new TextDecoder().decode(step.value))).toEqual({ got: { a: 1 }, key: 'Bearer secret' })
  expect((await body.next()).done).toBe(true)
})

test('a redirect is returned and never followed, so that no secret is sent elsewhere', async () => {
  let strayed = 0
  server.use(
    http.post(url, () => new HttpResponse(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })),
    http.all('https://elsewhere.example/', () => {
      strayed += 1
      return HttpResponse.json({})
    }),
  )
  expect((await call()).status).toBe(307)
  expect(strayed).toBe(0)
})

test('a failed connection rejects', async () => {
  server.use(http.post(url, () => HttpResponse.error()))
  await expect(call()).rejects.toThrow()
})

test('in Deno each request has a connection of its own, because Deno sends a POST again over a new one if a reused one breaks', async () => {
  const client = {}
  const createHttpClient = vi.fn(() => client)
  const fetch = vi.fn(async () => new Response('{}'))
  vi.stubGlobal('Deno', { createHttpClient })
  vi.stubGlobal('fetch', fetch)
  onTestFinished(() => void vi.unstubAllGlobals())
  await call()
  expect(createHttpClient).toHaveBeenCalledWith({ poolMaxIdlePerHost: 0 })
  expect(fetch).toHaveBeenCalledWith(url, expect.objectContaining({ client }))
})

test('a response without a body has an empty one, which can be cancelled', async () => {
  server.use(http.post(url, () => new HttpResponse(null, { status: 204 })))
  const body = asIterator((await call()).body)
  expect(await body.next()).toEqual({ done: true, value: undefined })
  expect(await body.return?.()).toEqual({ done: true, value: undefined })
})

test('ids are unique, and sort by time of creation', async () => {
  const ids = webIds()
  const first = ids.uuid()
  await new Promise(resolve => setTimeout(resolve, 5))
  const later = Array.from({ length: 10_000 }, () => ids.uuid())
  expect(new Set(later).size).toBe(10_000)
  expect(later.every(id => id > first && /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(true)
})

test('SHA-256 is the same with `node:crypto`, without it, and in runtimes that refuse it', async () => {
  const text = 'ak_é😀'
  const atOnce = await sha256(text)
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
  expect(await sha256(text)).toBe(atOnce)
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    throw new Error('Not supported in the edge runtime.')
  })
  expect(await sha256(text)).toBe(atOnce)
  vi.restoreAllMocks()
  expect(await sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})
