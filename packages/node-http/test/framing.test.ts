import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { completed, delta } from '../../api/test/fake-gateway.ts'
import { rawCall, sleep, until } from './raw.ts'
import { auth, post, start, whole } from './running.ts'

describe('framing', () => {
  const smuggled = 'GET /v1/me HTTP/1.1\r\nhost: x\r\nx-smuggled: 1\r\n\r\n'
  const cases: readonly (readonly [string, string])[] = [
    ['a length and chunks', post(`${auth}content-length: 4\r\ntransfer-encoding: chunked\r\n`, `0\r\n\r\n${smuggled}`)],
    ['chunks and a length', post(`${auth}transfer-encoding: chunked\r\ncontent-length: 4\r\n`, `0\r\n\r\n${smuggled}`)],
    ['two lengths', post(`${auth}content-length: 2\r\ncontent-length: 60\r\n`, `{}${smuggled}`)],
    ['two equal lengths', post(`${auth}content-length: 2\r\ncontent-length: 2\r\n`, `{}${smuggled}`)],
    ['a list of lengths', post(`${auth}content-length: 2, 2\r\n`, `{}${smuggled}`)],
    ['a signed length', post(`${auth}content-length: +2\r\n`, `{}${smuggled}`)],
    ['a hex length', post(`${auth}content-length: 0x2\r\n`, `{}${smuggled}`)],
    ['chunked twice', post(`${auth}transfer-encoding: chunked, chunked\r\n`, `0\r\n\r\n${smuggled}`)],
    ['chunked, then something', post(`${auth}transfer-encoding: chunked, identity\r\n`, `0\r\n\r\n${smuggled}`)],
    ['a coding nobody knows', post(`${auth}transfer-encoding: xchunked\r\n`, `0\r\n\r\n${smuggled}`)],
    ['a folded header', post(`${auth}transfer-encoding:\r\n chunked\r\ncontent-length: 4\r\n`, `0\r\n\r\n${smuggled}`)],
    ['a space before the colon', post(`${auth}transfer-encoding : chunked\r\ncontent-length: 4\r\n`, `0\r\n\r\n${smuggled}`)],
    ['bare line feeds', post(`${auth}content-length: 2\n`, `{}${smuggled}`).replace('host: x\r\n', 'host: x\n')],
    ['a bad chunk length', post(`${auth}transfer-encoding: chunked\r\n`, `0x0\r\n\r\n${smuggled}`)],
    ['a chunk longer than said', post(`${auth}transfer-encoding: chunked\r\n`, `1\r\n{}\r\n0\r\n\r\n${smuggled}`)],
    ['a bare CR in a chunk extension', post(`${auth}transfer-encoding: chunked\r\n`, `2;a\rb\r\n{}\r\n0\r\n\r\n${smuggled}`)],
  ]

  test.each(cases)('%s: refused and closed, and the bytes behind are never a request', async (_, bytes) => {
    const { port, lines } = await start()
    const { text, closed } = await rawCall(port, bytes, 1_500)
    expect(text.match(/HTTP\/1\.1 \d+/g)?.filter(status => status !== 'HTTP/1.1 400') ?? []).toEqual([])
    expect(text).toMatch(/x-content-type-options: nosniff\r\n/)
    expect(closed).toBe(true)
    expect(lines.some(line => line.route === '/v1/me')).toBe(false)
  })

  test('chunks are read correctly, also with extensions and trailers', async () => {
    const { port } = await start()
    const { text } = await rawCall(
      port,
      post(`${auth}transfer-encoding: chunked\r\ntrailer: x-a\r\n`, '1;a=b\r\n{\r\n1\r\n}\r\n0\r\nx-a: b\r\n\r\n') + whole,
    )
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  })

  test('garbage behind a running request does not get into its response', async () => {
    const running = await start()
    let at = 0
    running.act = () => ({
      batches: () => ({
        next: async () => {
          await sleep(30)
          return at++ < 5 ? { done: false, value: [delta(String(at))] } : { done: true, value: undefined }
        },
      }),
    })
    const socket = connect(running.port, '127.0.0.1')
    let text = ''
    let closed = false
    socket
      .on('data', chunk => {
        text += chunk
      })
      .on('close', () => {
        closed = true
      })
    socket.write(post(`${auth}content-length: 15\r\n`, '{"stream":true}'))
    await until(() => text.includes('"delta"'))
    socket.write('this is not HTTP\r\n\r\n')
    await until(() => closed)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
    const answer = text.slice(0, text.indexOf('HTTP/1.1 400'))
    expect(answer.match(/"delta":"\d"/g)).toHaveLength(5)
    expect(answer).toMatch(/\r\n0\r\n\r\n$/)
  })

  test('garbage behind requests without a response yet replaces none of the responses, and ends the connection after them', async () => {
    const running = await start()
    running.act = () => ({ response: sleep(60).then(() => completed) })
    const { text, closed } = await rawCall(running.port, [whole, whole, 'this is not HTTP\r\n\r\n', 'nor is this\r\n\r\n'], 2_000)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
    expect([closed, running.calls.length]).toEqual([true, 2])
  })

  test('a request with two hosts, or with HTTP/2 in its request line, is refused', async () => {
    const { port, lines } = await start()
    for (const head of [
      `GET /v1/me HTTP/1.1\r\nhost: a\r\nHost: b\r\n${auth}\r\n`,
      `GET /v1/me HTTP/1.1\r\nhost: a\r\nhost: a\r\n${auth}\r\n`,
      `GET /v1/me HTTP/2.0\r\nhost: a\r\n${auth}\r\n`,
    ]) {
      const { text, closed } = await rawCall(port, [head, whole], 1_500)
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
      expect(text).toMatch(/x-request-id: [\w-]{36}\r\n/i)
      expect(closed).toBe(true)
    }
    expect(lines).toEqual([])
  })

  test('a request line with an absolute URL is routed by its path; the host has no effect', async () => {
    const { port } = await start()
    const { text } = await rawCall(port, `GET http://evil.example/v1/me HTTP/1.1\r\nhost: other.example\r\n${auth}\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each([
    ['no host', 'GET /v1/me HTTP/1.1\r\n', /^HTTP\/1\.1 400 .*"code":"invalid_request"/s],
    [
      'chunks in a version that has none',
      'POST /v1/responses HTTP/1.0\r\ntransfer-encoding: chunked\r\n',
      /^HTTP\/1\.1 400 .*"code":"invalid_request"/s,
    ],
    ['an expectation that is not known', 'GET /v1/me HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\nconnection: close\r\n', /^HTTP\/1\.1 200 /],
  ])('a request with %s is answered as documented', async (_, head, answer) => {
    const { port } = await start()
    const { text } = await rawCall(port, `${head}${auth}\r\n${head.includes('chunked') ? '2\r\n{}\r\n0\r\n\r\n' : ''}`)
    expect(text).toMatch(answer)
    expect(text).toMatch(/x-request-id: .+\r\n/)
  })

  test.each(['http://evil.example?/v1/me', 'http://evil.example#/v1/me', 'http://evil.example'])(
    'no part of %s behind the host is a path: what answers is the root, or nothing',
    async target => {
      const { port, lines } = await start()
      const { text } = await rawCall(port, `GET ${target} HTTP/1.1\r\nhost: other.example\r\n${auth}\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 (40[04] |200 .*"openapi":"\/v1\/openapi\.json")/s)
      expect(lines.some(line => line.route === '/v1/me')).toBe(false)
    },
  )
})

test.each([
  '//v1/me',
  '/v1//me',
  '/v1/../v1/me',
  '/v1/./me',
  '/v1/%6de',
  '/v1/me/',
  '/v1/me;x',
  '/V1/me',
  '/v1/me%00',
  '/v1%2fme',
  '/%2e%2e/v1/me',
  '/v1\\me',
  '*',
])('the path %s is not found, with a key or without', async path => {
  const { port, lines } = await start()
  const { text } = await rawCall(
    port,
    `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-original-url: /v1/me\r\nx-http-method-override: GET\r\n${auth}\r\n`,
  )
  expect(text).toMatch(/^HTTP\/1\.1 404 /)
  expect(lines.every(line => line.keyId === undefined)).toBe(true)
})

test.each(['TRACE', 'PUT', 'DELETE', 'PROPFIND'])('%s is refused with the allowed methods', async method => {
  const { port } = await start()
  const { text } = await rawCall(port, `${method} /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  expect(text).toMatch(/^HTTP\/1\.1 405 /)
  expect(text).toMatch(/allow: POST, OPTIONS\r\n/)
})
