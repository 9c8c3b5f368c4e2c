import { expect, test } from 'vitest'
import type { BudgetBody } from '../resources/budget.ts'
import { callerOfUser, type EndUser, endUserCaller, keyIdOfUser, nounOf } from './end-user.ts'
import type { TypedRecord } from './records.ts'
import type { WorkspacePolicies } from './workspace-policy.ts'

const workspace = { id: 'w 1', createdAt: 7, body: { name: 'W', billing: 'prepaid' } } as unknown as TypedRecord<'workspace'>
const policies = { of: async (id: string) => (id === 'w 1' ? { workspace } : undefined) } as Pick<WorkspacePolicies, 'of'>
const caller = (user: Partial<EndUser>) => endUserCaller(policies, 'w 1', { user: 'ada', ...user })
const budgetsOf = async (...budgets: NonNullable<EndUser['budgets']>) =>
  (await caller({ budgets })).budgets?.map(({ id, isGroup = false, body }) => [id, isGroup, body.name, body.limit, body.period])

test('the caller for a user belongs to the workspace, may call models, and is counted under its own id', async () => {
  const made = await callerOfUser(policies, { workspace: 'w 1', user: 'ada' })
  expect(made).toEqual({
    ...{ keyId: 'user:ada', keyName: 'ada', keyPrefix: '', workspaceId: 'w 1', workspaceName: 'W', billing: 'prepaid' },
    ...{ scopes: new Set(['inference:invoke']), createdAt: 7, isEndUser: true },
  })
  expect(await caller({ tags: ['eu'], scopes: [], limits: { requestsPerMinute: 1 } })).toMatchObject({
    tags: ['eu'],
    scopes: new Set(),
    limits: { requestsPerMinute: 1 },
  })
  expect([nounOf(keyIdOfUser('ada')), nounOf('key_1')]).toEqual(['user', 'key'])
})

test('a workspace that does not exist is named', async () => {
  await expect(endUserCaller(policies, 'other', { user: 'ada' })).rejects.toMatchObject({
    code: 'resource_not_found',
    message: 'There is no workspace "other". Create it first with `workspaces.create`.',
  })
})

test('a budget counts by workspace, user or group, period, and whether own provider keys count', async () => {
  expect(await budgetsOf({ limit: 5 }, { limit: 6, period: 'day', group: 'team a' }, { limit: 7, includeByok: true })).toEqual([
    ['w%201:user:ada:month', false, 'ada', 5, 'month'],
    ['w%201:group:team%20a:day', true, 'team a', 6, 'day'],
    ['w%201:user:ada:month+byok', false, 'ada', 7, 'month'],
  ])
})

test('of budgets with the same account the lowest applies, in any order', async () => {
  for (const limits of [
    [5, 3, 9],
    [3, 9, 5],
    [9, 5, 3],
  ])
    expect((await budgetsOf(...limits.map(limit => ({ limit }))))?.map(each => each[3])).toEqual([3])
})

const list = (length: number) => Array.from({ length }, (_, at) => `t${at}`)
const budgets = (length: number) => Array.from({ length }, () => ({ limit: 1 }))
const period: BudgetBody['period'] = 'week'

test.each<readonly [string, object]>([
  ['user', { user: '' }],
  ['user', { user: 'x'.repeat(201) }],
  ['user', { user: 'a\nb' }],
  ['user', { user: '\ud800' }],
  ['tags', { tags: list(9) }],
  ['tags', { tags: ['a,b'] }],
  ['scopes', { scopes: ['inference:invoke', 'none'] }],
  ['limits.requestsPerMinute', { limits: { requestsPerMinute: 0 } }],
  ['limits.tokensPerMinute', { limits: { requestsPerMinute: 1, tokensPerMinute: 1.5 } }],
  ['budgets', { budgets: budgets(9) }],
  ['budgets[1].limit', { budgets: [{ limit: 0 }, { limit: -1 }] }],
  ['budgets[0].limit', { budgets: [{ limit: 0.5 }] }],
  ['budgets[0].limit', { budgets: [{ limit: 1e15 + 1 }] }],
  ['budgets[0].period', { budgets: [{ limit: 1, period: 'year' }] }],
  ['budgets[0].group', { budgets: [{ limit: 1, group: '' }] }],
])('an invalid value is refused, naming the field: %s', async (option, wrong) => {
  await expect(caller(wrong)).rejects.toThrow(new RegExp(`^end user: \`${option.replaceAll(/[[\].]/g, '\\$&')}\` is not valid`))
})

test('the largest allowed values are accepted', async () => {
  const most = { user: 'x'.repeat(200), tags: list(8), limits: { requestsPerMinute: 1 }, budgets: budgets(8) }
  expect((await caller(most)).keyName).toHaveLength(200)
  expect((await budgetsOf({ limit: 0 }, { limit: 1e15, period })) ?? []).toHaveLength(2)
})

test('unknown options and options of the wrong type are refused', async () => {
  for (const wrong of [{ limit: 5 }, { budgets: [{ limit: '5' }] }, { budgets: [null] }, { tags: 'eu' }])
    await expect(caller(wrong as object)).rejects.toThrow(TypeError)
  await expect(endUserCaller(policies, 'w 1', undefined as unknown as EndUser)).rejects.toThrow('takes an object of options')
})
