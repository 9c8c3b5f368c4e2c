import { Agent } from 'node:http'
import { expect, test } from 'vitest'
import { ask, below, dial, hear } from './client.ts'
import { type Fixture, inferencePath, question } from './fixture.ts'

/** Status codes, ids, reused connections, and forbidden headers. */
export function describeHttpSemantics(fixture: () => Fixture): void {
  test('HEAD returns the status and headers of GET without a body', async () => {
    const { url, headers } = fixture()
    const get = await ask({ url, path: '/v1/models', method: 'GET', headers })
    const head = await ask({ url, path: '/v1/models', method: 'HEAD', headers })
    expect([get.status, head.status]).toEqual([200, 200])
    expect(get.text.length).toBeGreaterThan(10)
    expect(head.text).toBe('')
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
  })

  test('an unchanged resource returns 304 without a body, and the connection stays open', async () => {
    const { url, headers } = fixture()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      const { headers: known, text, port } = await ask({ url, path: '/v1/models', method: 'GET', headers, agent })
      const had = { ...headers, 'if-none-match': String(known.etag) }
      for (const method of ['GET', 'HEAD', 'GET']) {
        const answer = await ask({ url, path: '/v1/models', method, headers: had, agent })
        expect([answer.status, answer.text, answer.headers.etag, answer.port]).toEqual([304, '', known.etag, port])
        for (const name of ['content-length', 'transfer-encoding', 'content-type']) expect(answer.headers[name]).toBeUndefined()
      }
      const all = await ask({ url, path: '/v1/models', method: 'GET', headers: { ...headers, 'if-none-match': '"other"' }, agent })
      expect([all.status, all.text, all.port]).toEqual([200, text, port])
    } finally {
      agent.destroy()
    }
  })

  test('a method that a path does not support returns 405 with the supported ones', async () => {
    const { url, headers } = fixture()
    const { status, headers: told, text } = await ask({ url, path: inferencePath, method: 'GET', headers })
    expect(status).toBe(405)
    expect(told.allow).toContain('POST')
    expect(JSON.parse(text).error.code).toBe('method_not_allowed')
  })

  test('a WebSocket is opened, or refused with 426, so that clients use POST at once', async () => {
    const { url, headers } = fixture()
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = await dial(url)
    socket.write(
      `GET ${below(url, inferencePath)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}connection: Upgrade\r\nupgrade: websocket\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    const isAnswered = (text: string): boolean => text.startsWith('HTTP/1.1 101') || text.includes('upgrade_required')
    const { text } = await hear(socket, { enough: isAnswered })
    socket.destroy()
    expect(text).toMatch(/^HTTP\/1\.1 (101 |426 )/)
    expect(isAnswered(text)).toBe(true)
  })

  test('an unknown path returns 404 in JSON', async () => {
    const { url, headers } = fixture()
    for (const path of ['/v1/nothing', '/v1//models', '/v1/%2e%2e/models', '/V1/models', '/v1/models;x=1']) {
      const { status, text } = await ask({ url, path, method: 'GET', headers })
      expect([path, status]).toEqual([path, 404])
      expect(JSON.parse(text).error).toMatchObject({ message: expect.any(String), type: expect.any(String) })
    }
  })

  test('every response has a unique X-Request-ID', async () => {
    const { url, headers } = fixture()
    const answers = [
      await ask({ url, path: inferencePath, headers, body: question('test-model', false) }),
      await ask({ url, path: inferencePath, headers, body: question('test-model', true) }),
      await ask({ url, path: inferencePath, headers, body: 'not json' }),
      await ask({ url, path: inferencePath, body: question('test-model', false) }),
      await ask({ url, path: '/v1/nothing', method: 'GET' }),
      await ask({ url, path: '/v1/models', method: 'PUT', headers, body: '{}' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 404, 405])
    const ids = answers.map(answer => answer.headers['x-request-id'])
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._-]{8,128}$/)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a connection is reused, also after errors', async () => {
    const { url, headers } = fixture()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      const answers = [
        await ask({ url, path: '/v1/nothing', method: 'GET', agent }),
        await ask({ url, path: inferencePath, body: question('test-model', false), agent }),
        await ask({ url, path: inferencePath, headers, body: '{"model":', agent }),
        await ask({ url, path: inferencePath, method: 'DELETE', headers, agent }),
        await ask({ url, path: inferencePath, headers, body: question('fault:status-500', false), agent }),
        await ask({ url, path: inferencePath, headers, body: question('test-model', true), agent }),
        await ask({ url, path: inferencePath, headers, body: question('test-model', false), agent }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([404, 401, 400, 405, 502, 200, 200])
      expect(new Set(answers.map(({ port }) => port)).size).toBe(1)
    } finally {
      agent.destroy()
    }
  })

  test('malformed and unknown credentials all get the same 401', async () => {
    const { url, headers } = fixture()
    const { authorization, ...rest } = headers
    const odd = [
      '',
      'Bearer',
      'Bearer ',
      'Basic eDp5',
      'Bearer ak_unknown',
      `${authorization}x`,
      `${authorization}, ${authorization}`,
      `Bearer ${'k'.repeat(8_000)}`,
      'Bearer é',
    ]
    const answers = await Promise.all(
      odd.map(value => ask({ url, path: inferencePath, headers: { ...rest, authorization: value }, body: question('test-model', false) })),
    )
    for (const [at, { status, text }] of answers.entries())
      expect([odd[at], status, text.replaceAll(/"request_id":"[^"]*"/g, '')]).toEqual([
        odd[at],
        401,
        answers[0]?.text.replaceAll(/"request_id":"[^"]*"/g, ''),
      ])
  })

  const oddities: readonly (readonly [what: string, lines: readonly string[]])[] = [
    ['a length and chunks at once', ['content-length: 5', 'transfer-encoding: chunked']],
    ['two lengths', ['content-length: 5', 'content-length: 6']],
    ['a negative length', ['content-length: -1']],
    ['a length in words', ['content-length: five']],
    ['an unknown transfer coding', ['transfer-encoding: rot13']],
    ['a folded header', ['x-folded: one', ' two']],
    ['a header without a name', [': value']],
    ['a blank in a name', ['x bad: value']],
    ['a NUL in a value', ['x-null: a\u0000b']],
    ['a bare line feed', ['x-one: a\nx-two: b']],
    ['bytes beyond ASCII', ['x-request-id: ü\u00ff', 'x-client-request-id: \u00e9']],
    ['100 kB in one header', [`x-huge: ${'h'.repeat(100_000)}`]],
    ['2,000 headers', Array.from({ length: 2_000 }, (_, index) => `x-${index}: 1`)],
    ['an upgrade', ['connection: upgrade', 'upgrade: websocket']],
    ['two hosts', ['host: one', 'host: two']],
    ['method and path overridden', ['x-http-method-override: DELETE', 'x-original-url: /v1/me', 'x-forwarded-host: evil.example']],
    ['an expectation', ['expect: the-unexpected']],
    ['a compressed body', ['content-encoding: gzip', 'content-length: 5']],
    ['a charset of its own', ['content-type: application/json; charset=utf-16', 'content-length: 2']],
  ]

  test.each(oddities)('%s is refused or the connection closed, never with 500, and the next request succeeds', async (_, lines) => {
    const { url, secret, headers, upstream } = fixture()
    const known = upstream.requests.length
    const socket = await dial(url)
    const heard = hear(socket, { enough: text => /^HTTP\/1\.1 [2-5]\d\d [\s\S]*\r\n\r\n/.test(text) })
    socket.write(
      Buffer.from(
        `POST ${below(url, inferencePath)} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${secret}\r\n${lines.join('\r\n')}\r\n\r\nhello`,
        'latin1',
      ),
    )
    const { text, ended } = await heard
    socket.destroy()
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)
    if (status === 0) expect(ended).toBe(true)
    else expect([status >= 400 && status < 500, status]).toEqual([true, status])
    expect(upstream.requests.length).toBe(known)
    expect((await ask({ url, path: '/v1/models', method: 'GET', headers })).status).toBe(200)
  })
}
