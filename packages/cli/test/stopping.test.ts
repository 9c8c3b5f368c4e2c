import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { start } from '../src/server.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { ask, launch, listening, newFolder } from './launch.ts'
import { upstream } from './upstream.ts'

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const story = { model: 'sim/story', input: 'home', stream: true }

/** Tests in which signals do not differ: the default run has them once. */
const sameForAll = (signal: NodeJS.Signals): boolean => inject('isLongRun') || signal === 'SIGTERM'

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  test('lets a stream finish, refuses new requests meanwhile, and exits with 0', async () => {
    const server = await listening()
    const stream = await ask(server, story)
    server.child.kill(signal)
    await server.says(`${signal}: shutting down`)
    const ready = await fetch(`${server.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not_ready', problems: ['The gateway is shutting down.'] }])
    const late = await ask(server, { model: 'sim/echo', input: 'x' })
    expect([late.status, await late.json()]).toMatchObject([503, { error: { code: 'service_unavailable' } }])
    const text = await stream.text()
    expect(text).toContain('"type":"response.completed"')
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(server.lines().at(-1)).toMatchObject({ status: 200, model: 'sim/story', output_tokens: expect.any(Number) })
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
  })

  if (sameForAll(signal))
    test('exits if the server is idle', async () => {
      const server = await listening()
      // An idle connection must not delay the exit.
      await (await fetch(`${server.url}/healthz`)).text()
      server.child.kill(signal)
      expect(await server.exited).toEqual({ code: 0, signal: null })
    })

  if (sameForAll(signal))
    test('closes the connection of each reply from then on: refusals and probes', async () => {
      const server = await listening()
      const stream = await ask(server, story)
      server.child.kill(signal)
      await server.says(`${signal}: shutting down`)
      const headers = { authorization: `Bearer ${server.key}`, connection: 'keep-alive' }
      const replies = [
        ['GET', '/healthz'],
        ['HEAD', '/readyz'],
        ['GET', '/v1/models'],
        ['GET', '/nowhere'],
        ['POST', '/v1/responses'],
      ].map(async ([method, path]) => [path, (await overKeptConnection(`${server.url}${path}`, { method, headers })).connection])
      expect(await Promise.all(replies)).toEqual(
        ['/healthz', '/readyz', '/v1/models', '/nowhere', '/v1/responses'].map(path => [path, 'close']),
      )
      expect(await stream.text()).toContain('"type":"response.completed"')
      expect(await server.exited).toEqual({ code: 0, signal: null })
    })

  test('exits at once when it is repeated', async () => {
    const { baseURL } = await upstream()
    const server = await listening({ config: stallingConfig(baseURL) })
    const stream = await ask({ url: server.url, key: adminKey }, { model: 'small', input: 'x', stream: true })
    expect(stream.status).toBe(200)
    server.child.kill(signal)
    await server.says(`${signal}: shutting down`)
    await pause(300)
    expect(server.child.exitCode).toBe(null)
    server.child.kill(signal)
    expect((await server.exited).code).toBe(signal === 'SIGTERM' ? 143 : 130)
    await stream.text().catch(() => {})
  })

  if (sameForAll(signal))
    test('forwarded twice, as package runners do, counts once', async () => {
      const server = await listening()
      const stream = await ask(server, story)
      server.child.kill(signal)
      server.child.kill(signal)
      await server.says(`${signal}: shutting down`)
      server.child.kill(signal)
      expect(await stream.text()).toContain('"type":"response.completed"')
      expect(await server.exited).toEqual({ code: 0, signal: null })
    })
})

/** The headers of the reply to a client that keeps its connections. */
async function overKeptConnection(url: string, options: RequestOptions): Promise<IncomingHttpHeaders> {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const [reply] = await once(request(url, { ...options, agent }).end(), 'response')
  reply.resume()
  return reply.headers
}

test('the time of running requests is a setting', async () => {
  const { baseURL } = await upstream()
  const server = await listening({ config: stallingConfig(baseURL), variables: { SIGNALBOX_SHUTDOWN_MS: '200' } })
  const stream = await ask({ url: server.url, key: adminKey }, { model: 'small', input: 'x', stream: true })
  server.child.kill('SIGTERM')
  await server.says('Running requests have 0.2 s to finish.')
  expect(await stream.text()).toContain('The gateway is shutting down.')
  expect(await server.exited).toEqual({ code: 0, signal: null })
})

test('a signal during the start ends it', async () => {
  const launched = launch()
  await pause(50)
  launched.child.kill('SIGTERM')
  expect(await launched.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

const adminKey = 'ak_my-own-admin-key'
const stallingConfig = (baseURL: string) => ({
  port: 0,
  catalog: 'none',
  admin_key: adminKey,
  providers: [{ id: 'local', base_url: baseURL }],
  models: [{ id: 'small', offers: [{ provider: 'local', provider_model_id: 'm', dialect: 'chat', price: { input: 1, output: 1 } }] }],
})

describe('a stream that outlasts the grace period', () => {
  test('is ended and settled', async () => {
    const { rows, balance, log } = await outlasting()
    expect(log).toContain('"model":"small"')
    expect(rows).toMatchObject([{ model: 'small', provider: 'local', cost: expect.any(Number) }])
    expect(balance).toMatchObject({ held: 0, spent: rows[0]?.cost })
  })

  test('ends with a proper error', async () => {
    const { text, rows } = await outlasting()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'service_unavailable' }])
    expect(rows).toMatchObject([{ result: 'error' }])
  })
})

/** A stream that never ends by itself, the stop of its server, and what the books say afterwards. */
async function outlasting() {
  const { baseURL } = await upstream()
  const folder = newFolder()
  const file = join(folder, 'config.json')
  const path = join(folder, 'books.db')
  writeFileSync(file, JSON.stringify({ ...stallingConfig(baseURL), storage: `sqlite:${path}` }))
  let log = ''
  const sink = { write: (text: string) => (log += text) }
  const server = await start(readConfig({}, { file }), { environment: {}, version: '0.0.0', sink })
  const stream = await ask({ url: `http://127.0.0.1:${server.port}`, key: adminKey }, { model: 'small', input: 'x', stream: true })
  const [text] = await Promise.all([stream.text(), server.stop({ graceMs: 200 })])

  const storage = await openStorage(namedStorage(`sqlite:${path}`))
  const [{ id: workspaceId } = { id: '' }] = await storage.records.list({ kind: 'workspace', limit: 1 })
  const rows = await storage.usage.list({ workspaceId, from: 0, to: Date.now() + 1, limit: 10 })
  const balance = await storage.ledger.balance(`credit:${workspaceId}`)
  await storage.close()
  return { text, log, rows, balance }
}
