import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { delta, type Fake, fakeGateway, finished, goodKey } from '../../api/test/fake-gateway.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { serve } from '../src/index.ts'
import { rawCall, sleep, until } from './raw.ts'
import { batchesOf, start, stream } from './running.ts'
import { openWebSocket, upgradeStatus } from './web-socket-client.ts'

const bearer = { authorization: `Bearer ${goodKey}` }

/** Answers each request with these texts. */
function saying(...texts: readonly string[]): Fake {
  const fake = fakeGateway()
  fake.act = () => ({ batches: () => batchesOf([texts.map(delta), [finished]]) })
  return fake
}

/** A response that never ends, and whether its client has disconnected. */
function endless(text = 'x'): { readonly fake: Fake; readonly given: () => number; readonly left: () => boolean } {
  const fake = fakeGateway()
  let given = 0
  let left = false
  fake.act = () => ({
    batches: () => ({
      next: async () => {
        await new Promise(resolve => setImmediate(resolve))
        given += 1
        return { done: false, value: [delta(text)] }
      },
      return: async () => {
        left = true
        return { done: true, value: undefined }
      },
    }),
  })
  return { fake, given: () => given, left: () => left }
}

describe('messages', () => {
  test('each event of the stream is one message, and the connection accepts the next request', async () => {
    const { url, lines } = await start({}, saying('a', 'ü😀\n'))
    const { ask } = await openWebSocket(url, bearer)
    for (const _ of [1, 2]) {
      expect(await ask({ model: 'small', input: 'Hello' })).toMatchObject([{ delta: 'a' }, { delta: 'ü😀\n' }, { type: 'finished' }])
    }
    expect(lines.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['GET', '/v1/responses', 101],
      ['POST', '/v1/responses', 200],
      ['POST', '/v1/responses', 200],
    ])
  })

  test('run one after the other, in order', async () => {
    const { url, calls } = await start({}, saying('a'))
    const { create, heard } = await openWebSocket(url, bearer)
    for (const model of ['one', 'two', 'three']) create({ model, input: 'Hello' })
    await until(() => heard.length === 6)
    expect(heard.map(({ type }) => type)).toEqual([undefined, 'finished', undefined, 'finished', undefined, 'finished'])
    expect(calls.map(({ request: { routing } }) => routing.models[0])).toEqual(['one', 'two', 'three'])
  })

  test.each([
    ['not JSON', '{"type":', 'invalid_request'],
    ['no object', '[]', 'invalid_request'],
    ['no type', '{"model":"small"}', 'invalid_parameter_value'],
    ['another type', '{"type":"response.cancel"}', 'invalid_parameter_value'],
    ['nested deep', `{"type":"response.create","input":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'invalid_request'],
    ['a stream id', '{"type":"response.create","stream_id":"a"}', 'invalid_parameter_value'],
    ['an unknown previous response', '{"type":"response.create","previous_response_id":"resp_0"}', 'previous_response_not_found'],
    ['a broken surrogate', '{"type":"response.create","input":"\\ud800"}', 'invalid_request'],
  ])('%s is an error with its status, and the connection stays open', async (_, text, code) => {
    const { url } = await start({}, saying('a'))
    const { socket, heard, ask } = await openWebSocket(url, bearer)
    socket.send(text)
    await until(() => heard.length === 1)
    expect(heard[0]).toMatchObject({
      type: 'error',
      status: 400,
      error: { code, message: expect.any(String), type: 'invalid_request_error' },
      headers: { 'x-request-id': expect.any(String) },
    })
    expect(await ask({ input: 'Hello' })).toMatchObject([{ delta: 'a' }, { type: 'finished' }])
  })
})

describe('the upgrade', () => {
  test('is refused as a request would be', async () => {
    const { url } = await start({ webSockets: { maxConnectionsPerWorkspace: 1 } })
    expect(await upgradeStatus(url, {})).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(await upgradeStatus(url, { authorization: 'Bearer ak_bad' })).toMatchObject({ status: 401 })
    expect(await upgradeStatus(url, bearer)).toMatchObject({ status: 101, headers: { 'x-request-id': expect.any(String) } })
  })

  test('connections are counted per workspace and in total, and one that ends frees its place', async () => {
    for (const [webSockets, status, code] of [
      [{ maxConnectionsPerWorkspace: 1 }, 429, 'concurrent_requests_exceeded'],
      [{ maxConnections: 1 }, 503, 'service_unavailable'],
    ] as const) {
      const { url } = await start({ webSockets })
      const { socket } = await openWebSocket(url, bearer)
      expect(await upgradeStatus(url, bearer)).toMatchObject({ status, code, headers: { 'retry-after': '5' } })
      socket.terminate()
      await waitFor(async () => expect(await upgradeStatus(url, bearer)).toMatchObject({ status: 101 }))
    }
  })

  test.each([
    ['none', undefined, 101],
    ['its own', 'http://127.0.0.1:PORT', 101],
    ['another site', 'https://evil.example', 403],
    ['another port', 'http://127.0.0.1:1', 403],
    ['a site of `cors`', 'https://app.example', 101],
    ['no origin', 'null', 403],
  ])('from %s', async (_, origin, status) => {
    const { url, port } = await start({ cors: { origins: ['https://app.example'] } })
    const headers = origin === undefined ? bearer : { ...bearer, origin: origin.replace('PORT', String(port)) }
    expect(await upgradeStatus(url, headers)).toMatchObject({ status })
  })

  test.each(['sec-websocket-version: 7\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version: 13', ''])(
    'without a valid handshake is 400, and does not count: %s',
    async more => {
      const { port, url } = await start({ webSockets: { maxConnectionsPerWorkspace: 1 } })
      const head = `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${goodKey}\r\nconnection: upgrade\r\nupgrade: websocket\r\n`
      const { text, closed } = await rawCall(port, `${head}${more === '' ? '' : `${more}\r\n`}\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 400 /)
      expect(text).toContain('invalid_request')
      expect(closed).toBe(true)
      expect(await upgradeStatus(url, bearer)).toMatchObject({ status: 101 })
    },
  )

  test('to another protocol is ignored: the request gets its response, with its body read', async () => {
    const { port } = await start()
    const status = await new Promise(resolve => {
      const headers = { ...bearer, connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' }
      const sent = request({ port, method: 'POST', path: '/v1/responses', headers }, ({ statusCode }) => resolve(statusCode))
      sent.end('{"model":"small"}')
    })
    expect(status).toBe(200)
  })

  test('at another path gets the response of the request', async () => {
    const { url } = await start()
    expect(await upgradeStatus(`${url}/v1/chat/completions?x=`, bearer)).toMatchObject({ status: 405 })
  })
})

