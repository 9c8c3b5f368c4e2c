import { createApi } from '@signalbox/api'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { Change, Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { afterEach, describe, expect, test } from 'vitest'
import { type FakeClock, fakeClock } from '../src/fake-clock.ts'
import { type Answer, type Asked, ask } from './matrix/asking.ts'
import { brought } from './matrix/fixture.ts'

const made: Gateway[] = []
afterEach(async () => {
  for (const gateway of made.splice(0)) await gateway.close()
})

interface Testbed {
  readonly clock: FakeClock
  readonly storage: Storage
  readonly w: Place
  readonly other: Place
  /** Another key of `w`. */
  readonly second: Place
}

interface Place {
  /** Creates another budget, under the key `one`. */
  readonly post: (asked?: Asked) => Promise<Answer>
  readonly budgets: () => Promise<number>
  readonly ask: (method: string, path: string, asked?: Asked) => Promise<Answer>
}

async function testbed(storage: Storage): Promise<Testbed> {
  const clock = fakeClock()
  const gateway = createGateway({
    providers: [brought],
    models: [],
    sealingKey,
    storage,
    clock,
    logger: quiet,
    limits: { managementWritesRpm: 1e6 },
  })
  made.push(gateway)
  const api = createApi(gateway)
  const place = async (id: string): Promise<Place> => {
    const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'key', scopes: '*' })
    const asking = (method: string, path: string, asked?: Asked): Promise<Answer> =>
      ask({ api, secret }, `${method} /v1/workspaces/${id}/${path}`, asked)
    return {
      ask: asking,
      post: asked => asking('POST', 'budgets', { body: budget, headers: { 'idempotency-key': 'one' }, ...asked }),
      budgets: async () => (await asking('GET', 'budgets')).json.count,
    }
  }
  for (const id of ['w', 'other']) await gateway.workspaces.create({ id, name: id })
  return { clock, storage, w: await place('w'), other: await place('other'), second: await place('w') }
}

const sealingKey = new Uint8Array(32).fill(1)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const budget = { name: 'all', limit_usd: 10 }
const told = ({ status, json, headers }: Answer): readonly unknown[] => [status, json.error?.code, headers['retry-after']]

const stores: readonly (readonly [string, () => Promise<Storage>])[] = [
  ['memory', async () => memoryStorage()],
  ['SQLite', async () => sqliteStorage(':memory:')],
]

describe.each(stores)('an Idempotency-Key over %s', (_, open) => {
  test('that is repeated gets the first response, byte for byte, and nothing is created', async () => {
    const { w } = await testbed(await open())
    const first = await w.post()
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([202, undefined])
    const again = await w.post()
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([202, first.text, 'true'])
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    expect(await w.budgets()).toBe(1)
  })

  test('belongs to one body: another one is refused, even if only whitespace differs', async () => {
    const { w } = await testbed(await open())
    await w.post()
    for (const body of [{ ...budget, limit_usd: 11 }, `${JSON.stringify(budget)} `]) {
      const other = await w.post({ body })
      expect([...told(other), other.json.error.param]).toEqual([409, 'duplicate_resource', undefined, null])
    }
    expect(await w.budgets()).toBe(1)
  })

  test('is separate for each workspace, key and path', async () => {
    const { w, other, second } = await testbed(await open())
    for (const place of [w, other, second]) expect((await place.post()).headers['idempotent-replayed']).toBeUndefined()
    expect([await w.budgets(), await other.budgets()]).toEqual([2, 1])
    const credit = { amount_microdollars: 1, reference: 'r' }
    const elsewhere = await w.ask('POST', 'billing/credits', { body: credit, headers: { 'idempotency-key': 'one' } })
    expect([elsewhere.status, elsewhere.headers['idempotent-replayed']]).toEqual([202, undefined])
  })

  test('creates one object for twenty concurrent requests', async () => {
    const { w } = await testbed(await open())
    const all = await Promise.all(Array.from({ length: 20 }, () => w.post()))
    expect(await w.budgets()).toBe(1)
    const [first = '', ...others] = new Set(all.filter(({ status }) => status === 202).map(({ text }) => text))
    expect([JSON.parse(first).name, others]).toEqual(['all', []])
    for (const late of all.filter(({ status }) => status !== 202)) {
      expect(told(late)).toEqual([409, 'idempotency_replay_unavailable', '1'])
      expect(late.headers['x-should-retry']).toBeUndefined()
    }
    expect((await w.post()).text).toBe(first)
  })

  test('creates one object even if it must be unique, and no request gets a conflict', async () => {
    const { w } = await testbed(await open())
    const body = { provider: 'brought', api_key: 'sk-of-my-own-0123456789', name: 'mine' }
    const post = (): Promise<Answer> => w.ask('POST', 'byok-keys', { body, headers: { 'idempotency-key': 'one' } })
    const all = await Promise.all(Array.from({ length: 5 }, post))
    const codes = new Set(all.map(({ status, json }) => json.error?.code ?? status))
    expect([...codes].filter(code => code !== 202 && code !== 'idempotency_replay_unavailable')).toEqual([])
    expect((await post()).headers['idempotent-replayed']).toBe('true')
    expect((await w.ask('GET', 'byok-keys')).json.count).toBe(1)
  })

  test('is forgotten after 24 hours, and may be reused', async () => {
    const { clock, w } = await testbed(await open())
    const first = await w.post()
    await clock.advance(24 * 3_600_000 - 1)
    expect((await w.post()).text).toBe(first.text)
    await clock.advance(1)
    const anew = await Promise.all([w.post(), w.post()])
    expect(anew.filter(({ status }) => status === 202).map(({ json }) => json.id)).not.toContain(first.json.id)
    expect(await w.budgets()).toBe(2)
  })

  test('leaves no record after its time', async () => {
    const storage = await open()
    const { clock, w } = await testbed(storage)
    for (let at = 0; at < 5; at++) await w.post({ headers: { 'idempotency-key': `key-${at}` } })
    const kept = async (): Promise<number> => (await storage.records.list({ kind: 'reply', limit: 100 })).length
    expect(await kept()).toBe(5)
    await clock.advance(25 * 3_600_000)
    await w.post({ headers: { 'idempotency-key': 'later' } })
    expect(await kept()).toBe(1)
  })

  test('whose response could not be stored has created its object, and creates no other', async () => {
    const storage = await open()
    const { clock, w } = await testbed(
      failing(storage, ({ puts = [] }) => puts.some(({ kind, version }) => kind === 'reply' && version > 0)),
    )
    expect((await w.post()).status).toBe(202)
    expect(told(await w.post())).toEqual([409, 'idempotency_replay_unavailable', '1'])
    await clock.advance(10_000)
    const late = await w.post()
    expect([...told(late), late.headers['x-should-retry']]).toEqual([409, 'idempotency_replay_unavailable', undefined, 'false'])
    expect(await w.budgets()).toBe(1)
  })

  test('whose request never reached the store creates the object on retry', async () => {
    let broken = true
    const { w } = await testbed(failing(await open(), ({ puts = [] }) => broken && puts.some(({ kind }) => kind === 'budget')))
    expect((await w.post()).status).toBe(503)
    broken = false
    expect((await w.post()).status).toBe(202)
    expect(await w.budgets()).toBe(1)
  })
})

