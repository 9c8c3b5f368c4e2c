import { usd } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { codeOf, createFixture } from '../test/fixture.ts'

test('limits of a workspace are changed one by one, and null removes one', async () => {
  const { gateway } = await createFixture()
  const { limits } = gateway.workspaces('w')
  expect(await limits.get()).toEqual({})
  await limits.update({ tokensPerMinute: 1_000, concurrentRequests: 3 })
  expect(await limits.update({ tokensPerMinute: null, requestsPerMinute: 5 })).toEqual({ concurrentRequests: 3, requestsPerMinute: 5 })
  expect(await gateway.workspaces('other').limits.get()).toEqual({})
  expect(await codeOf(gateway.workspaces('nowhere').limits.get())).toBe('resource_not_found')
  await expect(limits.update({ requestsPerMinute: 0 })).rejects.toMatchObject({ facts: { param: 'requestsPerMinute' } })
})

test('a playground key works, and no list shows it; keys cannot find it, the operator can revoke it', async () => {
  const { gateway } = await createFixture()
  const { apiKeys } = gateway.workspaces('w')
  const { id, secret } = await apiKeys.create({ name: 'page', playground: true })
  const shown = await apiKeys.create({ name: 'shown' })
  expect((await gateway.authenticate(secret)).keyId).toBe(id)
  const ids = async (): Promise<readonly string[]> => (await apiKeys.list({ includeRevoked: true })).map(key => key.id)
  expect(await ids()).toEqual([shown.id])
  const asKey = gateway.workspaces('w', { key: { id: shown.id, name: 'shown', scopes: new Set(['keys:write']) } })
  for (const call of [asKey.apiKeys.get(id), asKey.apiKeys.revoke(id), asKey.apiKeys.usage(id)])
    expect(await codeOf(call)).toBe('resource_not_found')
  await apiKeys.revoke(id)
  expect(await codeOf(gateway.authenticate(secret))).toBe('invalid_api_key')
  expect(await ids()).toEqual([shown.id])
})

test('a key removes the restrictions of its descendants, but not its own', async () => {
  const { gateway } = await createFixture()
  const { apiKeys } = gateway.workspaces('w')
  const scopes = ['keys:write', 'inference:invoke'] as const
  const ends = { expiresAt: new Date(Date.UTC(2999, 0)) }
  const mine = await apiKeys.create({ name: 'mine', scopes, rateLimitRpm: 5, budget: { limit: usd(1) }, ...ends })
  const asMine = gateway.workspaces('w', { key: { id: mine.id, name: 'mine', scopes: new Set(scopes) } }).apiKeys
  const below = await asMine.create({ name: 'below', rateLimitRpm: 5 })
  for (const change of [{ rateLimitRpm: null }, { budget: null }, { expiresAt: null }])
    expect(await codeOf(asMine.update(mine.id, change))).toBe('operation_not_allowed')
  expect((await asMine.update(mine.id, { name: 'renamed' })).rateLimitRpm).toBe(5)
  expect((await asMine.update(below.id, { rateLimitRpm: null })).rateLimitRpm).toBeUndefined()
})

test('an undefined secret, as from an unset environment variable, creates no key', async () => {
  const { gateway } = await createFixture()
  const { apiKeys } = gateway.workspaces('w')
  const unset = { name: 'backend', secret: undefined } as unknown as { name: string }
  await expect(apiKeys.create(unset)).rejects.toMatchObject({ code: 'invalid_parameter_value', facts: { param: 'secret' } })
  expect(await apiKeys.list()).toEqual([])
})