describe('a hostile client', () => {
  test.each<readonly [string, (send: (data: string | Buffer, options?: object) => void) => void, number]>([
    ['binary messages', send => send(Buffer.from('{}')), 1003],
    ['a message beyond the limit', send => send('x'.repeat(200_001)), 1009],
    [
      'a message beyond the limit in fragments',
      send => {
        for (let at = 0; at < 300; at += 1) send('x'.repeat(1_000), { fin: false })
      },
      1009,
    ],
    [
      'more fragments than a message may have',
      send => {
        for (let at = 0; at < 1_100; at += 1) send('x', { fin: false })
      },
      1008,
    ],
    ['invalid UTF-8', send => send(Buffer.from([0xff, 0xfe]), { binary: false }), 1007],
    [
      'more messages than may wait',
      send => {
        for (let at = 0; at < 20_000; at += 1) send('{"type":"response.create"}')
      },
      1008,
    ],
  ])('that sends %s is closed', async (_, attack, code) => {
    const { fake } = endless()
    const { url } = await start({ maxBodyBytes: 200_000 }, fake)
    const { socket, untilClosed } = await openWebSocket(url, bearer)
    attack((data, options = {}) => socket.send(data, options))
    expect(await untilClosed()).toMatchObject({ code })
    expect(await upgradeStatus(url, bearer)).toMatchObject({ status: 101 })
  })

  test('that holds too many bytes of incomplete messages is closed', async () => {
    const { url } = await start({ maxBodyBytes: 200_000, maxUploadBytesPerWorkspace: 400_000 }, saying('a'))
    const clients = await Promise.all(Array.from({ length: 3 }, () => openWebSocket(url, bearer)))
    for (const { socket } of clients) socket.send('x'.repeat(150_000), { fin: false })
    await until(() => clients.some(({ closed }) => closed() !== undefined))
    expect(clients.flatMap(({ closed }) => closed() ?? [])).toMatchObject([{ code: 1013 }])
    expect(clients.flatMap(({ heard }) => heard)).toMatchObject([{ status: 429, error: { code: 'concurrent_requests_exceeded' } }])
  })

  test('that holds many fragments of little content is closed: what is counted is the memory that they take', async () => {
    const { url } = await start({ maxBodyBytes: 200_000, maxUploadBytesPerWorkspace: 250_000 }, saying('a'))
    const clients = await Promise.all(Array.from({ length: 5 }, () => openWebSocket(url, bearer)))
    for (const { socket } of clients) for (let at = 0; at < 500; at += 1) socket.send('x', { fin: false })
    await until(() => clients.filter(({ closed }) => closed() !== undefined).length === 3)
    expect(clients.flatMap(({ closed }) => closed() ?? []).map(({ code }) => code)).toEqual([1013, 1013, 1013])
  })

  test.each([2, 20_000])('that is slow with a message of which %i bytes have arrived is cut', async bytes => {
    const { url } = await start({ bodyIdleMs: 100 }, saying('a'))
    const { socket, untilClosed } = await openWebSocket(url, bearer)
    socket.send('x'.repeat(bytes), { fin: false })
    expect(await untilClosed()).toMatchObject({ code: 1006 })
  })

  test.each<readonly [string, (socket: import('ws').WebSocket) => unknown]>([
    ['a large message', socket => socket.send(JSON.stringify({ type: 'response.create', input: 'x'.repeat(30_000) }))],
    [
      'many pings',
      async socket => {
        for (let at = 0; at < 200; at += 1) {
          socket.ping('x'.repeat(120))
          if (at % 10 === 0) await new Promise(resolve => setTimeout(resolve, 5))
        }
      },
    ],
  ])('but one that is idle after %s is not closed', async (_, talk) => {
    const { url } = await start({ bodyIdleMs: 100 }, saying('a'))
    const { socket, closed } = await openWebSocket(url, bearer)
    await talk(socket)
    await new Promise(resolve => setTimeout(resolve, 400))
    expect(closed()).toBeUndefined()
  })

  test('that does not read pauses the upstream, and is closed', async () => {
    const { fake, given, left } = endless('x'.repeat(10_000))
    const { port } = await start({ drainMs: 300 }, fake)
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const key = 'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${goodKey}\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key}\r\n\r\n`,
    )
    await new Promise(resolve => socket.once('data', resolve))
    socket.pause()
    const text = Buffer.from('{"type":"response.create"}')
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]))
    await until(left)
    // What the buffers of the two sockets hold, and no more: without a bound it would be some hundred thousand.
    expect(given()).toBeLessThan(3_000)
  })
})

