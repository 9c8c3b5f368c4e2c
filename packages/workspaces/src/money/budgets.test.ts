import type { Budget } from '@signalbox/core/resources'
import { usd } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { waitFor } from '../../../testing/test/waits.ts'
import { codeOf, createFixture, type Fixture } from '../../test/fixture.ts'

const of = ({ gateway }: Fixture, workspace = 'w') => gateway.workspaces(workspace)
const named = (budgets: readonly Budget[]): readonly string[] => budgets.map(({ name }) => name)
const eventsOf = async (scene: Fixture): Promise<readonly string[]> => (await of(scene).auditEvents.list()).map(({ event }) => event)

test('a budget is created with defaults, shown, changed and deleted, each with an audit row', async () => {
  const scene = await createFixture()
  const { budgets } = of(scene)
  const made = await budgets.create({ name: 'all', limit: usd(12.5) })
  expect(made).toStrictEqual({
    id: made.id,
    workspaceId: 'w',
    createdAt: scene.now.ms,
    name: 'all',
    scope: 'workspace',
    period: 'month',
    limit: usd(12.5),
    used: 0,
    remaining: usd(12.5),
    enforce: true,
    includeByok: false,
    alertAt: [],
    resetsAt: Date.UTC(2026, 1),
  })
  expect(await budgets.get(made.id)).toStrictEqual(made)
  const changed = await budgets.update(made.id, { limit: usd(20), enforce: false, alertAt: [1, 0.5, 0.5] })
  expect(changed).toStrictEqual({ ...made, limit: usd(20), remaining: usd(20), enforce: false, alertAt: [0.5, 1] })
  expect(await budgets.list()).toStrictEqual([changed])
  expect(await budgets.update(made.id, {})).toStrictEqual(changed)
  expect(await budgets.delete(made.id)).toStrictEqual(changed)
  expect(await budgets.list()).toEqual([])
  expect(await codeOf(budgets.delete(made.id))).toBe('resource_not_found')
  expect(await eventsOf(scene)).toEqual(['budget.deleted', 'budget.updated', 'budget.created', 'workspace.created'])
})

test.each([
  ['day', Date.UTC(2026, 0, 2)],
  ['week', Date.UTC(2026, 0, 5)],
  ['month', Date.UTC(2026, 1)],
  ['total', undefined],
] as const)('what was used in a %s counts until it is over', async (period, resetsAt) => {
  const scene = await createFixture()
  const { id, ...rest } = await of(scene).budgets.create({ name: 'b', period, limit: usd(1) })
  expect(rest.resetsAt).toBe(resetsAt)
  const account = `budget:${id}${{ day: ':2026-01-01', week: ':2025-12-29', month: ':2026-01-01', total: '' }[period]}`
  await scene.storage.ledger.settle({ id: 'r', amounts: { [account]: 1_250_000 }, at: scene.now.ms })
  expect(await of(scene).budgets.get(id)).toMatchObject({ used: usd(1.25), remaining: 0 })
  scene.now.ms = (resetsAt ?? Date.UTC(2036, 0)) - 1
  expect(await of(scene).budgets.get(id)).toMatchObject({ used: usd(1.25) })
  scene.now.ms += 1
  expect(await of(scene).budgets.get(id)).toMatchObject(period === 'total' ? { used: usd(1.25) } : { used: 0, remaining: usd(1) })
})

test.each([
  [{ name: '', limit: usd(1) }, 'name'],
  [{ name: 'x'.repeat(256), limit: usd(1) }, 'name'],
  [{ name: 'b', limit: 0 }, 'limit'],
  [{ name: 'b', limit: usd(-1) }, 'limit'],
  [{ name: 'b', limit: Number.NaN }, 'limit'],
  [{ name: 'b', limit: 1e16 }, 'limit'],
  [{ name: 'b', limit: usd(1), alertAt: [0] }, 'alertAt[0]'],
  [{ name: 'b', limit: usd(1), alertAt: [1.01] }, 'alertAt[0]'],
  [{ name: 'b', limit: usd(1), alertAt: [Number.NaN] }, 'alertAt[0]'],
  [{ name: 'b', limit: usd(1), alertAt: Array.from({ length: 11 }, (_, at) => (at + 1) / 11) }, 'alertAt'],
  [{ name: 'b', limit: usd(1), scope: 'api_key' }, 'apiKeyId'],
  [{ name: 'b', limit: usd(1), scope: 'workspace', apiKeyId: 'k' }, 'apiKeyId'],
] as const)('a budget of %j is refused, naming the field', async (input, param) => {
  const { budgets } = of(await createFixture())
  await expect(budgets.create(input)).rejects.toMatchObject({ status: 400, facts: { param } })
  expect(await budgets.list()).toEqual([])
})

