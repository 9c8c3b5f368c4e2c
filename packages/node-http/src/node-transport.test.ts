import { type AddressInfo, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { asIterator } from '@signalbox/core/runtime'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { rawServer, sleep, until } from '../test/raw.ts'
import { readAll, useTransport } from '../test/transport-requests.ts'

const { ask, transport } = useTransport()

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

describe('a response', () => {
  test('has a status, headers in lower case and a body; the request asks for no compression', async () => {
    const server = await rawServer(
      socket => void socket.write('HTTP/1.1 201 Created\r\nX-One: a\r\nx-one: b\r\ncontent-length: 2\r\n\r\nhi'),
    )
    const reply = await ask(`${server.url}?a=b`)
    expect([reply.status, reply.header('x-one'), reply.header('x-two'), await readAll(reply)]).toEqual([201, 'a, b', undefined, 'hi'])
    expect(server.heard[0]).toContain('POST /v1/chat?a=b HTTP/1.1\r\n')
    expect(server.heard[0]).toContain('accept-encoding: identity\r\n')
    expect(server.heard[0]).toMatch(/content-length: 2\r\n\r\n\{\}$/)
  })

  test('connections are reused, one request at a time', async () => {
    const server = await rawServer(socket => void setTimeout(() => socket.write(ok), 20))
    await Promise.all([readAll(await ask(server.url)), readAll(await ask(server.url))])
    const [one, two] = await Promise.all([ask(server.url), ask(server.url)])
    await Promise.all([readAll(one), readAll(two)])
    for (let at = 0; at < 5; at++) await readAll(await ask(server.url))
    expect(server.sockets.length).toBe(2)
  })

  test('one read of the socket is one chunk', async () => {
    const server = await rawServer(socket => void socket.write(chunked + chunk('a') + chunk('b') + chunk('c')))
    const body = asIterator((await ask(server.url)).body)
    const step = await body.next()
    expect(Buffer.from(step.value ?? []).toString()).toBe('abc')
    await body.return?.()
  })

  test('100 and 103 before it are skipped, also in pieces', async () => {
    const pieces = ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 10', '3 Early Hints\r\nlink: </a>\r\n', '\r\nHT', `TP/1.1 ${ok.slice(9)}`]
    const server = await rawServer(async socket => {
      for (const piece of pieces) {
        socket.write(piece)
        await sleep(15)
      }
    })
    const reply = await ask(server.url)
    expect([reply.status, await readAll(reply)]).toEqual([200, 'hi'])
    expect(await readAll(await ask(server.url))).toBe('hi')
  })

  test('redirects are not followed, and no secret is sent there', async () => {
    const elsewhere = await rawServer(socket => void socket.write(ok))
    const server = await rawServer(
      socket => void socket.write(`HTTP/1.1 307 Temporary Redirect\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`),
    )
    const reply = await ask(server.url, { headers: { 'x-api-key': 'secret' } })
    expect([reply.status, await readAll(reply), elsewhere.sockets.length]).toEqual([307, '', 0])
  })

  test('without a length, it ends with the connection', async () => {
    const server = await rawServer(socket => void socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'))
    expect(await readAll(await ask(server.url))).toBe('all of it')
  })

  test('a reader that does not read pauses the sender', async () => {
    let sent = 0
    const server = await rawServer(async socket => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n')
      const block = Buffer.alloc(65_536, 120)
      let drained = (): void => {}
      socket.on('drain', () => drained()).on('close', () => drained())
      while (sent < 67_108_864 && !socket.destroyed) {
        sent += block.length
        if (!socket.write(block)) await new Promise<void>(resolve => (drained = resolve))
      }
    })
    const body = asIterator((await ask(server.url)).body)
    await sleep(200)
    const stalledAt = sent
    expect(stalledAt).toBeLessThan(20_000_000)
    let bytes = 0
    for (let step = await body.next(); !step.done; step = await body.next()) bytes += step.value.length
    expect(bytes).toBe(67_108_864)
  })
})

describe('a failed connection', () => {
  const code = async (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'an answer',
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    )

  /** Stops the clock that tells a connection closed while idle from one that broke later. */
  const stopTime = () => {
    const time = vi.spyOn(performance, 'now').mockReturnValue(1_000)
    onTestFinished(() => time.mockRestore())
    return time
  }

  test('a name that does not exist', async () => {
    expect(await code(ask('http://nowhere.invalid/v1'))).toMatch(/^NAME_NOT_FOUND: /)
  })

  test('a refused connection', async () => {
    const server = await rawServer(() => {})
    const { port } = server
    await transport().close()
    const closed = await rawServer(() => {})
    expect(await code(ask(`http://127.0.0.1:${port === closed.port ? port : 1}/`))).toBe('CONNECTION_REFUSED: The connection was refused.')
  })

  test('TLS that fails, without naming certificates', async () => {
    const server = createTlsServer({}, () => {}).listen(0)
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    expect(await code(ask(`https://localhost:${port}/`))).toMatch(/^TLS_FAILED: The TLS connection failed\.$/)
  })

  test('a TLS handshake that stalls ends at the connect timeout', async () => {
    const server = await rawServer(() => {})
    expect(await code(ask(`https://127.0.0.1:${server.port}/`))).toMatch(/^CONNECT_TIMEOUT/)
  })

  test('a reset before any byte on a fresh connection is not retried', async () => {
    const server = await rawServer(socket => void socket.resetAndDestroy())
    expect(await code(ask(server.url))).toBe('CONNECTION_RESET: The connection broke.')
    expect(server.sockets.length).toBe(1)
  })

  test.each(['reset', 'end'] as const)(
    'a kept connection that the provider closed (%s) costs one silent retry on a fresh one',
    async how => {
      stopTime()
      const server = await rawServer((socket, { connection, request }) => {
        if (connection === 0 && request === 1) how === 'reset' ? socket.resetAndDestroy() : socket.end()
        else socket.write(ok)
      })
      await readAll(await ask(server.url))
      expect(await readAll(await ask(server.url))).toBe('hi')
      expect(server.sockets.length).toBe(2)
    },
  )

  test.each(['reset', 'end'] as const)(
    'a kept connection that breaks (%s) after the provider has worked on the request is not retried: it may have been applied',
    async how => {
      const time = stopTime()
      const server = await rawServer((socket, { request }) => {
        if (request === 0) socket.write(ok)
        else {
          time.mockReturnValue(2_500)
          how === 'reset' ? socket.resetAndDestroy() : socket.end()
        }
      })
      await readAll(await ask(server.url))
      expect(await code(ask(server.url))).toMatch(/^CONNECTION_RESET: /)
      expect(server.sockets.length).toBe(1)
    },
  )

  test.each(['HTTP/1.1 2', 'HTTP/1.1 103 Early Hints\r\n\r\n'])(
    'a kept connection that breaks at once, but after %j, is not retried: the provider had begun to answer',
    async begun => {
      stopTime()
      const server = await rawServer((socket, { request }) => {
        if (request === 0) socket.write(ok)
        else socket.end(begun)
      })
      await readAll(await ask(server.url))
      expect(await code(ask(server.url))).toMatch(/^(?:CONNECTION_RESET|CUT_SHORT|BAD_ANSWER)/)
      expect(server.sockets.length).toBe(1)
    },
  )

  test('the retry is the only one', async () => {
    stopTime()
    const server = await rawServer((socket, { connection, request }) => {
      if (connection === 0 && request === 0) socket.write(ok)
      else socket.resetAndDestroy()
    })
    await readAll(await ask(server.url))
    expect(await code(ask(server.url))).toMatch(/^CONNECTION_RESET/)
    expect(server.sockets.length).toBe(2)
  })

  test('headers beyond 64 kB', async () => {
    const server = await rawServer(socket => void socket.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'a'.repeat(1000)}\r\n`.repeat(80)}\r\n`))
    expect(await code(ask(server.url))).toMatch(/^HEADERS_TOO_LARGE/)
  })

  test.each([
    ['garbage', 'this is not http\r\n\r\n'],
    ['a head with a NUL', 'HTTP/1.1 200 OK\r\nx-a: a\0b\r\ncontent-length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nhi!'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const server = await rawServer(socket => void socket.end(bytes))
    expect(await code(ask(server.url).then(readAll))).toMatch(/^(?:BAD_ANSWER|CONNECTION_RESET|CUT_SHORT)/)
  })

  test('an invalid header is refused before anything is sent', async () => {
    const server = await rawServer(socket => void socket.write(ok))
    expect(await code(ask(server.url, { headers: { 'x-a': 'a\r\nx-b: c' } }))).toMatch(/^BAD_REQUEST/)
    expect(await readAll(await ask(server.url))).toBe('hi')
  })
})

