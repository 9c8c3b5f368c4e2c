import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { asIterator } from '@signalbox/core/runtime'
import { describe, expect, test } from 'vitest'
import { rawServer, until } from '../../test/raw.ts'
import { readAll, useTransport } from '../../test/transport-requests.ts'

const { ask } = useTransport()

describe('a response that is compressed although it was not requested', () => {
  const text = JSON.stringify({ output: 'text '.repeat(50) })
  const answer = (encoding: string, body: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`), body])

  test.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('%s is decoded', async (encoding, body) => {
    const server = await rawServer(socket => void socket.write(answer(encoding, body)))
    const reply = await ask(server.url)
    expect(await readAll(reply)).toBe(text)
  })

  test.each([
    ['gzip, gzip', gzipSync(gzipSync(text))],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
    ['compress', Buffer.from(text)],
    ['__proto__', Buffer.from(text)],
  ])('%s is refused', async (encoding, body) => {
    const server = await rawServer(socket => void socket.write(answer(encoding, body)))
    await expect(ask(server.url)).rejects.toMatchObject({ code: 'UNKNOWN_ENCODING' })
  })

  test.each([
    ['plain bytes that say gzip', 'gzip', Buffer.from(text)],
    ['a gzip stream cut short', 'gzip', gzipSync(text).subarray(0, 30)],
    ['plain bytes that say br', 'br', Buffer.from(text)],
  ])('%s reject the body', async (_, encoding, body) => {
    const server = await rawServer(socket => void socket.write(answer(encoding, body)))
    await expect(ask(server.url).then(readAll)).rejects.toMatchObject({ code: 'BAD_ENCODING' })
  })

  test.each([
    ['gzip', gzipSync(Buffer.alloc(40_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(40_000_000))],
  ])('a %s bomb is cut off and its connection closed', async (encoding, body) => {
    const server = await rawServer(socket => void socket.write(answer(encoding, body)))
    await expect(ask(server.url).then(readAll)).rejects.toMatchObject({ code: 'DECODED_TOO_LARGE' })
  })

  test('a stream is decompressed as it arrives', async () => {
    const { createGzip, constants } = await import('node:zlib')
    const server = await rawServer(async socket => {
      const gzip = createGzip()
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n')
      gzip.on('data', (bytes: Buffer) =>
        socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])),
      )
      gzip.write('data: 1\n\n')
      gzip.flush(constants.Z_SYNC_FLUSH)
    })
    const body = asIterator((await ask(server.url)).body)
    const step = await body.next()
    expect(Buffer.from(step.value ?? []).toString()).toBe('data: 1\n\n')
    const waiting = body.next()
    await body.return?.()
    await waiting.catch(() => {})
    await until(() => server.sockets[0]?.destroyed === true || server.sockets[0]?.readableEnded === true)
  })
})
