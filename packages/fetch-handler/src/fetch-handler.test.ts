import type { InferenceEvent } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { delta, type Fake, fakeGateway, finished, goodKey } from '../../api/test/fake-gateway.ts'
import { type FetchHandler, toFetchHandler } from './index.ts'

const headers = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' }
const ask = (handler: FetchHandler, body: string, more: RequestInit = {}): Promise<Response> =>
  handler(new Request('http://x/v1/responses', { method: 'POST', headers, body, ...more }))
const tick = (ms = 5): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

interface Endless {
  readonly fake: Fake
  readonly handler: FetchHandler
  readonly given: () => number
  readonly left: () => boolean
}

/** A stream that never ends by itself. */
function endless(every = 0): Endless {
  const fake = fakeGateway()
  let given = 0
  let left = false
  fake.act = () => ({
    batches: () => ({
      next: async () => {
        if (every > 0) await tick(every)
        given++
        return { done: false, value: [delta('x')] }
      },
      return: async () => {
        left = true
        return { done: true, value: undefined }
      },
    }),
  })
  return { fake, handler: toFetchHandler(fake.gateway), given: () => given, left: () => left }
}

describe('a Request gets a Response', () => {
  test('whole', async () => {
    const response = await ask(toFetchHandler(fakeGateway().gateway), '{"model":"small"}')
    expect([response.status, response.headers.get('content-type'), (await response.json()).object]).toEqual([
      200,
      'application/json',
      'response',
    ])
  })

  test('streamed', async () => {
    const fake = fakeGateway()
    const batches: (readonly InferenceEvent[])[] = [[delta('a'), delta('ü😀')], [finished]]
    fake.act = () => ({
      batches: () => ({
        next: async () => {
          const value = batches.shift()
          return value === undefined ? { done: true, value: undefined } : { done: false, value }
        },
      }),
    })
    const response = await ask(toFetchHandler(fake.gateway), '{"stream":true}')
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    expect(text).toContain('ü😀')
    expect(text).toMatch(/event: response\.completed\n.*\n\n$/)
  })

  test('errors, HEAD, OPTIONS and the base path', async () => {
    const handler = toFetchHandler(fakeGateway().gateway, { basePath: '/api/' })
    const status = async (method: string, url: string): Promise<number> => (await handler(new Request(url, { method, headers }))).status
    expect(await status('GET', 'http://x/api/v1/nothing?a=b#c')).toBe(404)
    expect(await status('GET', 'http://x/v1/me')).toBe(404)
    expect(await status('GET', 'http://x/api/v1/me')).toBe(200)
    expect(await status('OPTIONS', 'http://x/api/v1/me')).toBe(204)
    const head = await handler(new Request('http://x/api/v1/me', { method: 'HEAD', headers }))
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('two Authorization headers are refused', async () => {
    const request = new Request('http://x/v1/me', { headers })
    request.headers.append('authorization', `Bearer ${goodKey}`)
    expect((await toFetchHandler(fakeGateway().gateway)(request)).status).toBe(401)
  })

  test('other sites may read responses only if CORS allows them', async () => {
    const get = (handler: FetchHandler): Promise<Response> =>
      handler(new Request('http://x/v1/me', { headers: { ...headers, origin: 'https://a.example' } }))
    expect((await get(toFetchHandler(fakeGateway().gateway))).headers.get('access-control-allow-origin')).toBeNull()
    const handler = toFetchHandler(fakeGateway().gateway, { cors: { origins: ['https://a.example'] } })
    expect((await get(handler)).headers.get('access-control-allow-origin')).toBe('https://a.example')
    const preflight = await handler(
      new Request('http://x/v1/responses', {
        method: 'OPTIONS',
        headers: {
          origin: 'https://a.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      }),
    )
    expect([
      preflight.status,
      preflight.headers.get('access-control-allow-methods'),
      preflight.headers.get('access-control-allow-headers'),
    ]).toEqual([204, 'POST, OPTIONS', 'authorization'])
  })
})

describe('a body', () => {
  test('over the limit is 413, counted as it arrives', async () => {
    let pulled = 0
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1024))
      },
      cancel() {
        cancelled = true
      },
    })
    const handler = toFetchHandler(fakeGateway().gateway, { maxBodyBytes: 10_000 })
    const response = await handler(new Request('http://x/v1/responses', { method: 'POST', headers, body, duplex: 'half' } as RequestInit))
    expect(response.status).toBe(413)
    expect(pulled).toBeLessThan(15)
    expect(cancelled).toBe(true)
  })

  test('with characters split across chunks is intact', async () => {
    const bytes = new TextEncoder().encode('{"model":"smäll😀"}')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const fake = fakeGateway()
    const response = await toFetchHandler(fake.gateway)(
      new Request('http://x/v1/responses', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
    )
    expect([response.status, fake.calls[0]?.request.routing.models]).toEqual([200, ['smäll😀']])
  })

  test('that breaks off is 400', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.error(new Error('gone'))
      },
    })
    const response = await toFetchHandler(fakeGateway().gateway)(
      new Request('http://x/v1/responses', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
    )
    expect(response.status).toBe(400)
  })
})

