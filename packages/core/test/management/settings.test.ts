import { expect, test } from 'vitest'
import { codeOf, stage } from './stage.ts'

test('settings begin with what demands nothing; what is changed stays changed, and null takes it back', async () => {
  const { gateway } = await stage()
  const { settings } = gateway.workspaces('w')
  expect(await settings.get()).toEqual({ name: 'W', dataPolicyRequired: 'any', logRetentionDays: 365 })
  await settings.update({ dataPolicyRequired: 'zdr', allowedProviders: ['a', 'b'], hedgeMaxExtraCost: 0.01 })
  expect(await settings.update({ name: 'Ours', allowedProviders: null })).toEqual({
    name: 'Ours',
    dataPolicyRequired: 'zdr',
    logRetentionDays: 365,
    hedgeMaxExtraCost: 0.01,
  })
  expect((await gateway.workspaces('other').settings.get()).dataPolicyRequired).toBe('any')
  expect(await codeOf(gateway.workspaces('nowhere').settings.get())).toBe('resource_not_found')
})

test.each([
  [{ name: '' }, 'name'],
  [{ dataPolicyRequired: 'none' as 'any' }, 'data_policy_required'],
  [{ logRetentionDays: 0 }, 'log_retention_days'],
  [{ logRetentionDays: 366 }, 'log_retention_days'],
  [{ hedgeMaxExtraCost: Number.NaN }, 'hedge_max_extra_cost'],
  [{ blockedProviders: ['a', ''] }, 'blocked_providers[1]'],
  [{ allowedModels: Array.from({ length: 201 }, String) }, 'allowed_models'],
])('settings of %j are refused, naming the field', async (input, param) => {
  const { gateway } = await stage()
  await expect(gateway.workspaces('w').settings.update(input)).rejects.toMatchObject({ facts: { param } })
})

test('routing defaults are changed field by field', async () => {
  const { gateway } = await stage()
  const { routingDefaults } = gateway.workspaces('w')
  expect(await routingDefaults.get()).toEqual({})
  await routingDefaults.update({ strategy: 'latency', only: ['a', 'b'], timeoutMs: 1_000 })
  expect(await routingDefaults.update({ timeoutMs: null, ignore: ['a'] })).toEqual({ strategy: 'latency', only: ['a', 'b'], ignore: ['a'] })
})

test.each([
  [{ strategy: 'luck' }, 'strategy'],
  [{ timeoutMs: 0 }, 'timeout_ms'],
  [{ deadlineMs: 1e9 }, 'deadline_ms'],
  [{ maxPrice: { input: -1 } }, 'max_price.input'],
  [{ only: ['a'], ignore: ['a'] }, 'ignore'],
])('routing defaults of %j are refused, naming the field', async (input, param) => {
  const { gateway } = await stage()
  await expect(gateway.workspaces('w').routingDefaults.update(input)).rejects.toMatchObject({ facts: { param } })
  expect(await gateway.workspaces('w').routingDefaults.get()).toEqual({})
})

test('a strategy that is nearly one is refused with the one that was meant', async () => {
  const { gateway } = await stage()
  const refused = gateway.workspaces('w').routingDefaults.update({ strategy: 'lateny' })
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('Did you mean "latency"?'), facts: { param: 'strategy' } })
})
