import { budgetAccountAt } from '@signalbox/core/access'
import { scopes } from '@signalbox/core/resources'
import { usd } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { createFixture } from '../test/fixture.ts'

test('a key may expire in one millisecond at the earliest, when created and when changed', async () => {
  const { gateway, now } = await createFixture()
  const { apiKeys } = gateway.workspaces('w')
  const { id } = await apiKeys.create({ name: 'a' })
  for (const expiresAt of [new Date(now.ms), new Date(now.ms - 1)]) {
    const refused = { code: 'invalid_parameter_value', message: expect.stringContaining('a date in the future') }
    await expect(apiKeys.create({ name: 'b', expiresAt })).rejects.toMatchObject(refused)
    await expect(apiKeys.update(id, { expiresAt })).rejects.toMatchObject(refused)
  }
  const soon = new Date(now.ms + 1)
  await apiKeys.update(id, { expiresAt: soon })
  expect((await apiKeys.get(id)).expiresAt).toEqual(soon.getTime())
  await apiKeys.update(id, { expiresAt: null })
  expect((await apiKeys.get(id)).expiresAt).toBeUndefined()
})

test('the used amount of a key’s budget is what it spent, without deducting credits', async () => {
  const { gateway, storage, now } = await createFixture()
  const { apiKeys, budgets } = gateway.workspaces('w')
  const { secret } = await apiKeys.create({ name: 'a', budget: { limit: usd(10) } })
  const [budget] = await budgets.list()
  const account = budgetAccountAt({ id: budget?.id, body: { period: 'total' } } as Parameters<typeof budgetAccountAt>[0], now.ms)
  const caller = await gateway.authenticate(secret)
  expect((await gateway.identity(caller)).budget).toMatchObject({ limit: usd(10), used: 0, remaining: usd(10) })
  await storage.ledger.settle({ id: 'r', amounts: { [account]: usd(4) }, at: now.ms })
  await storage.ledger.credit({ id: 'c', account, amount: usd(1), at: now.ms })
  expect((await gateway.identity(caller)).budget).toMatchObject({ used: usd(3), remaining: usd(7) })
})

test('an actor without a key may create keys, unless its own limits would not apply to them', async () => {
  const { gateway } = await createFixture()
  const as = (isBounded: boolean) =>
    gateway.workspaces('w', { key: { id: 'user:ada', name: 'Ada', scopes: new Set(scopes), isBounded } }).apiKeys
  expect(await as(false).create({ name: 'a' })).toMatchObject({ createdByKeyId: 'user:ada' })
  await expect(as(true).create({ name: 'b' })).rejects.toMatchObject({ code: 'operation_not_allowed' })
})
