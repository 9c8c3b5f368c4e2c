import { isGatewayError } from '@signalbox/dialects/errors'
import { usd } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { createFixture } from '../test/fixture.ts'
import type { Workspace } from './workspaces.ts'

/** Like untyped input from outside. */
type Loose<Resource> = { readonly [Verb in keyof Resource]: (...args: readonly unknown[]) => Promise<unknown> }
type LooseWorkspace = { readonly [Resource in keyof Workspace]: Loose<Workspace[Resource]> }

const loosely = async (): Promise<LooseWorkspace> => {
  const { gateway } = await createFixture()
  return gateway.workspaces('w') as unknown as LooseWorkspace
}

test.each<readonly [call: string, act: (w: LooseWorkspace) => Promise<unknown>, told: readonly [code: string, param: string | undefined]]>([
  ['a key without a name', w => w.apiKeys.create({}), ['missing_required_parameter', 'name']],
  ['a key of nothing', w => w.apiKeys.create(), ['invalid_request', undefined]],
  ['a limit that is a text', w => w.apiKeys.create({ name: 'a', rateLimitRpm: '5' }), ['invalid_parameter_value', 'rateLimitRpm']],
  ['a limit spelled as on the wire', w => w.apiKeys.create({ name: 'a', rate_limit_rpm: 5 }), ['unknown_field', 'rate_limit_rpm']],
  ['a date that is a text', w => w.apiKeys.create({ name: 'a', expiresAt: '2030-01-31' }), ['invalid_parameter_value', 'expiresAt']],
  ['a scope outside a list', w => w.apiKeys.create({ name: 'a', scopes: 'keys:read' }), ['invalid_parameter_value', 'scopes']],
  ['the budget of a key without a limit', w => w.apiKeys.create({ name: 'a', budget: {} }), ['missing_required_parameter', 'budget.limit']],
  ['no id', w => w.apiKeys.get(), ['invalid_parameter_value', 'id']],
  ['a page of less than one', w => w.apiKeys.list({ limit: -1 }), ['invalid_parameter_value', 'limit']],
  [
    'a period that there is not',
    w => w.budgets.create({ name: 'b', limit: usd(1), period: 'year' }),
    ['invalid_parameter_value', 'period'],
  ],
  ['money that is a text', w => w.budgets.create({ name: 'b', limit: '5' }), ['invalid_parameter_value', 'limit']],
  ['credit without a reference', w => w.billing.credit({ amount: 1 }), ['missing_required_parameter', 'reference']],
  ['a demand that nobody knows', w => w.settings.update({ blocked: ['a'] }), ['unknown_field', 'blocked']],
  ['one provider outside a list', w => w.settings.update({ blockedProviders: 'a' }), ['invalid_parameter_value', 'blockedProviders']],
  ['a name taken away', w => w.settings.update({ name: null }), ['invalid_parameter_value', 'name']],
  ['a price for both sides', w => w.routingDefaults.update({ maxPrice: 5 }), ['invalid_parameter_value', 'maxPrice']],
  ['a price of another side', w => w.routingDefaults.update({ maxPrice: { prompt: 5 } }), ['unknown_field', 'maxPrice.prompt']],
  ['a time-out that is a text', w => w.routingDefaults.update({ timeoutMs: '5' }), ['invalid_parameter_value', 'timeoutMs']],
  ['a limit that there is not', w => w.limits.update({ rpm: 5 }), ['unknown_field', 'rpm']],
  ['an invite for nobody', w => w.invites.create({}), ['missing_required_parameter', 'email']],
  ['a provider key of nobody', w => w.byokKeys.create({}), ['missing_required_parameter', 'provider']],
  ['a date where milliseconds are meant', w => w.analytics.summary({ from: new Date(0) }), ['invalid_parameter_value', 'from']],
  ['no time at all', w => w.analytics.summary({ from: Number.NaN }), ['invalid_parameter_value', 'from']],
  ['an interval that there is not', w => w.analytics.trends({ interval: 'minute' }), ['invalid_parameter_value', 'interval']],
  ['the audit of another workspace', w => w.auditEvents.list({ workspaceId: 'other' }), ['unknown_field', 'workspaceId']],
])('in process too, %s is refused with the name of the field', async (_, act, [code, param]) => {
  const error: unknown = await act(await loosely()).catch(reason => reason)
  expect(isGatewayError(error) && { code: error.code, param: error.facts.param }).toEqual({ code, param })
})

test('an unknown field is refused with the nearest known one, and nothing is stored', async () => {
  const { limits } = await loosely()
  await expect(limits.update({ requests_per_minute: 5 })).rejects.toThrow('Did you mean "requestsPerMinute"?')
  expect(await limits.get()).toEqual({})
})

test('undefined fields count as absent', async () => {
  const { settings } = await loosely()
  expect(await settings.update({ logRetentionDays: 30, allowedModels: undefined, nothing: undefined })).toMatchObject({
    logRetentionDays: 30,
  })
})

test.each([undefined, null, '', 7, 'w'.repeat(256)])(
  'an invalid workspace id such as %s is refused, and never means all workspaces',
  async id => {
    const { gateway } = await createFixture()
    await gateway.workspaces('other').apiKeys.create({ name: 'theirs' })
    expect(() => gateway.workspaces(id as string)).toThrow('`workspaceId` is ')
  },
)

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'a', billing: 'free' }, 'billing'],
  [{ id: '', name: 'a' }, 'workspaceId'],
])('a workspace of %j is refused', async (input, param) => {
  const { gateway } = await createFixture()
  await expect(gateway.workspaces.create(input as { name: string })).rejects.toMatchObject({ facts: { param } })
  expect(await gateway.workspaces.list()).toHaveLength(2)
})
