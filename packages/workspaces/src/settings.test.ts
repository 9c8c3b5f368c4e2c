import type { GatewayError } from '@signalbox/dialects/errors'
import { type Model, usd } from '@signalbox/dialects/protocol'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { codeOf, createFixture as createPlainFixture } from '../test/fixture.ts'

const providers = ['a', 'b', 'cheap'].map(id => simulated({ id }))
const model = (id: string, aliases: readonly string[] = []): Model => ({
  id,
  aliases,
  offers: providers.map(({ id: provider }) => ({ provider, model: id, api: 'chat', price: { input: 1, output: 1 } })),
})
const createFixture = (options: Parameters<typeof createPlainFixture>[0] = {}) =>
  createPlainFixture({ providers, models: [model('echo', ['echo-latest']), model('story')], ...options })

test('new settings demand nothing; changes are kept, and null resets a field', async () => {
  const { gateway } = await createFixture()
  const { settings } = gateway.workspaces('w')
  expect(await settings.get()).toEqual({
    name: 'W',
    dataPolicyRequired: 'any',
    blockedProviders: [],
    logRetentionDays: 365,
    ownKeysOnly: false,
  })
  await settings.update({ dataPolicyRequired: 'zdr', allowedProviders: ['a', 'b'], hedgeMaxExtraCost: usd(0.01) })
  expect(await settings.update({ name: 'Ours', allowedProviders: null })).toEqual({
    name: 'Ours',
    dataPolicyRequired: 'zdr',
    blockedProviders: [],
    logRetentionDays: 365,
    ownKeysOnly: false,
    hedgeMaxExtraCost: usd(0.01),
  })
  expect((await gateway.workspaces('other').settings.get()).dataPolicyRequired).toBe('any')
  expect(await codeOf(gateway.workspaces('nowhere').settings.get())).toBe('resource_not_found')
})

test.each([
  [{ name: '' }, 'name'],
  [{ dataPolicyRequired: 'none' as 'any' }, 'dataPolicyRequired'],
  [{ logRetentionDays: 0 }, 'logRetentionDays'],
  [{ logRetentionDays: 366 }, 'logRetentionDays'],
  [{ hedgeMaxExtraCost: Number.NaN }, 'hedgeMaxExtraCost'],
  [{ hedgeMaxExtraCost: 0.01 }, 'hedgeMaxExtraCost'],
  [{ blockedProviders: ['a', ''] }, 'blockedProviders[1]'],
  [{ allowedModels: Array.from({ length: 201 }, String) }, 'allowedModels'],
])('settings of %j are refused, naming the field', async (input, param) => {
  const { gateway } = await createFixture()
  await expect(gateway.workspaces('w').settings.update(input)).rejects.toMatchObject({ facts: { param } })
})

test('routing defaults are changed field by field', async () => {
  const { gateway } = await createFixture()
  const { routingDefaults } = gateway.workspaces('w')
  expect(await routingDefaults.get()).toEqual({})
  await routingDefaults.update({ strategy: 'latency', only: ['a', 'b'], timeoutMs: 1_000 })
  expect(await routingDefaults.update({ timeoutMs: null, ignore: ['a'] })).toEqual({ strategy: 'latency', only: ['a', 'b'], ignore: ['a'] })
})

test.each([
  [{ strategy: 'luck' }, 'strategy'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ deadlineMs: 1e9 }, 'deadlineMs'],
  [{ maxPrice: { input: -1 } }, 'maxPrice.input'],
  [{ maxPrice: { output: 2.5 } }, 'maxPrice.output'],
  [{ only: ['a'], ignore: ['a'] }, 'ignore'],
])('routing defaults of %j are refused, naming the field', async (input, param) => {
  const { gateway } = await createFixture()
  await expect(gateway.workspaces('w').routingDefaults.update(input)).rejects.toMatchObject({ facts: { param } })
  expect(await gateway.workspaces('w').routingDefaults.get()).toEqual({})
})

test('a misspelled strategy is refused with the intended one', async () => {
  const { gateway } = await createFixture()
  const refused = gateway.workspaces('w').routingDefaults.update({ strategy: 'lateny' })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('Did you mean "latency"?'), facts: { param: 'strategy' } })
})

test.each([
  ['settings', { blockedProviders: ['a', 'chaep'] }, 'blockedProviders[1]', 'cheap'],
  ['settings', { allowedProviders: ['cheaper'] }, 'allowedProviders[0]', 'cheap'],
  ['settings', { allowedModels: ['echo-latest', 'ehco'] }, 'allowedModels[1]', 'echo'],
  ['routingDefaults', { only: ['cheep'] }, 'only[0]', 'cheap'],
  ['routingDefaults', { order: ['a', 'cheep'] }, 'order[1]', 'cheap'],
  ['routingDefaults', { ignore: ['cheep'] }, 'ignore[0]', 'cheap'],
] as const)('a name in %s that nothing has is refused with the nearest one: %j', async (...row) => {
  const [resource, input, param, nearest] = row
  const { gateway } = await createFixture()
  const desk: { update(input: object): Promise<unknown>; get(): Promise<object> } = gateway.workspaces('w')[resource]
  const before = await desk.get()
  await expect(desk.update(input)).rejects.toMatchObject({
    code: 'invalid_parameter_value',
    facts: { param, suggestion: `Did you mean "${nearest}"?` },
  })
  expect(await desk.get()).toEqual(before)
})

test('an unknown name without a near match is refused with the list of known ones', async () => {
  const { gateway } = await createFixture()
  const refused = await gateway
    .workspaces('w')
    .settings.update({ blockedProviders: ['zzzzzzzzzzzz'] })
    .catch((error: GatewayError) => error)
  expect(refused).toMatchObject({ code: 'invalid_parameter_value', message: expect.stringMatching(/It has: .*cheap/) })
  expect((refused as GatewayError).facts).not.toHaveProperty('suggestion')
})

test('names that are already stored are accepted, and listed as warnings once they are unknown', async () => {
  const storage = memoryStorage()
  const first = await createFixture({ storage })
  await first.gateway.workspaces('w').settings.update({ allowedModels: ['echo', 'story'], blockedProviders: ['a', 'cheap'] })
  await first.gateway.workspaces('w').routingDefaults.update({ only: ['b', 'cheap'] })
  expect(await first.gateway.workspaces('w').settings.get()).not.toHaveProperty('warnings')
  first.gateway.models.replace([model('echo')])
  expect((await first.gateway.workspaces('w').settings.get()).warnings).toMatchObject([{ code: 'unknown_name', param: 'allowedModels[1]' }])

  const later = (await createFixture({ storage, providers: providers.slice(0, 2) })).gateway.workspaces('w')
  expect((await later.settings.get()).warnings?.map(({ param }) => param)).toEqual(['blockedProviders[1]'])
  expect((await later.routingDefaults.get()).warnings?.map(({ param }) => param)).toEqual(['only[1]'])
  const kept = await later.settings.update({ blockedProviders: ['cheap', 'b'] })
  expect([kept.blockedProviders, kept.warnings?.map(({ param }) => param)]).toEqual([['cheap', 'b'], ['blockedProviders[0]']])
  expect(await codeOf(later.settings.update({ blockedProviders: ['cheap', 'chaep'] }))).toBe('invalid_parameter_value')
  expect(await codeOf(later.settings.update({ allowedProviders: ['cheap'] }))).toBe('invalid_parameter_value')
  expect(await codeOf(later.routingDefaults.update({ strategy: 'cost' }))).toBe('nothing went wrong')
})