describe('a client that disconnects', () => {
  test.each<readonly [string, (socket: import('ws').WebSocket) => void]>([
    ['by the closing handshake', socket => socket.close()],
    ['without a closing handshake', socket => socket.terminate()],
  ])('%s ends its upstream', async (_, leave) => {
    const { fake, left } = endless()
    const { url } = await start({}, fake)
    const { socket, create, heard } = await openWebSocket(url, bearer)
    create({ input: 'Hello' })
    await until(() => heard.length > 3)
    leave(socket)
    await until(left)
    expect(fake.calls[0]?.signal?.aborted).toBe(true)
  })
})

describe('the end of a connection', () => {
  test('is announced and happens at its maximum age', async () => {
    const { url } = await start({ webSockets: { maxAgeMs: 60 } }, saying('a'))
    const { heard, untilClosed } = await openWebSocket(url, bearer)
    expect(await untilClosed()).toMatchObject({ code: 1000 })
    expect(heard).toMatchObject([{ type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } }])
  })

  test('happens when the server closes, after the running response', async () => {
    const fake = fakeGateway()
    let finish = (): void => {}
    const later = new Promise<void>(resolve => {
      finish = resolve
    })
    fake.act = () => ({ commit: later, batches: () => batchesOf([[delta('a')], [finished]]) })
    const { url, close } = await serve(fake.gateway, { port: 0 })
    const [busy, idle] = [await openWebSocket(url, bearer), await openWebSocket(url, bearer)]
    busy.create({ input: 'Hello' })
    busy.create({ input: 'Too late' })
    await until(() => fake.calls.length === 1)
    const closing = close({ graceMs: 5_000 })
    expect(await idle.untilClosed()).toEqual({ code: 1001, reason: 'The server is shutting down.' })
    expect(busy.closed()).toBeUndefined()
    finish()
    expect(await busy.untilClosed()).toMatchObject({ code: 1001 })
    expect(busy.heard).toMatchObject([{ delta: 'a' }, { type: 'finished' }])
    await closing
    expect(fake.calls).toHaveLength(1)
  })

  test('happens at once after the grace of the server', async () => {
    const { fake, left } = endless()
    const { url, close } = await serve(fake.gateway, { port: 0 })
    const { create, heard, untilClosed } = await openWebSocket(url, bearer)
    create({ input: 'Hello' })
    await until(() => heard.length > 3)
    await close({ graceMs: 50 })
    expect(await untilClosed()).toMatchObject({ code: 1006 })
    await until(left)
  })

  test('does not affect other requests', async () => {
    const { url } = await start({}, saying('a'))
    await openWebSocket(url, bearer)
    expect((await stream(url)).status).toBe(200)
  })
})

