import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { waitFor } from '../../testing/test/waits.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { type Asking, failing, linesOf, look, newFolder, stop } from './launch.ts'
import { adminKey, clientAgent, cost, countOutcomes, meteredConfig, meteredUpstream, post, workersListening } from './workers.ts'

const all = inject('isLongRun') ? { workers: 4, requests: 1_000, affordable: 333 } : { workers: 2, requests: 150, affordable: 50 }

describe('several workers', () => {
  test(`admit exactly ${all.affordable} of ${all.requests} requests on the credit for them`, async () => {
    const folder = newFolder()
    const config = meteredConfig(await meteredUpstream(), {
      workers: all.workers,
      workspace: { credit_usd: (all.affordable * cost) / 1_000_000 },
    })
    const server = await workersListening(all.workers, { folder, config })
    const agent = clientAgent(64)
    const outcomes = await Promise.all(Array.from({ length: all.requests }, (_, at) => post(server, { stream: at % 4 === 0, agent })))
    expect(countOutcomes(outcomes)).toEqual({ 200: all.affordable, 402: all.requests - all.affordable })
    expect(await stop(server)).toEqual({ code: 0, signal: null })

    const lines = server.lines()
    const requests = lines.filter(({ route }) => route === '/v1/chat/completions')
    expect(requests).toHaveLength(all.requests)
    expect(new Set(requests.map(({ worker }) => worker)).size).toBe(all.workers)
    const storage = await openStorage(namedStorage(`sqlite:${join(folder, 'signalbox.db')}`))
    const [{ id } = { id: '' }] = await storage.records.list({ kind: 'workspace', limit: 1 })
    expect(await storage.ledger.balance(`credit:${id}`)).toMatchObject({ balance: 0, held: 0 })
    const rows = await storage.usage.list({ workspaceId: id, from: 0, to: Date.now() + 1, limit: 10_000 })
    expect(rows.filter(({ cost: paid }) => paid > 0)).toHaveLength(all.affordable)
    await storage.close()
  })

  test('share the limit of a minute, the first key and the start message', async () => {
    const config = { ...meteredConfig(await meteredUpstream(), { limits: { inference_rpm: 50 } }), admin_key: undefined }
    const args = ['--workers', String(all.workers)]
    const server = await workersListening(all.workers, { config: { ...config, workers: undefined }, args })
    const agent = clientAgent(32)
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => post(server, { agent })))
    expect(countOutcomes(outcomes)).toEqual({ 200: 50, 429: 150 })
    expect((await look(server, '/readyz')).status).toBe(200)
    await stop(server, 'SIGINT')
    expect(server.out().match(/listens on/g)).toHaveLength(1)
    expect(server.out().match(/shown this once/g)).toHaveLength(1)
    expect(server.out()).toContain(`workers:   ${all.workers}\n`)
  })

  // One start of the processes for both, which takes longer than the requests.
  test('find items of responses stored by another worker, and all refuse a key soon after one has revoked it', async () => {
    const server = await workersListening(2, { config: meteredConfig(await meteredUpstream()) })
    const ask = async (input: unknown): Promise<{ readonly status: number; readonly output: readonly { readonly id: string }[] }> => {
      const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', connection: 'close' }
      const body = JSON.stringify({ model: 'm', input })
      const response = await fetch(`${server.url}/v1/responses`, { method: 'POST', headers, body })
      return { ...((await response.json()) as { output: readonly { id: string }[] }), status: response.status }
    }
    const { output } = await ask('x')
    const references = [...output.map(({ id }) => ({ type: 'item_reference', id })), { role: 'user', content: 'y' }]
    const found = await Promise.all(Array.from({ length: 8 }, () => ask(references).then(({ status }) => status)))
    expect(found).toEqual(found.map(() => 200))

    const { workspace } = (await callJson(server, '/v1/me')) as { readonly workspace: { readonly id: string } }
    const keys = `/v1/workspaces/${workspace.id}/api-keys`
    const made = (await callJson(server, keys, { method: 'POST', body: { name: 'short', scopes: ['inference:invoke'] } })) as {
      readonly id: string
      readonly api_key: string
    }
    const statuses = () =>
      Promise.all(Array.from({ length: 8 }, () => post({ url: server.url, key: made.api_key }, { agent: new Agent() })))
    // Now both have it in their cache.
    expect(countOutcomes(await statuses())).toEqual({ 200: 8 })
    const revokedAt = performance.now()
    await callJson(server, `${keys}/${made.id}`, { method: 'DELETE' })
    await waitFor(async () => expect(countOutcomes(await statuses())).toEqual({ 401: 8 }), { interval: 100 })
    // A second, with twenty times the room.
    expect(performance.now() - revokedAt).toBeLessThan(20_000)
    await stop(server)
    const workersOf = (wanted: object): number =>
      new Set(server.lines().flatMap(line => (Object.entries(wanted).every(([key, value]) => line[key] === value) ? [line.worker] : [])))
        .size
    expect(workersOf({ route: '/v1/responses' })).toBe(2)
    expect(workersOf({ route: '/v1/chat/completions', status: 401 })).toBe(2)
  })
})

interface CallOptions {
  readonly method?: string
  readonly body?: unknown
}

async function callJson({ url, key }: Asking, path: string, { method = 'GET', body }: CallOptions = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  expect(response.ok).toBe(true)
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

describe('a start with workers that lacks a resource reports it once', () => {
  test('if the port is in use', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, out, err, files } = await failing({ variables: { PORT: String(port), SIGNALBOX_WORKERS: '2' } })
    other.close()
    expect(err).toBe(`signalbox: Port ${port} on 127.0.0.1 is in use; stop the other program, or set another \`port\` (PORT).\n`)
    expect({ code, out, files }).toEqual({ code: 1, out: '', files: [] })
  })

  test('if a worker cannot use the storage', async () => {
    const { code, out, err } = await failing({ variables: { SIGNALBOX_WORKERS: '2', SIGNALBOX_STORAGE: 'sqlite:nowhere/x.db' } })
    expect(err).toBe(
      'signalbox: The sealing key nowhere/x.db.key cannot be written (ENOENT). Check that its folder exists and can be written.\n',
    )
    expect({ code, out }).toEqual({ code: 1, out: '' })
  })

  test('if each process would have its own storage', async () => {
    const { code, err } = await failing({ variables: { SIGNALBOX_WORKERS: 'auto', SIGNALBOX_STORAGE: 'memory:' } })
    expect(err).toMatch(/^signalbox: `workers` is "auto" and `storage` is "memory:", which is separate in each process: .*\n$/)
    expect({ code, lines: linesOf(err) }).toEqual({ code: 1, lines: [] })
  })

  test('if the number is invalid', async () => {
    const { err } = await failing({ args: ['--workers', 'many'] })
    expect(err).toBe('signalbox: `--workers` is "many"; it takes `auto`, or a whole number from 1 to 128.\n')
  })
})