describe('a reader', () => {
  test('that reads nothing pauses the source', async () => {
    const { handler, given } = endless()
    const reader = (await ask(handler, '{"stream":true}')).body?.getReader()
    await tick(30)
    // The first content opens the answer.
    expect(given()).toBe(1)
    await reader?.read()
    await tick(30)
    expect(given()).toBe(1)
    await reader?.read()
    await tick(30)
    expect(given()).toBe(2)
  })

  test('that cancels has disconnected: first the signal, then return()', async () => {
    const { fake, handler, left } = endless()
    const reader = (await ask(handler, '{"stream":true}')).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect([fake.calls[0]?.signal?.aborted, left()]).toEqual([true, true])
  })

  test('that aborts the request has disconnected too', async () => {
    const { fake, handler, left } = endless(5)
    const controller = new AbortController()
    const reader = (await ask(handler, '{"stream":true}', { signal: controller.signal })).body?.getReader()
    await reader?.read()
    controller.abort()
    await expect(reader?.read()).rejects.toThrow()
    await tick(20)
    expect([fake.calls[0]?.signal?.aborted, left()]).toEqual([true, true])
  })

  test('that stops early hands the remaining work to waitUntil, called as a method', async () => {
    const { handler } = endless()
    const context = {
      work: [] as Promise<unknown>[],
      waitUntil(work: Promise<unknown>): void {
        this.work.push(work)
      },
    }
    for (const rest of [[context], [{ SOME_BINDING: 'x' }, context]]) {
      context.work = []
      const response = await handler(new Request('http://x/v1/responses', { method: 'POST', headers, body: '{"stream":true}' }), ...rest)
      const reader = response.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      // The request until its reply, and what it takes to leave.
      expect(context.work.length).toBe(2)
    }
  })
})

test('work that remains after a reply goes to the option `waitUntil` if the call has no context', async () => {
  const work: Promise<unknown>[] = []
  const handler = toFetchHandler(endless().fake.gateway, { waitUntil: each => void work.push(each) })
  const reader = (await ask(handler, '{"stream":true}')).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  // The request until its reply, and what it takes to leave.
  expect(work.length).toBe(2)
})

describe('as the fetch of an SDK', () => {
  test('it accepts a URL and an init', async () => {
    const handler = toFetchHandler(fakeGateway().gateway)
    expect((await handler('http://x/v1/me', { headers })).status).toBe(200)
    expect((await handler(new URL('http://x/v1/me'), { headers })).status).toBe(200)
    expect((await handler('http://x/v1/me')).status).toBe(401)
    expect((await handler(new Request('http://x/v1/me'), { headers })).status).toBe(200)
  })

  test('it rejects as soon as the signal aborts', async () => {
    const fake = fakeGateway()
    fake.act = () => ({ commit: new Promise(() => {}) })
    const controller = new AbortController()
    const asked = toFetchHandler(fake.gateway)('http://x/v1/responses', {
      method: 'POST',
      headers,
      body: '{"stream":true}',
      signal: controller.signal,
    })
    await tick()
    controller.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    expect(fake.calls[0]?.signal?.aborted).toBe(true)
  })

  test('a stream that opens after the abort is cancelled', async () => {
    const { fake, handler, left } = endless()
    const act = fake.act
    fake.act = call => ({ ...act(call), commit: tick(30) })
    for (const ask of [
      (signal: AbortSignal) => handler('http://x/v1/responses', { method: 'POST', headers, body: '{"stream":true}', signal }),
      (signal: AbortSignal) => handler(new Request('http://x/v1/responses', { method: 'POST', headers, body: '{"stream":true}', signal })),
    ]) {
      const asked = ask(AbortSignal.timeout(10)).catch(() => {})
      await tick(60)
      expect(left()).toBe(true)
      await asked
    }
  })

  test('the second argument of servers is not mistaken for an init', async () => {
    const handler = toFetchHandler(fakeGateway().gateway)
    for (const second of [{ params: Promise.resolve({}) }, { port: 1, fetch: () => {} }, undefined, null, 'x']) {
      expect((await handler(new Request('http://x/v1/me', { headers }), second)).status).toBe(200)
    }
  })
})
