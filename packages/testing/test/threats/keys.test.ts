import { profileOf, scopes } from '@signalbox/core/resources'
import { responsesProvider } from '@signalbox/dialects'
import { memoryStorage } from '@signalbox/storage-memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testModels } from '../../src/gateway.ts'
import { acts, scriptedProvider } from '../../src/scripted-provider.ts'
import { type Answer, ask } from '../matrix/asking.ts'
import { outcome, type Scene, scene } from './scene.ts'

const made = (at: number): string => `ak_made-by-hand-${String(at).padStart(6, '0')}`

/** One character is another one: no key of ours ends like that. */
const mistyped = (secret: string): string => `${secret.slice(0, 20)}${secret[20] === 'x' ? 'y' : 'x'}${secret.slice(21)}`

const keyIn = async ({ gateway }: Scene, options: { readonly expiresAt?: Date } = {}, workspaceId = 'w') =>
  gateway.workspaces(workspaceId).apiKeys.create({ name: 'key', scopes: '*', ...options })

describe('a key is identified by all of it', () => {
  test('two keys that differ in their last character are distinct, in any order, also once both are cached', async () => {
    const { gateway } = await scene()
    const common = `ak_${'same'.repeat(40)}`
    const owners = { w: `${common}a`, other: `${common}b` }
    for (const [id, secret] of Object.entries(owners)) await gateway.workspaces(id).apiKeys.create({ name: id, secret })
    for (const id of ['w', 'other', 'other', 'w'] as const) expect((await gateway.authenticate(owners[id])).workspaceId).toBe(id)
    for (const near of [common, `${common}c`, `${common}aa`, `${common}A`, ` ${common}a`])
      expect([near, await outcome(gateway.authenticate(near))]).toEqual([near, 'invalid_api_key'])
    const [first] = await gateway.workspaces('w').apiKeys.list()
    await gateway.workspaces('w').apiKeys.revoke(first?.id ?? '')
    expect(await outcome(gateway.authenticate(owners.w))).toBe('invalid_api_key')
    expect((await gateway.authenticate(owners.other)).workspaceId).toBe('other')
  })

  test('the store is queried only by a hash of the whole key', async () => {
    const here = await scene()
    const { secret } = await keyIn(here)
    const there = await scene({ storage: here.storage })
    there.asked.length = 0
    await there.gateway.authenticate(secret)
    expect(there.asked[0]).toBe('findByName key')
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(secret))).toString('hex')
    expect((await here.storage.records.list({ kind: 'key', limit: 10 })).map(({ name }) => name)).toEqual([digest])
  })
})

