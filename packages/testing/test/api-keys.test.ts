import { createApi } from '@signalbox/api'
import { scopes } from '@signalbox/core/resources'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FakeClock, fakeClock } from '../src/fake-clock.ts'
import { testGateway } from '../src/gateway.ts'
import { type Answer, type Asked, ask } from './matrix/asking.ts'

interface Desk {
  readonly workspaceId: string
  readonly as: (secret: string | undefined) => (call: string, asked?: Asked) => Promise<Answer>
  readonly all: (call: string, asked?: Asked) => Promise<Answer>
}

/** `call`: `POST /x` calls `/v1/workspaces/<id>/api-keys/x`. */
async function desk({ isShared = false, clock }: { readonly isShared?: boolean; readonly clock?: FakeClock } = {}): Promise<Desk> {
  const { gateway, secret, caller } = await testGateway({
    ...(clock && { clock }),
    limits: { managementReadsRpm: 1e6, managementWritesRpm: 1e6 },
  })
  const api = createApi({ ...gateway, isShared })
  const base = `/v1/workspaces/${caller.workspaceId}/api-keys`
  const as: Desk['as'] = key => (call, asked) =>
    ask(
      { api, secret: key },
      call.replace(/ (\/v1)?/, (_, own) => ` ${own ?? base}`),
      asked,
    )
  return { workspaceId: caller.workspaceId, as, all: as(secret) }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

test('a new key is returned with its secret and without fields that were not set', async () => {
  const { all, workspaceId } = await desk()
  const { status, json } = await all('POST ', { body: { name: 'plain' } })
  expect(status).toBe(202)
  expect(json).toEqual({
    id: expect.stringMatching(uuid),
    workspace_id: workspaceId,
    name: 'plain',
    key_prefix: json.api_key.slice(0, 11),
    profile: 'inference',
    scopes: ['inference:invoke'],
    is_active: true,
    created_at: expect.stringMatching(isoDate),
    created_by_key_id: expect.stringMatching(uuid),
    api_key: expect.stringMatching(/^ak_[0-9A-Za-z]{49}$/),
    propagation_status: null,
  })
  const { api_key: _, propagation_status: __, ...record } = json
  expect((await all(`GET /${json.id}`)).json).toEqual(record)
})

test('limits, dates and scopes are returned as they were set, and null removes them', async () => {
  const { all } = await desk()
  const body = {
    name: 'full',
    key_type: 'api',
    scopes: ['keys:read', 'inference:invoke'],
    rate_limit_rpm: 7,
    expires_at: '2999-01-31T12:00:00Z',
  }
  const { id, ...made } = (await all('POST ', { body })).json
  expect(made).toMatchObject({ profile: 'mixed', scopes: body.scopes, rate_limit_rpm: 7, expires_at: '2999-01-31T12:00:00.000Z' })
  expect((await all(`PATCH /${id}`, { body: { rate_limit_rpm: null } })).json).toMatchObject({ expires_at: '2999-01-31T12:00:00.000Z' })
  const bare = (await all(`PATCH /${id}`, { body: { name: 'bare', expires_at: null } })).json
  expect(bare).not.toHaveProperty('rate_limit_rpm')
  expect(bare).not.toHaveProperty('expires_at')
  expect((await all(`GET /${id}`)).json).toEqual(bare)
})

test('a key that was used has the time of its last use', async () => {
  const clock = fakeClock()
  const { all, as } = await desk({ clock })
  const { api_key, id } = (await all('POST ', { body: { name: 'used', scopes: ['keys:read'] } })).json
  expect((await as(api_key)(`GET /${id}`)).status).toBe(200)
  const at = new Date(clock.now()).toISOString()
  await clock.advance(2_000)
  expect((await all(`GET /${id}`)).json.last_used_at).toBe(at)
})

test('a revoked key is refused at once, is not listed, and may be revoked again', async () => {
  const { all, as } = await desk()
  const { id, api_key } = (await all('POST ', { body: { name: 'gone' } })).json
  expect((await as(api_key)('GET /v1/me')).status).toBe(200)
  for (let at = 0; at < 2; at++) {
    const { status, json } = await all(`DELETE /${id}`)
    expect([status, json]).toEqual([202, { id, propagation_status: null, message: 'The key is revoked.' }])
  }
  expect((await as(api_key)('GET /v1/me')).json.error.code).toBe('invalid_api_key')
  const listed = async (query: string): Promise<unknown> =>
    (await all('GET ', { query })).json.data.map(({ name, is_active }: Record<string, unknown>) => [name, is_active])
  expect(await listed('')).toEqual([['test', true]])
  expect(await listed('include_revoked=false')).toEqual([['test', true]])
  expect(await listed('include_revoked=true')).toEqual([
    ['test', true],
    ['gone', false],
  ])
  expect((await all(`GET /${id}`)).json.is_active).toBe(false)
})

test('a key change that reaches other processes later reports a pending propagation', async () => {
  const { all } = await desk({ isShared: true })
  const { id, propagation_status } = (await all('POST ', { body: { name: 'far' } })).json
  expect(propagation_status).toBe('pending')
  expect((await all(`DELETE /${id}`)).json).toMatchObject({ propagation_status: 'pending', message: expect.stringContaining('30 seconds') })
})

test('a key cannot do more than the key that created it, nor can the keys that it creates', async () => {
  const { all, as } = await desk()
  const subset = fc.subarray([...scopes], { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(fc.array(subset, { minLength: 1, maxLength: 4 }), async steps => {
      let [ask, may]: [Desk['all'], ReadonlySet<string>] = [all, new Set(scopes)]
      for (const asked of steps) {
        const { status, json } = await ask('POST ', { body: { name: 'step', scopes: asked } })
        const isAllowed = may.has('keys:write') && asked.every(scope => may.has(scope))
        expect([status, json.error?.code]).toEqual(isAllowed ? [202, undefined] : [403, 'operation_not_allowed'])
        if (!isAllowed) return
        expect(new Set(json.scopes)).toEqual(new Set(asked))
        ask = as(json.api_key)
        may = new Set(asked)
        expect(new Set((await ask('GET /v1/me')).json.scopes)).toEqual(may)
      }
    }),
    { numRuns: 40 },
  )
})

test.each([[[]], [['*']], [['KEYS:WRITE']], [['keys:write ']], [['keys:*']], [[null]], ['*'], [{ 0: 'keys:write' }]])(
  'scopes of %j are refused',
  async asked => {
    const { all } = await desk()
    expect((await all('POST ', { body: { name: 'odd', scopes: asked } })).json.error.code).toBe('invalid_parameter_value')
  },
)

test('the last key that may manage keys can revoke itself: then only the operator can create one', async () => {
  const { all } = await desk()
  const { data } = (await all('GET ')).json
  expect((await all(`DELETE /${data[0].id}`)).status).toBe(202)
  expect((await all('GET ')).status).toBe(401)
})
