import { connect, type Socket } from 'node:net'
import { GatewayError } from '@signalbox/dialects/errors'
import { describe, expect, test } from 'vitest'
import { fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { rawCall, until } from './raw.ts'
import { jsonHeaders, start, stream, whole } from './running.ts'

describe('a whole response', () => {
  test('has a Content-Length, and the connection stays open', async () => {
    const { port } = await start()
    const { text } = await rawCall(port, whole + whole)
    expect(text.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(2)
    expect(text).toMatch(/content-length: 63\r\n/)
    expect(text).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/)
  })

  test('has the gateway’s request id, and the client’s own id too', async () => {
    const { url, calls } = await start()
    const ask = (id: string): Promise<Response> =>
      fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${goodKey}`, 'x-request-id': id } })
    const [one, two] = [await ask('mine-1'), await ask('mine-1')]
    expect(one.headers.get('x-client-request-id')).toBe('mine-1')
    expect(one.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'))
    expect((await ask('not a good id')).headers.get('x-client-request-id')).toBeNull()
    expect(calls.length).toBe(0)
  })

  test('an unexpected failure is a 500 without details, and is logged', async () => {
    const { url, errors } = await start({}, fakeGateway({ identity: () => Promise.reject(new Error('SELECT secret FROM /etc/passwd')) }))
    const response = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${goodKey}` } })
    const text = await response.text()
    expect([response.status, JSON.parse(text).error.code]).toEqual([500, 'internal_error'])
    expect(text).not.toMatch(/SELECT|passwd/)
    expect(errors[0]).toContain(response.headers.get('x-request-id'))
  })

  test('needs a body in UTF-8: invalid bytes are 400, another charset is 415', async () => {
    const { url, calls } = await start()
    const status = async (body: Uint8Array<ArrayBuffer>, type: string): Promise<number> =>
      (await fetch(`${url}/v1/responses`, { method: 'POST', headers: { ...jsonHeaders, 'content-type': type }, body })).status
    const latin1 = Buffer.from('{"model":"small","input":"caf\xe9"}', 'latin1')
    expect(await status(latin1, 'application/json')).toBe(400)
    expect(await status(Buffer.from(Buffer.concat([Buffer.alloc(200_000, ' '), latin1])), 'application/json')).toBe(400)
    expect(await status(latin1, 'application/json; charset=iso-8859-1')).toBe(415)
    expect(calls).toHaveLength(0)
    expect(await status(Buffer.from('{"model":"small","input":"café"}'), 'application/json; charset="UTF-8"')).toBe(200)
  })

  test('rate limits have the time until a retry and the limiter; permanent errors say not to retry', async () => {
    const running = await start()
    const answer = async (error: GatewayError): Promise<Response> => {
      running.act = () => ({ response: Promise.reject(error) })
      return fetch(`${running.url}/v1/responses`, { method: 'POST', headers: jsonHeaders, body: '{}' })
    }
    const limited = await answer(new GatewayError('rate_limit_exceeded', { message: 'slow', limitedBy: 'provider', retryAfterMs: 20 }))
    expect(Object.fromEntries(limited.headers)).toMatchObject({
      'retry-after': '1',
      'retry-after-ms': '20',
      'x-rate-limit-source': 'provider',
    })
    expect(limited.headers.get('x-should-retry')).toBeNull()
    const unknown = await answer(new GatewayError('tokens_per_min_exceeded', { message: 'slow' }))
    expect(Object.fromEntries(unknown.headers)).toMatchObject({ 'retry-after': '1', 'x-rate-limit-source': 'routing' })
    const spent = await answer(new GatewayError('insufficient_credits', { message: 'no money' }))
    expect([spent.status, spent.headers.get('x-should-retry')]).toEqual([402, 'false'])
    const down = await answer(new GatewayError('provider_error', { message: 'down', provider: 'p\r\nx: y' }))
    expect([down.status, down.headers.get('x-should-retry')]).toEqual([502, 'false'])
  })

  test('each request is logged in one line', async () => {
    const { url, lines } = await start()
    await (await fetch(`${url}/v1/responses`, { method: 'POST', headers: jsonHeaders, body: '{"model":"small"}' })).text()
    await (await fetch(`${url}/nothing`)).text()
    await (await stream(url)).text()
    expect(lines).toEqual([
      expect.objectContaining({
        method: 'POST',
        route: '/v1/responses',
        status: 200,
        model: 'small',
        keyId: expect.any(String),
        ms: expect.any(Number),
      }),
      expect.objectContaining({
        method: 'GET',
        route: 'unmatched',
        path: expect.stringMatching(/^\/[^?]+$/),
        status: 404,
        code: 'resource_not_found',
      }),
      expect.objectContaining({ route: '/v1/responses', status: 200 }),
    ])
  })
})

test('a thousand requests pipelined on one connection all get a response', async () => {
  const { port } = await start()
  const socket: Socket = connect(port, '127.0.0.1')
  // Together: an answer may be cut anywhere.
  let text = ''
  socket.on('data', chunk => (text += chunk))
  for (let at = 0; at < 1_000; at++) socket.write(whole)
  await until(() => text.match(/HTTP\/1\.1 200/g)?.length === 1_000, 25_000)
  socket.destroy()
})
