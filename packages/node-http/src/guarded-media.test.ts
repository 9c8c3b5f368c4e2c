import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { guardedMedia } from './guarded-media.ts'
import { isPublic } from './public-addresses.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function listening(answer: RequestListener): Promise<{ readonly url: string; readonly seen: () => number }> {
  let seen = 0
  const server = createServer((request, response) => {
    seen += 1
    answer(request, response)
  })
  open.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen: () => seen }
}

const wanted = { maxBytes: 1_000, signal: new AbortController().signal, onBytes: () => true }
const png = Buffer.from('89504e470d0a1a0a', 'hex')
const image: RequestListener = (_, response) => response.writeHead(200, { 'content-type': 'image/png; charset=binary' }).end(png)
/** A home setup: plain http, and access to the local machine. */
const home = guardedMedia({ allowHttp: true, isAllowed: () => true })

test('an image is returned as its bytes', async () => {
  const { url } = await listening(image)
  expect(await home(url, wanted)).toEqual({ ok: true, mediaType: 'image/png', base64: png.toString('base64') })
})

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  'localhost',
])('addresses of this machine are refused, spelled as %s', async host => {
  const { url, seen } = await listening(image)
  const found = await guardedMedia({ allowHttp: true })(url.replace('127.0.0.1', host), wanted)
  expect(found).toMatchObject({ ok: false, why: 'the address is not public' })
  expect(seen()).toBe(0)
})

test.each([
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::1',
  'ff02::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '2001:db8::1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:0:127.0.0.1',
  '::ffff:7f00:1',
  '5f00::1',
  'c000::1',
])('%s is not public', address => {
  expect(isPublic(address)).toBe(false)
})

test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'])('%s is public', address => {
  expect(isPublic(address)).toBe(true)
})

test('a redirect is checked like the original URL', async () => {
  const { url: inside, seen } = await listening(image)
  const { url } = await listening((_, response) => response.writeHead(302, { location: inside.replace('127.0.0.1', '127.0.0.2') }).end())
  const onlyOne = guardedMedia({ allowHttp: true, isAllowed: address => address === '127.0.0.1' })
  expect(await onlyOne(url, wanted)).toMatchObject({ ok: false, why: 'the address is not public' })
  expect(seen()).toBe(0)
})

test('an endless redirect is refused', async () => {
  const { url } = await listening((_, response) => response.writeHead(302, { location: '/again' }).end())
  expect(await home(url, wanted)).toEqual({ ok: false, why: 'it has too many redirects' })
})

test('a body over the limit is not read', async () => {
  const { url } = await listening((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(1_001)))
  expect(await home(url, wanted)).toEqual({ ok: false, why: 'it is larger than 1000 bytes' })
})

test('a body announced as too large is refused before its bytes arrive', async () => {
  const { url } = await listening((_, response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1_001 }).flushHeaders()
  })
  expect(await home(url, wanted)).toEqual({ ok: false, why: 'it is larger than 1000 bytes' })
})

test('bytes are reported as they arrive, and a body for which there is no memory is not read further', async () => {
  const closed = Promise.withResolvers<void>()
  const { url } = await listening((_, response) => {
    response.on('close', closed.resolve)
    response.writeHead(200, { 'content-type': 'image/png' }).write(Buffer.alloc(600))
  })
  const reported: number[] = []
  const onBytes = (bytes: number): boolean => {
    reported.push(bytes)
    return false
  }
  expect(await home(url, { ...wanted, onBytes })).toEqual({ ok: false, why: 'there is no memory for it' })
  await closed.promise
  expect(reported).toEqual([600])
})

test.each<[string, RequestListener]>([
  ['its server answered with status 404', (_, response) => response.writeHead(404).end()],
  ['it is neither an image nor a document', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')],
  [
    'its server sent a compressed response',
    (_, response) => response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(gzipSync(png)),
  ],
  ['its server could not be reached in time', request => request.socket.destroy()],
])('%s: has a readable message', async (why, answer) => {
  const { url } = await listening(answer)
  expect(await home(url, wanted)).toEqual({ ok: false, why })
})

test.each([
  ['only https:// URLs are supported', 'http://example.com/a.png'],
  ['only https:// URLs are supported', 'file:///etc/passwd'],
  ['URLs with a user name or password are not supported', 'https://user:secret@example.com/a.png'],
  ['it is not a valid URL', 'nowhere'],
])('%s: %s', async (why, url) => {
  expect(await guardedMedia()(url, wanted)).toEqual({ ok: false, why })
})
