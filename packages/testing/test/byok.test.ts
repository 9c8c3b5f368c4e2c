import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApi } from '@signalbox/api'
import { createGateway } from '@signalbox/gateway'
import { nodeTransport } from '@signalbox/node-http'
import { compatible } from '@signalbox/providers'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from './matrix/asking.ts'
import { waitFor } from './waits.ts'

// Over real sockets and a real database, as sent over HTTP.

const good = 'vendor-key-0123456789abcdef'

/** A vendor that knows one key. */
async function vendor() {
  const seen: string[] = []
  const server = createServer((request, reply) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    request.resume()
    const known = request.headers.authorization === `Bearer ${good}`
    const body = known ? { object: 'list', data: [] } : { error: { message: `No such key: ${request.headers.authorization}` } }
    reply.writeHead(known ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { seen, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

async function testbed() {
  const { seen, baseURL } = await vendor()
  const folder = mkdtempSync(join(tmpdir(), 'byok-'))
  const transport = nodeTransport()
  const gateway = createGateway({
    providers: [compatible({ id: 'vendor', baseURL })],
    models: [{ id: 'm', offers: [{ provider: 'vendor', model: 'm', api: 'chat', price: { input: 1, output: 1 } }] }],
    storage: sqliteStorage(join(folder, 'signalbox.db')),
    facts: [
      {
        id: 'vendor',
        displayName: 'Vendor',
        dataPolicy: 'no_training',
        tiers: [{ tier: 'standard', displayName: 'Standard', dataPolicy: 'no_training', qualification: 'Any' }],
      },
    ],
    sealingKey: new Uint8Array(32).fill(7),
    transport,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  onTestFinished(async () => {
    await gateway.close()
    await transport.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id } = await gateway.workspaces.create({ name: 'W' })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'all', scopes: '*' })
  const call = (line: string, body?: unknown) => {
    const [method, path] = line.split(' ')
    return ask({ api: createApi(gateway), secret }, `${method} /v1/workspaces/${id}/byok-keys${path}`, body === undefined ? {} : { body })
  }
  return { seen, call, gateway, workspaceId: id }
}

test('a key is added, read, changed, refused and deleted; no response contains its secret', async () => {
  const { seen, call, gateway, workspaceId } = await testbed()
  const texts: string[] = []
  const told = async (line: string, body?: unknown) => {
    const answer = await call(line, body)
    texts.push(answer.text)
    return answer
  }
  const isShared = gateway.isShared ? 'pending' : null
  const made = await told('POST ', { provider: 'vendor', api_key: good, name: 'mine' })
  expect(made.status).toBe(202)
  expect(made.json).toEqual({
    id: expect.any(String),
    workspace_id: workspaceId,
    provider: 'vendor',
    name: 'mine',
    key_prefix: 'vendor…',
    is_default: true,
    disabled: false,
    validation_status: 'pending',
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
    account_tier: 'standard',
    account_tier_source: 'fallback',
    last_validated_at: null,
    propagation_status: isShared,
  })
  const { id } = made.json
  await waitFor(async () =>
    expect((await told(`GET /${id}`)).json).toMatchObject({ validation_status: 'valid', last_validated_at: expect.any(String) }),
  )
  expect(await told('POST ', { provider: 'vendor', api_key: good, name: 'again' })).toMatchObject({
    status: 409,
    json: { error: { code: 'duplicate_resource' } },
  })
  expect((await told('GET ')).json).toMatchObject({ object: 'list', count: 1, data: [{ id }] })
  expect(await told(`PATCH /${id}`, { provider: 'other' })).toMatchObject({ status: 400, json: { error: { code: 'field_immutable' } } })
  expect((await told(`PATCH /${id}`, { account_tier: 'standard', name: 'renamed' })).json).toMatchObject({
    name: 'renamed',
    account_tier_source: 'user_specified',
  })
  const bad = 'other-key-0123456789abcdef'
  expect((await told(`PATCH /${id}`, { api_key: bad })).json).toMatchObject({ validation_status: 'pending', last_validated_at: null })
  expect(await told(`POST /${id}/validate`)).toMatchObject({ status: 202, json: { validation_status: 'invalid' } })
  const deleted = await told(`DELETE /${id}`)
  expect([deleted.status, deleted.json]).toEqual([202, { id, propagation_status: isShared, message: expect.any(String) }])
  expect((await told(`GET /${id}`)).status).toBe(404)
  expect(new Set(seen)).toEqual(new Set([`GET /v1/models Bearer ${good}`, `GET /v1/models Bearer ${bad}`]))
  expect(texts.join()).not.toMatch(/key-0123456789/)
})

test.each([
  [{ provider: 'vendro' }, 'provider', /Did you mean "vendor"/],
  [{ api_key: 'two words and more' }, 'api_key', /visible ASCII/],
  [{ api_key: undefined }, 'api_key', /missing/],
  [{ account_tier: 'gold' }, 'account_tier', /standard/],
  [{ extra: { region: 'x' } }, 'extra', /takes nothing/],
  [{ data_policy: 'zdr' }, 'data_policy', /no field/],
])('a body with %j is a 400 that names the field', async (fields, param, words) => {
  const { call, seen } = await testbed()
  const { status, json } = await call('POST ', { provider: 'vendor', api_key: good, name: 'mine', ...fields })
  expect(json.error).toMatchObject({ param, message: expect.stringMatching(words) })
  expect([status, seen]).toEqual([400, []])
})
