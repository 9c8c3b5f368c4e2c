import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { rawCall, sleep, until } from './raw.ts'
import { auth, jsonHeaders, post, start, whole } from './running.ts'

describe('a body that is too large', () => {
  const limit = { maxBodyBytes: 1000 }

  test('with a length: 413 at once, connection closed, and most of it unread', async () => {
    const { port, calls } = await start(limit)
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let sent = 0
    let over = false
    socket
      .on('data', chunk => (text += chunk))
      .on('error', () => (over = true))
      .on('close', () => (over = true))
    socket.write(post(`${auth}content-length: 500000000\r\n`))
    const block = Buffer.alloc(65_536, 32)
    while (!over && sent < 500_000_000) {
      sent += block.length
      if (!socket.write(block)) await Promise.race([new Promise(resolve => socket.once('drain', resolve)), until(() => over, 5_000)])
    }
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text).toMatch(/connection: close\r\n/i)
    expect(JSON.parse(text.slice(text.indexOf('{'))).error.code).toBe('request_too_large')
    expect(sent).toBeLessThan(60_000_000)
    expect(calls.length).toBe(0)
  })

  test('without a length: counted as it arrives', async () => {
    const { port } = await start(limit)
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`
    const { text, closed } = await rawCall(port, [post(`${auth}transfer-encoding: chunked\r\n`), chunk, chunk, chunk], 2_000)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(closed).toBe(true)
  })

  test('exactly at the limit is accepted', async () => {
    const { url } = await start(limit)
    const body = `{"a":"${'x'.repeat(1000 - 8)}"}`
    const send = (text: string): Promise<Response> => fetch(`${url}/v1/responses`, { method: 'POST', headers: jsonHeaders, body: text })
    expect((await send(body)).status).toBe(200)
    expect((await send(`${body} `)).status).toBe(413)
  })

  test('from a client without a key: 401, and the upload is not read', async () => {
    const { port } = await start()
    const { text, closed } = await rawCall(port, post('content-length: 5000000\r\n', 'x'), 2_000)
    expect(text).toMatch(/^HTTP\/1\.1 401 /)
    expect(closed).toBe(true)
  })

  test('a small one behind a refusal is discarded, and the connection stays', async () => {
    const { port } = await start()
    const { text } = await rawCall(port, [post('content-length: 17\r\n', '{"model":"small"}'), whole])
    expect(text.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
  })

  test('a body in an unknown coding or of another type is refused', async () => {
    const { url } = await start()
    const send = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/v1/responses`, { method: 'POST', headers: { ...jsonHeaders, ...headers }, body: '{}' })
    expect((await send({ 'content-encoding': 'compress' })).status).toBe(415)
    expect((await send({ 'content-type': 'text/html' })).status).toBe(415)
    expect((await send({ 'content-type': 'application/json; charset=utf-8' })).status).toBe(200)
    expect((await send({ 'content-type': 'application/vnd.x+json' })).status).toBe(200)
  })

  test('an upload that drips is aborted too, though it is never silent', async () => {
    const { port, calls } = await start({ bodyIdleMs: 150 })
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', chunk => (text += chunk)).on('error', () => {})
    socket.write(post(`${auth}content-length: 100\r\n`, '{'))
    const drip = setInterval(() => socket.write(' '), 30)
    await until(() => text !== '')
    clearInterval(drip)
    socket.destroy()
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(calls.length).toBe(0)
  })

  test('a slow but steady upload is read', async () => {
    const { port } = await start({ bodyIdleMs: 150 })
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', chunk => (text += chunk)).on('error', () => {})
    socket.write(post(`${auth}content-length: 2000\r\n`, '{'))
    for (let at = 0; at < 4; at++) {
      await sleep(60)
      socket.write(at < 3 ? ' '.repeat(600) : `${' '.repeat(198)}}`)
    }
    await until(() => text !== '')
    socket.destroy()
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('a silent upload is aborted', async () => {
    const { port } = await start({ bodyIdleMs: 100 })
    const { text, closed } = await rawCall(port, post(`${auth}content-length: 100\r\n`, '{'), 3_000)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(closed).toBe(true)
  })
})