describe('a refused key', () => {
  /** What each kind of invalid key looks like, and how many store reads it causes: the first time, and again within a second. */
  const strangers = async (
    here: Scene,
  ): Promise<readonly (readonly [what: string, secret: string | undefined, steps: readonly number[]])[]> => {
    const { apiKeys } = here.gateway.workspaces('w')
    const [revoked, expired, good] = [await keyIn(here), await keyIn(here, { expiresAt: new Date(here.now.ms + 5) }), await keyIn(here)]
    await apiKeys.revoke(revoked.id)
    here.now.ms += 5
    return [
      ['nothing', undefined, [0, 0]],
      ['no key', 'hunter2', [0, 0]],
      ['an empty one', 'ak_', [0, 0]],
      ['one of another kind', 'sk-0123456789012345678901234567890123456789', [0, 0]],
      ['one with a wrong checksum', mistyped(good.secret), [0, 0]],
      ['one that nobody made', made(0), [2, 0]],
      ['a revoked one', revoked.secret, [1, 0]],
      ['an expired one', expired.secret, [1, 0]],
    ]
  }

  test('gets the same response, whatever the reason, on every path', async () => {
    const here = await scene()
    const all = await strangers(here)
    const { secret } = await keyIn(here)
    const header = (key: string | undefined): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` })
    const others = [`Basic ${secret}`, secret, `Bearer ${secret}, Bearer ${secret}`, `Bearer ${secret} x`].map(authorization => ({
      authorization,
    }))
    for (const call of [
      'GET /v1/me',
      'HEAD /v1/me',
      'GET /v1/models',
      'POST /v1/responses',
      'POST /v1/messages',
      'PATCH /v1/workspaces/w/settings',
    ]) {
      const answers = new Set<string>()
      for (const headers of [...all.map(([, key]) => header(key)), ...others])
        answers.add(told(await ask({ api: here.api, secret: undefined }, call, { headers })))
      expect([call, [...answers]]).toEqual([call, [expect.stringMatching(/^\[401,.*"www-authenticate":"Bearer"/)]])
    }
  })

  test('takes the same steps, except that a malformed one is not looked up', async () => {
    const here = await scene()
    for (const [what, secret, steps] of await strangers(here)) {
      const taken: number[] = []
      for (let time = 0; time < 2; time++) {
        here.asked.length = 0
        expect(await outcome(here.gateway.authenticate(secret))).toBe('invalid_api_key')
        expect(here.asked.filter(verb => verb !== 'findByName key' && verb !== 'findByName old_secret')).toEqual([])
        taken.push(here.asked.length)
      }
      expect([what, taken]).toEqual([what, steps])
    }
  })

  test('is remembered for a second, at most 10,000 of them', async () => {
    const { gateway, asked, now } = await scene()
    for (let at = 0; at <= 10_000; at++) await outcome(gateway.authenticate(made(at)))
    const steps = async (at: number): Promise<number> => {
      asked.length = 0
      await outcome(gateway.authenticate(made(at)))
      return asked.length
    }
    expect([await steps(10_000), await steps(0)]).toEqual([0, 2])
    now.ms += 1_000
    expect(await steps(10_000)).toBe(2)
  })

  test('works at once if it is created a moment later', async () => {
    const { gateway } = await scene()
    expect(await outcome(gateway.authenticate(made(1)))).toBe('invalid_api_key')
    const { id } = await gateway.workspaces('w').apiKeys.create({ name: 'late', secret: made(1) })
    expect((await gateway.authenticate(made(1))).keyId).toBe(id)
  })
})

const told = ({ status, headers, text }: Answer): string => JSON.stringify([status, headers, text]).replace(/[0-9a-f-]{36}/g, '<id>')

describe('a revoked key', () => {
  test('stops at once in the process that revoked it, and within 60 s elsewhere, however busy', async () => {
    const here = await scene()
    const there = await scene({ storage: here.storage, now: here.now })
    const { id, secret } = await keyIn(here)
    await there.gateway.authenticate(secret)
    await here.gateway.workspaces('w').apiKeys.revoke(id)
    const stopped = here.now.ms
    expect(await outcome(here.gateway.authenticate(secret))).toBe('invalid_api_key')
    let last = 0
    for (; here.now.ms <= stopped + 60_000; here.now.ms += 250) {
      const known = await outcome(there.gateway.authenticate(secret))
      if (known !== 'invalid_api_key') last = here.now.ms - stopped
    }
    expect(last).toBeGreaterThan(0)
    expect(last).toBeLessThan(60_000)
  })

  test('is not cached by a lookup that began before', async () => {
    const storage = memoryStorage()
    const gate = Promise.withResolvers<void>()
    const { findByName } = storage.records
    const held: { on: boolean } = { on: false }
    const slow: typeof findByName = async (kind, name) => {
      const found = await findByName(kind, name)
      if (held.on && kind === 'key') await gate.promise
      return found
    }
    const here = await scene({ storage: { ...storage, records: { ...storage.records, findByName: slow } } })
    const { id, secret } = await keyIn(here)
    held.on = true
    const looking = here.gateway.authenticate(secret)
    await here.gateway.workspaces('w').apiKeys.revoke(id)
    held.on = false
    gate.resolve()
    await outcome(looking)
    expect(await outcome(here.gateway.authenticate(secret))).toBe('invalid_api_key')
  })

  test('starts no new stream; its running streams finish', async () => {
    const scripted = scriptedProvider({ id: 'p', dialect: responsesProvider, acts: [acts.reply('All of it.')] })
    const here = await scene({ providers: [scripted], models: testModels([{ id: 'p', dialect: 'responses' }]) })
    await here.gateway.workspaces('w').billing.credit({ reference: 'first', amount: 1_000_000_000 })
    const { id, secret } = await keyIn(here)
    const stream = await here.gateway.responses.create({ model: 'test-model', input: 'Hi', stream: true }, { apiKey: secret })
    const types: string[] = []
    for await (const { type } of stream) {
      if (types.length === 0) await here.gateway.workspaces('w').apiKeys.revoke(id)
      types.push(type)
    }
    expect(types.at(-1)).toBe('response.completed')
    const again = here.gateway.responses.create({ model: 'test-model', input: 'Hi', stream: true }, { apiKey: secret })
    expect(await outcome(again)).toBe('invalid_api_key')
    expect(scripted.calls).toHaveLength(1)
  })

  test('stays revoked, whatever is changed on it', async () => {
    const { gateway, api } = await scene()
    const boss = await gateway.workspaces('w').apiKeys.create({ name: 'boss', scopes: '*' })
    const { id, secret } = await gateway.workspaces('w').apiKeys.create({ name: 'gone' })
    await gateway.workspaces('w').apiKeys.revoke(id)
    for (const body of [{ expires_at: '2999-01-01T00:00:00Z' }, { expires_at: null }, { name: 'back' }, { rate_limit_rpm: 5 }]) {
      const { json } = await ask({ api, secret: boss.secret }, `PATCH /v1/workspaces/w/api-keys/${id}`, { body })
      expect(json.is_active).toBe(false)
    }
    expect(await outcome(gateway.authenticate(secret))).toBe('invalid_api_key')
  })

  test('may be the one in use, and the last that can create keys; then the operator creates another', async () => {
    const { gateway, api } = await scene()
    const { id, secret } = await gateway.workspaces('w').apiKeys.create({ name: 'last', scopes: ['keys:read', 'keys:write'] })
    const testbed = { api, secret }
    expect((await ask(testbed, `DELETE /v1/workspaces/w/api-keys/${id}`)).status).toBe(202)
    expect((await ask(testbed, `DELETE /v1/workspaces/w/api-keys/${id}`)).status).toBe(401)
    expect((await ask(testbed, 'GET /v1/me')).status).toBe(401)
    const next = await gateway.workspaces('w').apiKeys.create({ name: 'next', scopes: ['keys:write'] })
    expect((await gateway.authenticate(next.secret)).keyId).toBe(next.id)
  })
})

test('a key expires at its exact millisecond, even if it is cached', async () => {
  const here = await scene()
  const until = here.now.ms + 10_000
  const { id, secret } = await keyIn(here, { expiresAt: new Date(until) })
  for (const ms of [until - 10_000, until - 1]) {
    here.now.ms = ms
    expect((await here.gateway.authenticate(secret)).keyId).toBe(id)
  }
  here.now.ms = until
  expect(await outcome(here.gateway.authenticate(secret))).toBe('invalid_api_key')
})

test('without the store a cached key works for at most 30 s, then all keys get the same error; with it everything works again', async () => {
  const here = await scene()
  const { id, secret } = await keyIn(here)
  const other = await keyIn(here)
  await here.gateway.authenticate(secret)
  here.down.why = new Error('connect ECONNREFUSED /var/lib/signalbox.db')
  const answer = (key = secret) => ask({ api: here.api, secret: key }, 'GET /v1/workspaces/w/api-keys')
  here.now.ms += 29_999
  expect((await here.gateway.authenticate(secret)).keyId).toBe(id)
  here.now.ms += 1
  for (const key of [secret, other.secret]) {
    const { status, headers, text } = await answer(key)
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(text).not.toContain('signalbox.db')
  }
  delete here.down.why
  expect([(await answer()).status, (await answer(other.secret)).status]).toEqual([200, 200])
})

test('no key can do more than the key that created it, nor in another workspace', async () => {
  const few = scopes.slice(0, 6)
  const odd = ['*', 'KEYS:WRITE', 'keys:write ', ' inference:invoke', 'keys:*', 'admin', '', 'keys:write\0', '__proto__']
  const step = fc.record({
    by: fc.nat(9),
    scopes: fc.array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...few) }, { weight: 1, arbitrary: fc.constantFrom(...odd) }), {
      maxLength: 4,
    }),
    more: fc.constantFrom<Record<string, unknown>>(
      ...Array.from({ length: 6 }, () => ({})),
      { key_type: 'api' },
      { key_type: 'management' },
      { created_by_key_id: '0190a000-0000-7000-8000-00000000dead' },
      { profile: 'mixed' },
      { secret: 'ak_of-my-own-choice' },
      { workspace_id: 'other' },
    ),
    workspace: fc.constantFrom('w', 'w', 'w', 'w', 'other'),
  })
  let count = 0
  const first = fc.uniqueArray(fc.constantFrom(...few), { minLength: 2 })
  await fc.assert(
    fc.asyncProperty(first, fc.array(step, { minLength: 5, maxLength: 25 }), async (granted, steps) => {
      const { gateway, api } = await scene()
      const { apiKeys } = gateway.workspaces('w')
      const root = await apiKeys.create({ name: 'root', scopes: [...granted, 'keys:write', 'keys:read'] })
      const keys = [{ id: root.id, secret: root.secret, scopes: new Set<string>(root.scopes) }]
      for (const { by, scopes: wanted, more, workspace } of steps) {
        const maker = keys[by % keys.length] ?? keys[0]
        if (!maker) return
        const body = { name: 'k', scopes: wanted, ...more }
        const { status, json } = await ask({ api, secret: maker.secret }, `POST /v1/workspaces/${workspace}/api-keys`, { body })
        if (status !== 202) {
          expect([400, 403, 404]).toContain(status)
          continue
        }
        const may = await gateway.authenticate(json.api_key)
        for (const scope of may.scopes) expect(maker.scopes).toContain(scope)
        expect([...may.scopes].sort()).toEqual([...new Set(wanted)].sort())
        expect([json.created_by_key_id, json.workspace_id, may.workspaceId]).toEqual([maker.id, 'w', 'w'])
        expect([maker.scopes.has('keys:write'), json.profile]).toEqual([true, profileOf(may.scopes)])
        count += 1
        keys.push({ id: json.id, secret: json.api_key, scopes: new Set(may.scopes) })
      }
      expect(await gateway.workspaces('other').apiKeys.list()).toEqual([])
    }),
    { numRuns: 40 },
  )
  expect(count).toBeGreaterThan(50)
})
