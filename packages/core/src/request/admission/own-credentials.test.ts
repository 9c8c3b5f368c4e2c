import { acts } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { budget, costOfAnswer, createFixture, ownOf } from '../../../test/money/fixture.ts'
import { byokAccount, creditAccount } from '../../access/accounts.ts'
import { planRequest } from '../dry-run/planned-request.ts'
import type { Engine } from '../engine.ts'

const credit = creditAccount('workspace')
const own = { first: [ownOf('first')] }
const byok = byokAccount('workspace', Date.UTC(2026, 2, 10, 12))
const refused = acts.status(401)

describe('a response by a BYOK credential of the workspace', () => {
  test('costs no credit, and its response and usage row give the cost charged by the provider', async () => {
    const { ask, balance, engine } = createFixture({ own })
    const { routing } = await ask({}, 'r')
    expect(routing).toMatchObject({ provider: 'first', cost: { usd: 0, byok_usd: costOfAnswer / 1e6 } })
    expect(await engine.storage.usage.find('workspace', 'r')).toMatchObject({ credential: 'workspace', cost: 0, byokCost: costOfAnswer })
    expect([await balance(credit), await balance(byok)]).toEqual([0, -1])
  })

  test('is the only option without credit, and the error says why platform credentials were not tried', async () => {
    const { ask, providers } = createFixture({ own, acts: { first: refused } })
    await expect(ask()).rejects.toMatchObject({ code: 'provider_error', message: expect.stringContaining('not have enough credit') })
    expect(providers.second.calls).toHaveLength(0)
  })

  test('counts against a budget only if the budget includes BYOK', async () => {
    const budgets = [budget('ours', { limit: 1_000 }), budget('all', { limit: 1_000, includeByok: true })]
    const { ask, balance } = createFixture({ own, budgets })
    await ask()
    expect([await balance('budget:ours:2026-03-01'), await balance('budget:all:2026-03-01')]).toEqual([0, -costOfAnswer])
  })

  test('counts against the subscription’s monthly BYOK cap; past the cap the platform’s credentials are used while there is credit', async () => {
    const subscription = { plan: 'p', status: 'active', byokMonthlyRequestCap: 1 } as const
    const { ask, credit: pay, balance, clock } = createFixture({ own, workspace: { subscription } })
    expect((await ask()).routing?.cost).toMatchObject({ usd: 0 })
    await expect(ask()).rejects.toMatchObject({ code: 'budget_exceeded', message: expect.stringContaining('2026-04-01') })
    await pay(1_000)
    expect((await ask()).routing?.cost).toEqual({ usd: costOfAnswer / 1e6 })
    expect([await balance(credit), await balance(byok)]).toEqual([1_000 - costOfAnswer, -1])
    await clock.advance(31 * 86_400_000)
    expect((await ask()).routing?.cost).toMatchObject({ byok_usd: costOfAnswer / 1e6 })
  })
})

describe('the order of credentials', () => {
  const named = async (options: Parameters<typeof createFixture>[0], routing = {}) => {
    const { engine, credit: pay } = createFixture(options)
    await pay(1_000_000)
    const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const
    const request = { prompt: { input }, delivery: 'whole', routing: { models: ['model'], allow_fallbacks: true, ...routing } } as const
    const { candidates } = await planRequest(engine, request, { caller: { workspaceId: 'workspace' } } as Parameters<typeof planRequest>[2])
    return candidates.map(({ credential }) => credential.id)
  }

  test('puts the BYOK credentials, the default of each provider first, before platform credentials, or after them if byok_first is false', async () => {
    const two = { first: [ownOf('first'), ownOf('first', { id: 'spare' })], second: [ownOf('second')] }
    const ours = ['first-credential', 'second-credential']
    expect(await named({ own: two })).toEqual(['byok-first', 'byok-second', 'spare', ...ours])
    expect(await named({ own: two }, { byok_first: false })).toEqual([...ours, 'byok-first', 'byok-second', 'spare'])
    expect(await named({ own: two, workspace: { routing: { byokFirst: false } } })).toEqual([...ours, 'byok-first', 'byok-second', 'spare'])
  })

  test('includes an account whose own data policy meets the requirement, whatever its provider’s policy is', async () => {
    const strict = { workspace: { settings: { dataPolicyRequired: 'zdr' as const } } }
    expect(await named({ ...strict, own: { second: [ownOf('second', { dataPolicy: 'zdr' })] } })).toEqual(['byok-second'])
    await expect(named({ ...strict, own })).rejects.toMatchObject({ code: 'routing_constraint_unsatisfiable' })
  })
})

describe('a refused credential', () => {
  test('is reported to the hook, and a platform credential is used if fallbacks are allowed', async () => {
    const refusals: unknown[] = []
    const onCredentialRefused: Engine['onCredentialRefused'] = (workspaceId, { id }) => void refusals.push([workspaceId, id])
    const { ask, credit: pay } = createFixture({ own, engine: { onCredentialRefused }, acts: { first: refused } })
    await pay(1_000_000)
    expect((await ask()).routing).toMatchObject({ provider: 'second', cost: { usd: costOfAnswer / 1e6 } })
    expect(refusals).toEqual([['workspace', 'byok-first']])
  })

  test('returns a 502 that names the key if fallbacks are disabled', async () => {
    const { ask, credit: pay, providers } = createFixture({ own, acts: { first: refused } })
    await pay(1_000_000)
    const error = { code: 'provider_error', status: 502, message: expect.stringContaining('"byok-first"') }
    await expect(ask({ gateway: { routing: { allow_fallbacks: false } } })).rejects.toMatchObject(error)
    expect(providers.second.calls).toHaveLength(0)
  })

  test('of the platform is not named in the error', async () => {
    const { ask, credit: pay } = createFixture({ acts: { first: refused, second: refused } })
    await pay(1_000_000)
    await expect(ask()).rejects.toMatchObject({ message: expect.not.stringContaining('BYOK') })
  })
})
