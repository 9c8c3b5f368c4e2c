import { createApi } from '@signalbox/api'
import { responsesProvider } from '@signalbox/dialects'
import { usd } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { describe, expect, test } from 'vitest'
import { acts, type FakeClock, fakeClock, scriptedProvider, testGateway, testPrice } from '../src/index.ts'
import { ask } from './matrix/asking.ts'

const models = ['one', 'two', 'three'].map(id => ({
  id,
  offers: [{ provider: 'p', model: id, api: 'responses', price: testPrice }],
}))

async function scene({ storage = memoryStorage(), clock = fakeClock() }: { readonly storage?: Storage; readonly clock?: FakeClock } = {}) {
  const provider = scriptedProvider({ id: 'p', dialect: responsesProvider, clock })
  const { gateway, caller, secret } = await testGateway({ storage, clock, providers: [provider], models })
  const api = createApi(gateway)
  const w = gateway.workspaces(caller.workspaceId)
  const send = (key: string, model: string) => ask({ api, secret: key }, 'POST /v1/responses', { body: { model, input: 'Hi' } })
  const statuses = async (key: string, ...asked: readonly string[]) => {
    const found: number[] = []
    for (const model of asked) found.push((await send(key, model)).status)
    return found
  }
  const usage = async (id: string, period = 'month') =>
    (await ask({ api, secret }, `GET /v1/workspaces/${caller.workspaceId}/api-keys/${id}/usage`, { query: `period=${period}` })).json
  return { gateway, api, w, caller, secret, clock, provider, send, statuses, usage }
}

describe('`rate_limit_rpm` of a key', () => {
  test('applies to each model separately', async () => {
    const { w, clock, statuses } = await scene()
    const { secret } = await w.apiKeys.create({ name: 'k', rateLimitRpm: 2 })
    expect(await statuses(secret, 'one', 'one', 'one', 'two', 'two', 'two', 'three')).toEqual([200, 200, 429, 200, 200, 429, 200])
    await clock.advance(60_000)
    expect(await statuses(secret, 'one')).toEqual([200])
  })

  test('a refusal names the limited model, and has the time until a retry', async () => {
    const { w, send, statuses } = await scene()
    const { secret } = await w.apiKeys.create({ name: 'k', rateLimitRpm: 1 })
    await statuses(secret, 'one')
    const { status, headers, json } = await send(secret, 'one')
    expect([status, headers['retry-after'], headers['x-rate-limit-source']]).toEqual([429, '60', 'routing'])
    expect(json.error).toMatchObject({
      code: 'requests_per_min_exceeded',
      message: expect.stringContaining('1 requests per minute for "one"'),
    })
  })

  test('applies to the keys created with it, together and for each model', async () => {
    const { w, gateway, caller, statuses } = await scene()
    const parent = await w.apiKeys.create({ name: 'parent', scopes: '*', rateLimitRpm: 2 })
    const maker = await gateway.authenticate(parent.secret)
    const key = { id: maker.keyId, name: maker.keyName, scopes: maker.scopes }
    const of = gateway.workspaces(caller.workspaceId, { key })
    const [first, second] = [await of.apiKeys.create({ name: 'first' }), await of.apiKeys.create({ name: 'second' })]
    expect([...(await statuses(first.secret, 'one', 'two')), ...(await statuses(second.secret, 'one', 'one', 'two'))]).toEqual([
      200, 200, 200, 429, 200,
    ])
  })
})

