import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../../testing/src/chaos/certificate.ts'
import { guardedMedia, nodeTransport, proxyFetch, proxyFromEnvironment } from '../src/index.ts'
import { createProxySelector, type ProxyOptions } from '../src/transport/proxy.ts'
import { readAll } from './transport-requests.ts'

const { key, cert } = selfSigned({ name: 'localhost' })

async function listen<Listening extends Server>(server: Listening): Promise<number> {
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Servers that answer with the request's path and headers. */
const echo = (incoming: IncomingMessage, response: NodeJS.WritableStream): void =>
  void response.end(JSON.stringify({ path: incoming.url, headers: incoming.headers }))

const secureServer = (): Promise<number> => listen(createSecureServer({ key, cert }, echo))

/** A real proxy: tunnels for CONNECT, forwards whole URLs, and refuses requests without the password, if there is one. */
async function openProxy({ password, isSecure = false }: { readonly password?: string; readonly isSecure?: boolean } = {}) {
  const asked: string[] = []
  const isWelcome = ({ headers }: IncomingMessage): boolean =>
    password === undefined || headers['proxy-authorization'] === `Basic ${Buffer.from(password).toString('base64')}`
  const server = isSecure ? createSecureServer({ key, cert }) : createServer()
  server.on('connect', (incoming: IncomingMessage, socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    socket.on('error', () => {})
    if (!isWelcome(incoming)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const port = Number(incoming.url?.split(':').at(-1))
    const target = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    target.on('error', () => socket.destroy()).pipe(socket)
    socket.pipe(target)
  })
  server.on('request', (incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    const { pathname, port } = new URL(incoming.url ?? '')
    const { 'proxy-authorization': secret, ...headers } = incoming.headers
    if (!isWelcome(incoming)) return void response.writeHead(407).end()
    incoming.pipe(request({ port, host: '127.0.0.1', path: pathname, method: incoming.method, headers }, reply => reply.pipe(response)))
  })
  const port = await listen(server)
  const credentials = password === undefined ? '' : `${password.replace('@', '%40')}@`
  return { asked, url: `http${isSecure ? 's' : ''}://${credentials}localhost:${port}` }
}

const using = (proxy: ProxyOptions) => {
  const transport = nodeTransport({ connectMs: 2_000, proxy, tls: { ca: cert } })
  onTestFinished(() => transport.close())
  return async (url: string) => {
    const reply = await transport({ url, method: 'POST', headers: {}, body: '{}', signal: new AbortController().signal })
    return { status: reply.status, text: await readAll(reply) }
  }
}

describe('calls of providers', () => {
  test.each([false, true])('https goes through a tunnel, with TLS to the server; the proxy itself by TLS: %s', async isSecure => {
    const proxy = await openProxy({ isSecure })
    const port = await secureServer()
    const call = using({ https: proxy.url })
    const replies = [await call(`https://localhost:${port}/v1/chat`), await call(`https://localhost:${port}/v1/chat`)]
    expect(replies.map(({ text }) => JSON.parse(text).path)).toEqual(['/v1/chat', '/v1/chat'])
    // The connection is kept.
    expect(proxy.asked).toEqual([`CONNECT localhost:${port}`])
  })

  test('http is forwarded by the proxy, which gets the whole URL', async () => {
    const proxy = await openProxy({ password: 'me:p@ss' })
    const port = await listen(createServer(echo))
    const { text } = await using({ http: proxy.url })(`http://localhost:${port}/v1/chat`)
    expect(proxy.asked).toEqual([`POST http://localhost:${port}/v1/chat`])
    expect(JSON.parse(text)).toMatchObject({ path: '/v1/chat', headers: { host: `localhost:${port}` } })
  })

  test('credentials of the proxy reach the proxy alone', async () => {
    const proxy = await openProxy({ password: 'me:p@ss' })
    const port = await secureServer()
    const { text } = await using({ https: proxy.url })(`https://localhost:${port}/`)
    expect(proxy.asked).toHaveLength(1)
    expect(JSON.parse(text).headers).not.toHaveProperty('proxy-authorization')
  })

  test('a proxy that refuses, and one that is not there, are named as such', async () => {
    const { url } = await openProxy({ password: 'me:other' })
    const port = await secureServer()
    await expect(using({ https: url.replace('other', 'wrong') })(`https://localhost:${port}/`)).rejects.toMatchObject({
      code: 'PROXY_REFUSED',
    })
    const open = await listen(createServer(echo))
    await expect(using({ http: url.replace('other', 'wrong') })(`http://localhost:${open}/`)).rejects.toMatchObject({
      code: 'PROXY_REFUSED',
    })
    await expect(using({ http: 'http://127.0.0.1:1' })(`https://localhost:${port}/`)).rejects.toMatchObject({ code: 'PROXY_UNREACHABLE' })
    await expect(using({ http: '127.0.0.1:1' })(`http://localhost:${port}/`)).rejects.toMatchObject({ code: 'PROXY_UNREACHABLE' })
  })

  test('hosts of NO_PROXY are called directly', async () => {
    const proxy = await openProxy()
    const port = await secureServer()
    await using({ https: proxy.url, noProxy: 'localhost' })(`https://localhost:${port}/`)
    expect(proxy.asked).toEqual([])
  })
})

test('other calls use the proxy too', async () => {
  const proxy = await openProxy()
  const port = await secureServer()
  const reply = await proxyFetch({ proxy: { https: proxy.url }, tls: { ca: cert } })(`https://localhost:${port}/api.json`)
  expect(await reply.json()).toMatchObject({ path: '/api.json' })
  expect(proxy.asked).toEqual([`CONNECT localhost:${port}`])
})

test('media go through the proxy to the address that was checked, and a forbidden address is not asked for', async () => {
  const proxy = await openProxy()
  const image = createServer((_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('png'))
  const port = await listen(image)
  const read = guardedMedia({
    allowHttp: true,
    isAllowed: address => address === '127.0.0.1' || address === '::1',
    proxy: { http: proxy.url },
  })
  const limits = { maxBytes: 100, signal: new AbortController().signal, onBytes: () => true }
  expect(await read(`http://localhost:${port}/a.png`, limits)).toMatchObject({ ok: true, mediaType: 'image/png' })
  expect(proxy.asked).toEqual([expect.stringMatching(/^CONNECT (?:127\.0\.0\.1|\[::1\]):\d+$/)])
  const guarded = guardedMedia({ allowHttp: true, proxy: { http: proxy.url } })
  expect(await guarded(`http://localhost:${port}/a.png`, limits)).toEqual({ ok: false, why: 'the address is not public' })
  expect(proxy.asked).toHaveLength(1)
})

/** What NO_PROXY holds, the URL, and whether it is called directly. */
const entries: readonly (readonly [noProxy: string, url: string, isDirect: boolean])[] = [
  ['example.com', 'https://example.com/', true],
  ['example.com', 'https://api.example.com/', true],
  ['example.com', 'https://notexample.com/', false],
  ['.example.com', 'https://example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com', 'https://api.example.com/', true],
  ['EXAMPLE.com', 'https://API.example.COM./', true],
  ['example.com:8443', 'https://example.com:8443/', true],
  ['example.com:443', 'https://example.com/', true],
  ['example.com:80', 'https://example.com/', false],
  ['a.com, b.com c.com', 'https://c.com/', true],
  ['::1', 'https://[::1]:8443/', true],
  ['[::1]:8443', 'https://[::1]:8443/', true],
  ['[::1]:443', 'https://[::1]:8443/', false],
  ['10.0.0.1', 'http://10.0.0.1:11434/', true],
  ['10.0.0.0/8', 'http://10.1.2.3:11434/', true],
  ['10.0.0.0/8', 'http://11.0.0.1/', false],
  ['127.0.0.1/32,fd00::/8', 'http://[fd12::1]:80/', true],
  ['10.0.0.0/33', 'http://10.0.0.1/', false],
  ['*', 'https://example.com/', true],
  ['', 'https://example.com/', false],
]

test.each(entries)('NO_PROXY=%s and %s', (noProxy, url, isDirect) => {
  const select = createProxySelector({ http: 'http://proxy:3128', noProxy })
  expect(select(new URL(url)) === undefined).toBe(isDirect)
})

describe('variables', () => {
  test('lower case wins, also if it is empty', () => {
    expect(proxyFromEnvironment({ http_proxy: 'a:1', HTTP_PROXY: 'b:1', NO_PROXY: 'x' })).toEqual({ http: 'a:1', noProxy: 'x' })
    expect(proxyFromEnvironment({ https_proxy: '', HTTPS_PROXY: 'http://b:1' })).toBeUndefined()
    expect(proxyFromEnvironment({})).toBeUndefined()
  })

  test('https uses the proxy of http unless it has its own', () => {
    const url = new URL('https://example.com')
    expect(createProxySelector({ http: 'http://a:1' })(url)?.host).toBe('a:1')
    expect(createProxySelector({ http: 'http://a:1', https: 'b:2' })(url)?.host).toBe('b:2')
  })

  test.each(['socks5://a:1', 'http://', 'http://%ff:x@a'])('%s is refused, and not quoted', text => {
    expect(() => proxyFromEnvironment({ HTTPS_PROXY: text })).toThrow(/^HTTPS_PROXY is not the URL of an HTTP proxy; it takes/)
  })
})