/** A store that loses its ground at some changes: nothing of them is made. */
const failing = (storage: Storage, at: (change: Change) => boolean): Storage => ({
  ...storage,
  records: {
    ...storage.records,
    commit: change => (at(change) ? Promise.reject(new Error('the disk is gone')) : storage.records.commit(change)),
  },
})

test('a response with a secret is not stored, and not repeated', async () => {
  const { w, storage } = await testbed(memoryStorage())
  const asked = { body: { name: 'new' }, headers: { 'idempotency-key': 'one' } }
  const { json } = await w.ask('POST', 'api-keys', asked)
  const again = await w.ask('POST', 'api-keys', asked)
  expect([...told(again), again.headers['x-should-retry']]).toEqual([409, 'idempotency_replay_unavailable', undefined, 'false'])
  expect((await w.ask('GET', 'api-keys')).json.data.filter(({ name }: { readonly name: string }) => name === 'new')).toHaveLength(1)
  expect(JSON.stringify(await storage.records.list({ kind: 'reply', limit: 10 }))).not.toContain(json.api_key)
})

test('a refused request is not remembered', async () => {
  const { w } = await testbed(memoryStorage())
  expect((await w.post({ body: { name: 'all' } })).status).toBe(400)
  expect((await w.post({ body: { ...budget, scope: 'api_key', api_key_id: 'nobody' } })).status).toBeGreaterThanOrEqual(400)
  expect((await w.post()).status).toBe(202)
})

test('other methods ignore it', async () => {
  const { w } = await testbed(memoryStorage())
  const { id } = (await w.post()).json
  for (const limit_usd of [20, 30]) {
    const { json } = await w.ask('PATCH', `budgets/${id}`, { body: { limit_usd }, headers: { 'idempotency-key': 'one' } })
    expect(json.limit_usd).toBe(limit_usd)
  }
})

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(256)],
  ['of two', 'a, b'],
  ['with a space', 'a b'],
  ['not ASCII', 'schlüssel'],
  ['with a line break', 'a\nb'],
])('that is %s is refused, and nothing is created', async (_, key) => {
  const { w } = await testbed(memoryStorage())
  const { status, json } = await w.post({ headers: { 'idempotency-key': key } })
  expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_parameter_value', 'Idempotency-Key'])
  expect(await w.budgets()).toBe(0)
  expect((await w.post({ headers: { 'idempotency-key': '!'.repeat(255) } })).status).toBe(202)
})