describe.each([
  ['memory', memoryStorage],
  ['SQLite', () => sqliteStorage(':memory:')],
] as const)('`rate_limit_count` of a key over %s', (_, open) => {
  test('refused requests of this key are counted by day, those of another key are not', async () => {
    const { w, clock, statuses, usage } = await scene({ storage: open(), clock: fakeClock({ now: Date.UTC(2026, 0, 30, 12) }) })
    const limited = await w.apiKeys.create({ name: 'limited', rateLimitRpm: 1 })
    const other = await w.apiKeys.create({ name: 'other' })
    await statuses(limited.secret, 'one', 'one', 'one', 'two')
    await statuses(other.secret, 'one')
    expect(await usage(limited.id)).toMatchObject({ request_count: 2, rate_limit_count: 2 })
    expect(await usage(other.id)).toMatchObject({ request_count: 1, rate_limit_count: 0 })
    await clock.advance(86_400_000)
    await statuses(limited.secret, 'one', 'one')
    expect(await usage(limited.id, 'day')).toMatchObject({ request_count: 1, rate_limit_count: 1 })
    expect(await usage(limited.id, 'month')).toMatchObject({ request_count: 3, rate_limit_count: 3 })
    await clock.advance(86_400_000)
    expect(await usage(limited.id, 'month')).toMatchObject({ start_date: '2026-02-01', rate_limit_count: 0 })
  })

  test('is enforced across two processes', async () => {
    const storage = open()
    const here = await scene({ storage })
    const there = await scene({ storage, clock: here.clock })
    const { id, secret } = await here.w.apiKeys.create({ name: 'limited', rateLimitRpm: 1 })
    const both = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? here : there)).map(each => each.send(secret, 'one')),
    )
    const refused = both.filter(({ status }) => status === 429).length
    await here.clock.advance(2_000)
    expect([refused, (await here.usage(id)).rate_limit_count]).toEqual([19, 19])
  })
})

test('requests refused by a limit cost the storage one write a second per key, not one each', async () => {
  const kept = memoryStorage()
  const commits: string[] = []
  const commit: Storage['records']['commit'] = change => {
    commits.push(...(change.puts ?? []).map(({ kind }) => kind))
    return kept.records.commit(change)
  }
  const { w, clock, statuses } = await scene({ storage: { ...kept, records: { ...kept.records, commit } } })
  const { secret } = await w.apiKeys.create({ name: 'limited', rateLimitRpm: 1 })
  await statuses(secret, ...Array.from({ length: 51 }, () => 'one'))
  await clock.advance(1_000)
  expect(commits.filter(kind => kind === 'key_refusals')).toHaveLength(1)
})

describe('`throughput_tps`', () => {
  const throughput = async (provider: ReturnType<typeof scriptedProvider>[], clock: FakeClock, stream: boolean) => {
    const offers = provider.map(({ id }) => ({ provider: id, model: 'm', api: 'responses', price: testPrice }))
    const { gateway, caller } = await testGateway({ clock, providers: provider, models: [{ id: 'm', offers }] })
    const asked = gateway.dialects.responses.decodeRequest({ model: 'm', input: 'Hi', stream }, () => undefined)
    const reply = gateway.infer(asked, { caller })
    const whole = reply.whole()
    await clock.advance(5_000)
    await whole
    return reply.metadata().routing
  }
  const slow = (id: string, clock: FakeClock, ...script: Parameters<typeof scriptedProvider>[0]['acts'] & object) =>
    scriptedProvider({ id, dialect: responsesProvider, clock, acts: script })
  const seven = acts.reply({ text: 'Seven tokens.', usage: { input: 10, output: 7 } })

  test.each([false, true])('is that of the attempt that succeeded, not of those before it (streamed: %s)', async stream => {
    const clock = fakeClock()
    const providers = [slow('first', clock, acts.stall(600, acts.status(500))), slow('second', clock, acts.stall(100, seven))]
    expect(await throughput(providers, clock, stream)).toMatchObject({ provider: 'second', throughput_tps: 70 })
  })

  test('is reported even if a response takes less than a millisecond', async () => {
    const clock = fakeClock()
    expect((await throughput([slow('only', clock, seven)], clock, true))?.throughput_tps).toBe(7_000)
  })
})

describe('`X-Budget-*` of /v1/me', () => {
  const budgets = async (...enforced: readonly boolean[]) => {
    const { api, w } = await scene()
    const { id, secret } = await w.apiKeys.create({ name: 'k' })
    for (const [at, enforce] of enforced.entries())
      await w.budgets.create({ name: `${at}`, scope: 'api_key', apiKeyId: id, period: 'month', limit: usd(at + 1), enforce })
    const { headers } = await ask({ api, secret }, 'GET /v1/me')
    return headers['x-budget-limit-usd']
  }

  test('report a budget that only observes if no other is enforced', async () => {
    expect([await budgets(), await budgets(false), await budgets(false, true)]).toEqual([undefined, '1', '2'])
  })
})