describe('limits', () => {
  test('a connection without a message for `maxIdleMs` is closed, one that is responding is not', async () => {
    const { url } = await start({ webSockets: { maxIdleMs: 150 } }, saying('a'))
    const { ask, untilClosed } = await openWebSocket(url, bearer)
    const opened = performance.now()
    for (let turn = 0; turn < 4; turn++) {
      await sleep(80)
      await ask({ model: 'small', input: 'Hello' })
    }
    const { code, reason } = await untilClosed()
    expect(performance.now() - opened).toBeGreaterThan(4 * 80 + 100)
    expect([code, String(reason)]).toEqual([1000, 'The connection was idle for too long. Open a new connection.'])
  })

  test('a response that takes longer than `maxIdleMs` is not cut off', async () => {
    const fake = fakeGateway()
    fake.act = () => ({
      batches: () => {
        let step = 0
        return {
          next: async () => {
            await sleep(120)
            step += 1
            return step > 4 ? { done: true, value: undefined } : { done: false, value: step === 4 ? [finished] : [delta('x')] }
          },
          return: async () => ({ done: true, value: undefined }),
        }
      },
    })
    const { url } = await start({ webSockets: { maxIdleMs: 100 } }, fake)
    const { ask } = await openWebSocket(url, bearer)
    expect((await ask({ model: 'small', input: 'Hello' })).at(-1)?.type).toBe('finished')
  })

  test('a message larger than `maxMessageBytes` closes its connection, even if bodies may be larger', async () => {
    const { url } = await start({ webSockets: { maxMessageBytes: 1_000 } }, saying('a'))
    const small = await openWebSocket(url, bearer)
    expect((await small.ask({ model: 'small', input: 'x'.repeat(500) })).at(-1)?.type).toBe('finished')
    small.create({ model: 'small', input: 'x'.repeat(2_000) })
    expect((await small.untilClosed()).code).toBe(1009)
  })
})
