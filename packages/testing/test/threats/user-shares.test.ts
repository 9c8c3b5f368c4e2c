import { type ClientRequest, createServer, type RequestOptions, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { type NodeOptions, toNodeHandler } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { openWebSocket, upgradeStatus } from '../../../node-http/test/web-socket-client.ts'
import { waitUntil } from '../waits.ts'

// One user of an app who uses as much as possible, with others of the same workspace.

const quiet = { info() {}, warn() {}, error() {} }
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }

interface Fixture {
  readonly gateway: Gateway
  readonly url: string
}

async function createFixture(options: NodeOptions): Promise<Fixture> {
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'small', offers: [offer] }],
    storage: memoryStorage(),
    logger: quiet,
  })
  await gateway.workspaces.create({ id: 'app', name: 'app', billing: 'postpaid' })
  const listener = toNodeHandler(gateway, {
    ...options,
    authenticate: ({ headers: { cookie } }) => (cookie === undefined ? undefined : { workspace: 'app', user: cookie }),
  })
  const server = createServer(listener).on('upgrade', listener.upgrade)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    listener.closeWebSockets({ cut: true })
    server.closeAllConnections()
    server.close()
    await gateway.close()
  })
  return { gateway, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

test('a user has as many WebSockets as its share, over all its sessions; others of the workspace can open theirs', async () => {
  const { gateway, url } = await createFixture({ webSockets: { maxConnectionsPerUser: 2, maxConnectionsPerWorkspace: 5 } })
  const { sessions, apiKeys } = gateway.workspaces('app')
  const [one, other] = await Promise.all([1, 2].map(() => sessions.create({ user: 'ann' })))
  const first = await openWebSocket(url, { cookie: 'ann' })
  await openWebSocket(url, bearer(one?.token ?? ''))
  for (const headers of [{ cookie: 'ann' }, bearer(one?.token ?? ''), bearer(other?.token ?? '')])
    expect(await upgradeStatus(url, headers)).toMatchObject({ status: 429, code: 'concurrent_requests_exceeded' })
  const ben = await openWebSocket(url, { cookie: 'ben' })
  expect((await ben.ask(ask)).at(-1)?.type).toBe('response.completed')
  // Keys share the rest of the workspace.
  const { secret } = await apiKeys.create({ name: 'k' })
  for (const _ of [1, 2]) await openWebSocket(url, bearer(secret))
  expect((await upgradeStatus(url, bearer(secret))).status).toBe(429)
  expect((await upgradeStatus(url, { cookie: 'cem' })).status).toBe(429)
  first.socket.close()
  await waitUntil(async () => (await upgradeStatus(url, { cookie: 'ann' })).status === 101)
})

test('a user has as many concurrent body bytes as its share, and does not block others', async () => {
  const { url } = await createFixture({ maxBodyBytes: 1_000_000, maxUploadBytesPerUser: 1_000_000, maxUploadBytesPerWorkspace: 2_500_000 })
  const begin = (cookie: string, bytes: number): ClientRequest => {
    const headers = { cookie, 'content-type': 'application/json', 'content-length': bytes }
    const sending = request(`${url}/v1/responses`, { method: 'POST', headers, agent: false } as RequestOptions)
    sending.on('error', () => {})
    sending.write(JSON.stringify({ ...ask, metadata: { x: 'x' } }).slice(0, -1))
    return sending
  }
  const statusOf = (sending: ClientRequest) =>
    new Promise<number>(resolve => sending.on('response', response => resolve(response.resume().statusCode ?? 0)))
  const sent = (cookie: string) =>
    fetch(`${url}/v1/responses`, { method: 'POST', headers: { cookie, 'content-type': 'application/json' }, body: JSON.stringify(ask) })
  const held = begin('ann', 990_000)
  await waitUntil(async () => (await statusOf(begin('ann', 20_000))) === 429)
  for (let n = 0; n < 9; n++) expect(await statusOf(begin('ann', 20_000))).toBe(429)
  const others = ['ben', 'cem'].map(cookie => begin(cookie, cookie === 'ben' ? 990_000 : 400_000))
  expect((await sent('ben')).status).toBe(200)
  expect((await sent('dee')).status).toBe(200)
  held.destroy()
  for (const each of others) each.destroy()
  await waitUntil(async () => (await sent('ann')).status === 200)
})
