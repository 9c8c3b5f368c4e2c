import { createApi } from '@signalbox/api'
import type { Transport, TransportRequest } from '@signalbox/dialects/protocol'
import { createGateway, type GatewayOptions } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { answerWriters, sse } from '../src/answers/index.ts'
import { fakeClock } from '../src/index.ts'
import { type Asked, ask } from './matrix/asking.ts'
import { bytesOf, type RawAnswer, scriptedTransport } from './scripted-transport.ts'
import { waitFor } from './waits.ts'

// A provider that stops taking a workspace's own keys: which key is used next, what is charged, and which warning the workspace receives.

const operators = 'sk-operator-0123456789'
const theirs = 'sk-theirs-0123456789'
const spare = 'sk-spare-0123456789'

const told = answerWriters.chat.write({ text: 'Here.', usage: { input: 12, output: 3 } }, { model: 'm', includeUsage: true })
const json = (body: object, status = 200): RawAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  pieces: [bytesOf(JSON.stringify(body))],
})
const streamed: RawAnswer = {
  headers: { 'content-type': 'text/event-stream' },
  pieces: [bytesOf(sse([...told.opening, ...told.content, ...told.closing]))],
}

const failed = (status: number, code: string): RawAnswer => json({ error: { message: 'No.', code, type: code } }, status)

/** A provider that accepts only the keys in `taken`; `asked` has the key of each inference call, `failing` the answers to some keys. */
function vendor() {
  const taken = new Set([operators, theirs])
  const failing = new Map<string, RawAnswer>()
  const asked: string[] = []
  const answerTo = ({ method, headers, body }: TransportRequest): RawAnswer => {
    const secret = headers.authorization?.replace('Bearer ', '') ?? ''
    if (method === 'POST') asked.push(secret)
    if (!taken.has(secret)) return json({ error: { message: 'No such key.' } }, 401)
    if (method === 'GET') return json({ object: 'list', data: [] })
    const failure = failing.get(secret)
    if (failure) return failure
    return JSON.parse(String(body)).stream === true ? streamed : json(told.whole)
  }
  const transport: Transport = request => scriptedTransport(() => answerTo(request))(request)
  return { taken, asked, failing, transport }
}

const price = { input: 1e6, output: 1e6 }
const alone = {
  providers: [compatible({ id: 'vendor', baseURL: 'https://vendor.example/v1', apiKey: operators })],
  models: [{ id: 'm', offers: [{ provider: 'vendor', model: 'm', api: 'chat', price }] }],
} as const
const { credential: _, ...withoutKey } = compatible({ id: 'vendor', baseURL: 'https://vendor.example/v1' })
/** The operator has a key for `other` alone. */
const besideOther = {
  providers: [withoutKey, compatible({ id: 'other', baseURL: 'https://other.example/v1', apiKey: operators, dataPolicy: 'zdr' })],
  models: [{ id: 'm', offers: ['vendor', 'other'].map(provider => ({ provider, model: 'm', api: 'chat' as const, price })) }],
}

