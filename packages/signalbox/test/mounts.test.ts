import { createServer, type RequestListener } from 'node:http'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { type ChaosProvider, chaosProvider, type TestGateway, testGateway } from '@signalbox/testing'
import { describeAdapter } from '@signalbox/testing/suites'
import express from 'express'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { waitUntil } from '../../testing/test/waits.ts'
import { freePort } from '../../testing/tools/runtimes/free-port.ts'
import { toBunServer } from '../src/bun.ts'
import { toDenoHandler } from '../src/deno.ts'
import { toExpressHandler } from '../src/express.ts'
import { toFastifyPlugin } from '../src/fastify.ts'
import { toHonoHandler } from '../src/hono.ts'
import { toNextJsHandler } from '../src/next.ts'
import { toWorkersHandler } from '../src/workers.ts'
import { frameworks, listen } from './frameworks.ts'

// A gateway mounted below a prefix in the frameworks themselves. The long run adds everything that an adapter must do.

const silent = { info: () => {}, warn: () => {}, error: () => {} }

let upstream: ChaosProvider
let own: TestGateway

beforeAll(async () => {
  upstream = await chaosProvider()
  own = await testGateway({ servers: [upstream], dialect: 'chat', limits: { attempts: 1 } })
})
afterAll(async () => {
  await own.close()
  await upstream.close()
})

describe.each(frameworks)('in $name', ({ name, start }) => {
  let url: string
  let close: () => Promise<void>
  beforeAll(async () => {
    ;({ url, close } = await start(own.gateway, {}, '/api/llm'))
  })
  afterAll(() => close())

  const ask = (
    path: string,
    { method = 'GET', body, signal }: { method?: string; body?: object; signal?: AbortSignal } = {},
  ): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })

  test('it responds below its prefix, whole and streamed', async () => {
    const whole = await ask('/v1/responses', { method: 'POST', body: { model: 'test-model', input: 'Hello' } })
    expect([whole.status, (await whole.json()).object]).toEqual([200, 'response'])
    const streamed = await ask('/v1/responses', { method: 'POST', body: { model: 'test-model', input: 'Hello', stream: true } })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    expect(await streamed.text()).toMatch(/^event: response\.created\n[\s\S]*event: response\.completed\n/)
  })

  test('it supports every method, and an unknown path below it is its own 404', async () => {
    const key = `/v1/workspaces/${own.caller.workspaceId}/api-keys/none`
    const json = async (response: Response): Promise<readonly unknown[]> => [response.status, typeof (await response.json()).error.message]
    for (const method of ['PATCH', 'DELETE'])
      expect([method, await json(await ask(key, { method, ...(method === 'PATCH' && { body: {} }) }))]).toEqual([method, [404, 'string']])
    expect(await json(await ask('/v1/models', { method: 'PUT', body: {} }))).toEqual([405, 'string'])
    expect(await json(await ask('/v1/nothing'))).toEqual([404, 'string'])
    expect((await ask('/v1/models', { method: 'OPTIONS' })).headers.get('allow')).toContain('GET')
    expect((await ask('/v1/models', { method: 'HEAD' })).status).toBe(200)
  })

  // The document is made anew for each mount, which takes long.
  if (inject('isLongRun') || frameworks.findIndex(each => each.name === name) % 3 === 0)
    test('the OpenAPI document has its URL', async () => {
      expect((await (await ask('/v1/openapi.json')).json()).servers).toEqual([{ url: '/api/llm' }])
    })

  test('its address is a page for browsers, and JSON for others, with links that work there', async () => {
    const inCatchAll = name.startsWith('a catch-all route')
    for (const home of [`${url}/`, ...(inCatchAll ? [] : [url])]) {
      const links = await (await fetch(home)).json()
      expect(links).toMatchObject({ name: 'Signalbox', models: '/api/llm/v1/models' })
      const page = await fetch(home, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await page.text()).toContain(`<a href="${links.openapi}">`)
      expect((await fetch(new URL(links.health, url))).status).toBe(200)
    }
  })

  test('other routes of the app are not affected', async () => {
    const { origin } = new URL(url)
    expect(await (await fetch(`${origin}/hello`)).text()).toBe('hello')
    const elsewhere = await fetch(`${origin}/v1/models`)
    expect([elsewhere.status, await elsewhere.text()]).toEqual([404, expect.not.stringContaining('"error":{')])
  })

  test('each cookie that a sign-in sets arrives', async () => {
    const cookies = ['a=1; Path=/', 'b=2; Expires=Wed, 09 Jun 2027 10:18:14 GMT']
    const authenticate = (): Response =>
      new Response(null, { status: 204, headers: cookies.map((cookie): [string, string] => ['set-cookie', cookie]) })
    const options: object = { authenticate }
    const { url: other, close: stop } = await start(own.gateway, options)
    const { status, headers } = await fetch(`${other}/v1/models`)
    expect([status, headers.getSetCookie()]).toEqual([204, cookies])
    await stop()
  })

  test('a client that disconnects ends its request', async () => {
    const fake = fakeGateway()
    fake.act = () => ({ commit: new Promise(() => {}) })
    const { url: other, close: stop } = await start(fake.gateway)
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' }
    const left = fetch(`${other}/v1/responses`, { method: 'POST', headers, body: '{"stream":true}', signal: leaving.signal })
    await waitUntil(() => fake.calls.length === 1)
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    await waitUntil(() => fake.calls[0]?.signal?.aborted)
    await stop()
  })
})