test('a budget of a key names an active key of the same workspace', async () => {
  const scene = await createFixture()
  const { budgets, apiKeys } = of(scene)
  const key = await apiKeys.create({ name: 'k', expiresAt: new Date(scene.now.ms + 1_000) })
  const foreign = await of(scene, 'other').apiKeys.create({ name: 'k' })
  expect(await budgets.create({ name: 'b', apiKeyId: key.id, limit: usd(1) })).toMatchObject({ scope: 'api_key', apiKeyId: key.id })
  for (const apiKeyId of [foreign.id, 'nobody'])
    expect(await codeOf(budgets.create({ name: 'b', apiKeyId, limit: usd(1) }))).toBe('resource_not_found')
  scene.now.ms += 1_000
  expect(await codeOf(budgets.create({ name: 'b', apiKeyId: key.id, limit: usd(1) }))).toBe('state_precondition_failed')
})

test('a workspace has at most 200 budgets, however many are created at once, and cannot see those of another', async () => {
  const scene = await createFixture()
  const { budgets, apiKeys } = of(scene)
  const codes = await Promise.all(Array.from({ length: 205 }, (_, at) => codeOf(budgets.create({ name: `${at}`, limit: usd(1) }))))
  expect(codes.filter(code => code === 'state_precondition_failed')).toHaveLength(5)
  expect(await codeOf(apiKeys.create({ name: 'k', budget: { limit: usd(1) } }))).toBe('state_precondition_failed')
  expect(await apiKeys.list()).toEqual([])
  const [first] = await budgets.list({ limit: 1 })
  const other = of(scene, 'other').budgets
  expect(await other.list()).toEqual([])
  for (const call of [other.get, other.delete, (id: string) => other.update(id, {})])
    expect(await codeOf(call(first?.id ?? ''))).toBe('resource_not_found')
  expect(named(await budgets.list({ after: first?.id ?? '', limit: 2 }))).toEqual(['1', '2'])
})

test('a key is created with its budget in one step, and deleted with it', async () => {
  const scene = await createFixture()
  const { budgets, apiKeys } = of(scene)
  const key = await apiKeys.create({ name: 'k', budget: { limit: usd(3), includeByok: true } })
  expect(key).not.toHaveProperty('budget')
  const [own] = await budgets.list()
  expect(own).toMatchObject({
    name: 'k',
    scope: 'api_key',
    apiKeyId: key.id,
    period: 'total',
    limit: usd(3),
    enforce: true,
    includeByok: true,
  })
  await budgets.create({ name: 'daily', apiKeyId: key.id, period: 'day', limit: usd(1) })
  await budgets.create({ name: 'all', limit: usd(1) })
  await apiKeys.revoke(key.id)
  expect(named(await budgets.list())).toEqual(['all'])
  expect(await eventsOf(scene)).toEqual([
    'budget.deleted',
    'budget.deleted',
    'api_key.revoked',
    'budget.created',
    'budget.created',
    'budget.created',
    'api_key.created',
    'workspace.created',
  ])
})

test('the budget of a key is changed, removed and created again with the key', async () => {
  const scene = await createFixture()
  const { budgets, apiKeys } = of(scene)
  const { id } = await apiKeys.create({ name: 'k', budget: { limit: usd(3), enforce: false } })
  const [first] = await budgets.list()
  await apiKeys.update(id, { budget: { limit: usd(5) } })
  expect(await budgets.list()).toStrictEqual([{ ...first, limit: usd(5), remaining: usd(5) }])
  await apiKeys.update(id, { name: 'other' })
  expect(await budgets.list()).toHaveLength(1)
  await apiKeys.update(id, { budget: null })
  expect(await budgets.list()).toEqual([])
  expect(await codeOf(apiKeys.update(id, { budget: { enforce: true } }))).toBe('missing_required_parameter')
  await apiKeys.update(id, { budget: { limit: usd(1) } })
  expect(await budgets.list()).toMatchObject([{ apiKeyId: id, limit: usd(1), enforce: true }])
  await apiKeys.revoke(id)
  expect(await codeOf(apiKeys.update(id, { budget: { limit: usd(1) } }))).toBe('state_precondition_failed')
})

test('a key with an invalid budget is not created', async () => {
  const { apiKeys, budgets } = of(await createFixture())
  await expect(apiKeys.create({ name: 'k', budget: { limit: usd(-1) } })).rejects.toMatchObject({ facts: { param: 'budget.limit' } })
  expect([await apiKeys.list(), await budgets.list()]).toEqual([[], []])
})

test('a key revoked in another process is no longer accepted once its budget is gone', async () => {
  const scene = await createFixture()
  const there = (await createFixture({ storage: scene.storage, now: scene.now })).gateway
  const { id, secret } = await of(scene).apiKeys.create({ name: 'k', budget: { limit: usd(3) } })
  await there.authenticate(secret)
  await of(scene).apiKeys.revoke(id)
  scene.now.ms += 25_000
  // The policy is read again in the background; the key itself would stay cached for some more seconds.
  await there.authenticate(secret)
  await waitFor(async () => expect(await codeOf(there.authenticate(secret).then(String))).toBe('invalid_api_key'))
})