async function testbed({ providers, models }: Pick<GatewayOptions, 'providers' | 'models'> = alone) {
  const { taken, asked, failing, transport } = vendor()
  const clock = fakeClock()
  const gateway = createGateway({
    ...(providers && { providers }),
    ...(models && { models }),
    storage: memoryStorage(),
    sealingKey: new Uint8Array(32).fill(7),
    transport,
    clock,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  onTestFinished(() => gateway.close())
  const { id } = await gateway.workspaces.create({ name: 'W' })
  const own = gateway.workspaces(id)
  await own.billing.credit({ reference: 'start', amount: 1_000_000 })
  const { secret } = await own.apiKeys.create({ name: 'all', scopes: '*' })
  const api = createApi(gateway)
  const http = (row: string, request: Asked = {}) => ask({ api, secret }, row.replace('…', `/v1/workspaces/${id}`), request)
  const respond = (body: object = {}) => http('POST /v1/responses', { body: { model: 'm', input: 'Hi.', max_output_tokens: 10, ...body } })
  const key = await own.byokKeys.create({ provider: 'vendor', apiKey: theirs, name: 'main account' })
  const marked = (status: string) => waitFor(async () => expect((await own.byokKeys.get(key.id)).validationStatus).toBe(status))
  await marked('valid')
  return {
    gateway,
    own,
    clock,
    http,
    respond,
    key,
    marked,
    taken,
    asked,
    failing,
    balance: async () => (await own.billing.balance()).balance,
  }
}

const codesOf = (warnings: unknown): unknown => (Array.isArray(warnings) ? warnings.map(({ code }) => code) : [])

test('a response paid from credit because the workspace’s key was refused has a warning that names the key', async () => {
  const { respond, key, taken, asked, balance } = await testbed()
  const usual = await respond()
  expect([codesOf(usual.json.warnings), usual.headers['x-warnings'], await balance()]).toEqual([[], undefined, 1_000_000])
  taken.delete(theirs)
  const { status, json, headers } = await respond()
  expect([status, codesOf(json.warnings), headers['x-warnings']]).toEqual([200, ['byok_key_refused'], 'byok_key_refused'])
  expect(json.warnings).toMatchObject([{ message: expect.stringContaining(key.id) }])
  expect(json.warnings).toMatchObject([{ message: expect.stringContaining('`own_keys_only`') }])
  expect(asked).toEqual([theirs, theirs, operators])
  expect(await balance()).toBe(1_000_000 - 15_000_000 / 1_000_000)
})

test('later responses have the warning too, in every dialect and at the end of a stream, until the key is disabled or replaced', async () => {
  const { own, clock, http, respond, key, marked, taken, asked } = await testbed()
  taken.delete(theirs)
  await respond()
  await marked('invalid')
  asked.length = 0
  const messages = [{ role: 'user', content: 'Hi.' }]
  const answers = await Promise.all([
    respond(),
    respond({ stream: true }),
    http('POST /v1/chat/completions', { body: { model: 'm', messages } }),
    http('POST /v1/messages', { body: { model: 'm', max_tokens: 10, messages } }),
  ])
  for (const { status, headers, text } of answers) {
    expect([status, headers['x-warnings']]).toEqual([200, 'byok_key_refused'])
    expect(text).toContain('byok_key_refused')
    expect(text).toContain('main account')
    expect(text).not.toContain('sk-')
  }
  expect(new Set(asked)).toEqual(new Set([operators]))
  expect(codesOf((await respond({ gateway: { routing: { byok_first: false } } })).json.warnings)).toEqual([])
  await own.byokKeys.update(key.id, { disabled: true })
  expect(codesOf((await respond()).json.warnings)).toEqual([])
  const other = 'sk-other-0123456789'
  taken.add(other)
  await own.byokKeys.update(key.id, { disabled: false, apiKey: other })
  await marked('valid')
  // An account that refused a call is not used for a minute.
  await clock.advance(61_000)
  expect(codesOf((await respond()).json.warnings)).toEqual([])
  expect(asked.at(-1)).toBe(other)
})

test('if only the workspace’s keys are allowed, a request without a working key fails with advice, and no credit is spent', async () => {
  const { own, http, respond, marked, taken, asked, balance, key } = await testbed()
  expect((await http('GET …/settings')).json).toMatchObject({ own_keys_only: false })
  expect((await http('PATCH …/settings', { body: { own_keys_only: true } })).json).toMatchObject({ own_keys_only: true })
  expect(await own.settings.get()).toMatchObject({ ownKeysOnly: true })
  const [event] = await own.auditEvents.list({ event: 'settings.updated' })
  expect(JSON.parse(event?.changes ?? '')).toEqual({ own_keys_only: true })
  expect((await respond()).status).toBe(200)
  taken.delete(theirs)
  asked.length = 0
  // The key is found out to be refused within this request.
  const first = await respond()
  expect(first).toMatchObject({ status: 502, json: { error: { code: 'provider_error', message: expect.stringContaining(key.id) } } })
  await marked('invalid')
  for (const stream of [false, true]) {
    expect(await respond({ stream })).toMatchObject({
      status: 400,
      json: { error: { code: 'routing_constraint_unsatisfiable', message: expect.stringContaining('`own_keys_only`') } },
    })
  }
  expect([asked, await balance()]).toEqual([[theirs], 1_000_000])
  await own.settings.update({ ownKeysOnly: null })
  expect((await respond()).headers['x-warnings']).toBe('byok_key_refused')
})

test('a setting that is not a boolean is a 400 that names it', async () => {
  const { http, own } = await testbed()
  expect(await http('PATCH …/settings', { body: { own_keys_only: 'yes' } })).toMatchObject({
    status: 400,
    json: { error: { param: 'own_keys_only' } },
  })
  await expect(own.settings.update({ ownKeysOnly: 'yes' as unknown as boolean })).rejects.toMatchObject({
    facts: { param: 'ownKeysOnly' },
  })
})

const failures: readonly [string, RawAnswer][] = [
  ['limited', failed(429, 'rate_limit_exceeded')],
  ['out of quota', failed(429, 'insufficient_quota')],
  ['refused', failed(401, 'invalid_api_key')],
  ['forbidden', failed(403, 'permission_denied')],
]

test.each(failures)('after the default key is %s, the next key of the workspace serves, and no credit is spent', async (_, failure) => {
  const { own, respond, key, taken, asked, failing, balance } = await testbed()
  taken.add(spare)
  const { id } = await own.byokKeys.create({ provider: 'vendor', apiKey: spare, name: 'spare account' })
  failing.set(theirs, failure)
  for (const ownKeysOnly of [false, true]) {
    await own.settings.update({ ownKeysOnly })
    for (const stream of [false, true])
      expect(await respond({ stream })).toMatchObject({
        status: 200,
        headers: expect.not.objectContaining({ 'x-warnings': expect.anything() }),
      })
  }
  expect(asked.slice(0, 2)).toEqual([theirs, spare])
  expect(asked.filter(secret => secret === spare)).toHaveLength(4)
  expect(asked).not.toContain(operators)
  expect(await balance()).toBe(1_000_000)
  const [first] = (await own.analytics.requests({ limit: 4 })).slice(-1)
  const { attempts } = (await own.analytics.routing(first?.id ?? '')) ?? {}
  expect(attempts).toMatchObject([{ offer: `vendor/m@own:${key.id}` }, { offer: `vendor/m@own:${id}` }])
})

test.each(failures)(
  'if all keys of a workspace are %s, credit pays with a warning, and keys of others are not affected',
  async (_, failure) => {
    const { gateway, own, respond, taken, asked, failing, balance } = await testbed()
    taken.add(spare)
    await own.byokKeys.create({ provider: 'vendor', apiKey: spare, name: 'spare account' })
    for (const secret of [theirs, spare]) failing.set(secret, failure)
    const first = await respond()
    const later = await respond({ stream: true })
    expect(asked.slice(0, 3)).toEqual([theirs, spare, operators])
    expect(asked.slice(3).at(-1)).toBe(operators)
    for (const { status, headers, text } of [first, later]) {
      expect([status, headers['x-warnings']]).toEqual([200, expect.stringMatching(/^byok_key_(unavailable|refused)$/)])
      expect(text).not.toContain('sk-')
    }
    expect(await balance()).toBe(1_000_000 - 30)
    // Another workspace with the same account, and one without any.
    failing.clear()
    taken.add('sk-others-0123456789')
    asked.length = 0
    for (const apiKey of ['sk-others-0123456789', undefined]) {
      const { id } = await gateway.workspaces.create({ name: 'Other' })
      const other = gateway.workspaces(id)
      await other.billing.credit({ reference: 'start', amount: 1_000_000 })
      if (apiKey !== undefined) await other.byokKeys.create({ provider: 'vendor', apiKey, name: 'others' })
      const { secret } = await other.apiKeys.create({ name: 'all' })
      await gateway.responses.create({ model: 'm', input: 'Hi.' }, { apiKey: secret })
    }
    expect(asked).toEqual(['sk-others-0123456789', operators])
  },
)

test('a monthly limit of calls with own keys gives a warning when credit pays beyond it', async () => {
  const { own, respond, asked } = await testbed()
  await own.subscription.set({ plan: 'p', status: 'active', byokMonthlyRequestCap: 1 })
  expect((await respond()).headers['x-warnings']).toBeUndefined()
  expect((await respond()).json.warnings).toMatchObject([
    { code: 'byok_key_unavailable', message: expect.stringContaining('monthly limit') },
  ])
  expect(asked).toEqual([theirs, operators])
})

test('a response by another provider, for which the operator has a key, names the own keys that were not used, and why', async () => {
  const { own, respond, key, marked, taken, asked } = await testbed(besideOther)
  const warned = async (gateway: object = {}) => (await respond({ gateway })).json.warnings ?? []
  const named = { message: expect.stringContaining(key.id) }
  expect(await warned()).toEqual([])
  await own.settings.update({ dataPolicyRequired: 'zdr' })
  expect(await warned()).toMatchObject([{ code: 'byok_key_unavailable', ...named }])
  await own.settings.update({ dataPolicyRequired: null })
  await own.subscription.set({ plan: 'p', status: 'active', byokMonthlyRequestCap: 1 })
  expect(await warned()).toMatchObject([{ code: 'byok_key_unavailable', ...named }])
  await own.subscription.set({ plan: 'p', status: 'active', byokMonthlyRequestCap: 1_000 })
  taken.delete(theirs)
  expect(await warned()).toMatchObject([{ code: 'byok_key_refused', ...named }])
  await marked('invalid')
  asked.length = 0
  expect(await warned()).toMatchObject([{ code: 'byok_key_refused', ...named }])
  for (const routing of [{ only: ['other'] }, { order: ['other', 'vendor'] }, { byok_first: false }])
    expect([routing, await warned({ routing })]).toEqual([routing, []])
  expect(new Set(asked)).toEqual(new Set([operators]))
})
