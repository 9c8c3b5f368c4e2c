import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runCatalogUpdate } from '../src/catalog-update.ts'
import { refused, serving } from './in-process.ts'
import { ask } from './launch.ts'
import { adminKey, meteredConfig, meteredUpstream } from './workers.ts'

/** A proxy that forwards, whatever the host is, to the port of the URL on this machine. */
async function openProxy() {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? '')
    const { port, pathname } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    incoming.pipe(request({ host: '127.0.0.1', port, path: pathname, method, headers }, reply => reply.pipe(response)))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { asked, url: `http://me:secret@127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('providers are called through the proxy of the environment, which the start message names without its password', async () => {
  const proxy = await openProxy()
  const baseURL = (await meteredUpstream()).replace('127.0.0.1', 'provider.example')
  const variables = { http_proxy: proxy.url, NO_PROXY: 'localhost' }
  const server = await serving({ config: { ...meteredConfig(baseURL), workers: 1 }, variables })
  expect((await ask({ ...server, key: adminKey }, { model: 'm', input: 'x' })).status).toBe(200)
  expect(proxy.asked).toEqual([`${baseURL}/chat/completions`])
  expect(server.out()).toMatch(/^proxy: {5}http:\/\/…@127\.0\.0\.1:\d+, not for localhost$/m)
  expect(server.out()).not.toContain('secret')
})

test('hosts of NO_PROXY are called directly', async () => {
  const proxy = await openProxy()
  const server = await serving({
    config: { ...meteredConfig(await meteredUpstream()), workers: 1 },
    variables: { http_proxy: proxy.url, no_proxy: '127.0.0.1' },
  })
  expect((await ask({ ...server, key: adminKey }, { model: 'm', input: 'x' })).status).toBe(200)
  expect(proxy.asked).toEqual([])
})

test('a proxy of another kind is refused at the start, without its password', async () => {
  expect((await refused({ variables: { HTTPS_PROXY: 'socks5://me:secret@proxy:1080' } })).line).toBe(
    'HTTPS_PROXY is not the URL of an HTTP proxy; it takes `http://HOST:PORT` or `https://HOST:PORT`.',
  )
})

test('an update of the catalog uses the proxy', async () => {
  const proxy = await openProxy()
  const server = createServer((_, response) => void response.end('{}'))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const source = `http://prices.example:${(server.address() as AddressInfo).port}/api.json`
  const context = { environment: { http_proxy: proxy.url }, today: '2026-11-28', print: () => {} }
  await expect(runCatalogUpdate(['--out', 'unused.json', '--source', `models.dev=${source}`], context)).rejects.toThrow(/not updated/)
  expect(proxy.asked).toEqual([source])
})