test('a body that was read before the gateway got the request is reported as the cause, in Node and as a Request', async () => {
  const app = express()
  app.use('/llm', async (request, _, next) => {
    for await (const _ of request);
    next()
  })
  app.use('/llm', toExpressHandler(own.gateway) as unknown as RequestListener)
  const hono = new Hono()
  hono.all('/llm/*', async (context, next) => {
    await context.req.raw.text()
    return next()
  })
  hono.all('/llm/*', toHonoHandler(own.gateway))
  const { url, close } = await listen(createServer(app), '/llm')
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' },
    body: '{"model":"test-model"}',
  }
  for (const response of [await fetch(`${url}/v1/responses`, init), await hono.request('/llm/v1/responses', init)]) {
    expect(response.status).toBe(500)
    expect((await response.json()).error.message).toMatch(/^The request body was already read by a body parser/)
  }
  await close()
})

test('a pattern with parameters works as a mount point, and a route without its base path gets an error with the option to set', async () => {
  const hono = new Hono()
  hono.all('/of/:tenant/llm/*', toHonoHandler(own.gateway))
  hono.all('/bare/:path{.+}', toHonoHandler(own.gateway))
  hono.route('/sub', new Hono().all('/llm/*', toHonoHandler(own.gateway)))
  expect((await (await hono.request('/of/acme/llm/v1/openapi.json')).json()).servers).toEqual([{ url: '/of/acme/llm' }])
  expect((await (await hono.request('/sub/llm/v1/openapi.json')).json()).servers).toEqual([{ url: '/sub/llm' }])
  expect((await (await hono.request('/bare/v1/models')).json()).error.message).toContain('`basePath: "/bare"`')
  const app = express()
  app.all('/llm/*path', toExpressHandler(own.gateway) as unknown as RequestListener)
  const { url, close } = await listen(createServer(app), '/llm')
  expect((await (await fetch(`${url}/v1/models`)).json()).error.message).toContain('`basePath: "/llm"`')
  await close()
})

describe('a gateway whose setup fails', () => {
  const setup = (): never => {
    throw new Error('GATEWAY_KEY is not set')
  }
  const broken = (): Gateway => createGateway({ providers: [], models: [], storage: memoryStorage(), setup, logger: silent })

  test('does not listen with serve, and the error of setup is that of the start', async () => {
    const port = await freePort()
    await expect(serve(broken(), { port })).rejects.toThrow('GATEWAY_KEY is not set')
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  })

  const withStart = frameworks.filter(({ name }) => /Fastify|Nest/.test(name))
  test.each(withStart)('does not start in $name', async ({ start }) => {
    await expect(start(broken())).rejects.toThrow('GATEWAY_KEY is not set')
  })
})

test('an invalid option is named with the called function', () => {
  const wrong = { basepath: '/llm' } as never
  const calls = { toBunServer, toDenoHandler, toExpressHandler, toFastifyPlugin, toHonoHandler, toNextJsHandler }
  for (const [name, call] of Object.entries(calls))
    expect(() => call(own.gateway, wrong)).toThrow(new RegExp(`^${name}: .*basepath.*basePath`))
  expect(() => toWorkersHandler(() => own.gateway, wrong).fetch(new Request('http://x/'), {}, { waitUntil: () => {} })).toThrow(
    /^toWorkersHandler: .*basepath/,
  )
})

if (inject('isLongRun')) {
  for (const { name, start, readsBodies } of frameworks)
    if (!readsBodies) describeAdapter(name, (gateway, options) => start(gateway, options))
}