describe('a response that breaks off', () => {
  test.each([
    ['reset after the head', chunked, 'reset'],
    ['reset in the middle', chunked + chunk('half'), 'reset'],
    ['end without the last chunk', chunked + chunk('half'), 'end'],
    ['end inside a chunk', `${chunked}a\r\nhalf`, 'end'],
    ['fewer bytes than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf', 'end'],
    ['fewer bytes than announced, closing', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\nhalf', 'end'],
    ['no last chunk, closing', `HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk('half')}`, 'end'],
    ['a chunk length that is none', `${chunked}zz\r\nhalf\r\n`, 'end'],
  ] as const)('%s rejects the body', async (_, bytes, how) => {
    const server = await rawServer(async socket => {
      socket.write(bytes)
      await sleep(30)
      how === 'reset' ? socket.resetAndDestroy() : socket.end()
    })
    const asked = ask(server.url)
    await expect(asked.then(readAll)).rejects.toThrow(/\.$/)
  })

  test('the content before the break is read first', async () => {
    const server = await rawServer(async socket => {
      socket.write(chunked + chunk('half'))
      await sleep(30)
      socket.resetAndDestroy()
    })
    const body = asIterator((await ask(server.url)).body)
    await sleep(100)
    expect(Buffer.from((await body.next()).value ?? []).toString()).toBe('half')
    await expect(body.next()).rejects.toThrow('The connection broke.')
  })

  test('a reset right after the end changes nothing', async () => {
    const server = await rawServer(socket => {
      socket.write(`${chunked}${chunk('all')}0\r\n\r\n`, () => socket.resetAndDestroy())
    })
    expect(await readAll(await ask(server.url))).toBe('all')
  })
})

describe('disconnects', () => {
  const stalling = (): ReturnType<typeof rawServer> => rawServer(socket => void socket.write(chunked + chunk('a')))

  test('abort before the response closes the connection at once', async () => {
    const server = await rawServer(() => {})
    const controller = new AbortController()
    const asked = ask(server.url, { signal: controller.signal })
    await until(() => server.heard[0]?.endsWith('{}') ?? false)
    const closed = new Promise(resolve => server.sockets[0]?.once('close', resolve).once('end', resolve))
    controller.abort(new Error('gone'))
    await expect(asked).rejects.toThrow('gone')
    await closed
  })

  test('abort in the middle wakes the reader and closes the connection at once', async () => {
    const server = await stalling()
    const controller = new AbortController()
    const body = asIterator((await ask(server.url, { signal: controller.signal })).body)
    await body.next()
    const waiting = body.next()
    const closed = new Promise(resolve => server.sockets[0]?.once('close', resolve).once('end', resolve))
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await closed
  })

  test('return() closes the connection; it is not used again', async () => {
    const server = await stalling()
    const body = asIterator((await ask(server.url)).body)
    await body.next()
    const waiting = body.next()
    await body.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    await until(() => server.sockets[0]?.destroyed === true || server.sockets[0]?.readableEnded === true)
    const again = await ask(server.url)
    await asIterator(again.body).return?.()
    expect(server.sockets.length).toBe(2)
  })

  test('an abort before the start sends nothing', async () => {
    const server = await stalling()
    await expect(ask(server.url, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
    expect(server.sockets.length).toBe(0)
  })

  test('abort after the end keeps the connection, and no listener remains', async () => {
    const server = await rawServer(socket => void socket.write(ok))
    const controller = new AbortController()
    await readAll(await ask(server.url, { signal: controller.signal }))
    controller.abort()
    await readAll(await ask(server.url))
    expect(server.sockets.length).toBe(1)
  })
})

test('an unsolicited response on an idle connection reaches no other request', async () => {
  const server = await rawServer((socket, { connection, request }) => {
    socket.write(connection === 0 && request === 0 ? `${ok}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil` : ok)
  })
  expect(await readAll(await ask(server.url))).toBe('hi')
  for (let at = 0; at < 3; at++) expect(await readAll(await ask(server.url))).toBe('hi')
  const late = await rawServer((socket, { connection, request }) => {
    socket.write(ok)
    if (connection === 0 && request === 0) setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'), 20)
  })
  expect(await readAll(await ask(late.url))).toBe('hi')
  await sleep(60)
  for (let at = 0; at < 3; at++) expect(await readAll(await ask(late.url))).toBe('hi')
})

describe('the encoded body of a large request', () => {
  /** The bytes that the transport encodes from now on. */
  const encoded = (): Uint8Array[] => {
    const made: Uint8Array[] = []
    const { encode } = TextEncoder.prototype
    const spy = vi.spyOn(TextEncoder.prototype, 'encode').mockImplementation(function (this: TextEncoder, text) {
      const bytes = encode.call(this, text)
      made.push(bytes)
      return bytes
    })
    onTestFinished(() => spy.mockRestore())
    return made
  }
  const posting = (body: string) => ({ method: 'POST', headers: {}, body, signal: new AbortController().signal }) as const

  test('is freed when the response begins, after all of it was sent', async () => {
    const server = await rawServer(socket => void socket.write(chunked + chunk('a')))
    const made = encoded()
    const reply = await transport()({ ...posting('x'.repeat(200_000)), url: server.url })
    expect(made.map(({ byteLength }) => byteLength)).toEqual([0])
    expect(server.heard[0]?.endsWith('x'.repeat(200_000))).toBe(true)
    server.sockets[0]?.write(chunk('b') + chunk(''))
    expect(await readAll(reply)).toBe('ab')
    const again = await transport()({ ...posting('y'.repeat(100_000)), url: server.url })
    expect([server.sockets.length, server.heard[0]?.endsWith('y'.repeat(100_000))]).toEqual([1, true])
    await asIterator(again.body).return?.()
  })

  test('stays if the response begins before the server has read it', async () => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => void socket.pause().write(chunked + chunk('a')))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const made = encoded()
    const { port } = server.address() as AddressInfo
    const reply = await transport()({ ...posting('x'.repeat(50_000_000)), url: `http://127.0.0.1:${port}/` })
    expect([reply.status, made[0]?.byteLength]).toEqual([200, 50_000_000])
    await asIterator(reply.body).return?.()
  })

  test('bytes of the caller are never freed: another request may be sending them', async () => {
    const server = await rawServer(socket => void socket.write(ok))
    const bytes = new Uint8Array(100_000).fill(120)
    const { body: _, ...request } = posting('')
    for (let at = 0; at < 2; at++) await readAll(await transport()({ ...request, bytes, url: server.url }))
    expect(bytes.byteLength).toBe(100_000)
  })
})
