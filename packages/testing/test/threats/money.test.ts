import { allRoutes as routes } from '@signalbox/api/routes'
import { responsesProvider } from '@signalbox/dialects'
import { createGateway, usd } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { fasterClock } from '../../src/faster-clock.ts'
import { testModels } from '../../src/gateway.ts'
import { acts, scriptedProvider } from '../../src/scripted-provider.ts'
import { ask } from '../matrix/asking.ts'
import { outcome, quiet, scene } from './scene.ts'

describe('credit', () => {
  test('is added through one row only, which needs a scope', async () => {
    const paying = routes
      .filter(({ path, method }) => method !== 'GET' && path.includes('/billing/'))
      .map(({ method, path, needs }) => [method, path, needs])
    expect(paying).toEqual([
      ['POST', '/v1/workspaces/:workspace_id/billing/credits', ['billing:write']],
      ['PATCH', '/v1/workspaces/:workspace_id/billing/auto-reload', ['billing:write']],
    ])
    const open = routes.filter(({ needs, method }) => needs === 'nothing' && method !== 'GET').map(({ path }) => path)
    expect(open).toEqual(['/v1/invites/accept'])
  })

  test('repeated with the same reference is one credit; with other values it is refused, also for another key', async () => {
    const { api, gateway } = await scene()
    const secrets = await Promise.all(
      ['a', 'b'].map(
        async name => (await gateway.workspaces('w').apiKeys.create({ name, scopes: ['billing:write', 'billing:read'] })).secret,
      ),
    )
    const pay = (secret: string | undefined, amount: number) =>
      ask({ api, secret }, 'POST /v1/workspaces/w/billing/credits', { body: { amount_microdollars: amount, reference: 'payment 1' } })
    for (const secret of [...secrets, ...secrets]) expect((await pay(secret, 500)).json.balance_microdollars).toBe(500)
    for (const secret of secrets)
      for (const amount of [501, 1, 1_000_000]) expect((await pay(secret, amount)).json.error.code).toBe('duplicate_resource')
    expect((await gateway.workspaces('w').billing.balance()).balance).toBe(500)
    expect((await gateway.workspaces('other').billing.balance()).balance).toBe(0)
  })

  test('that is to be reloaded is computed from the ledger, whatever the client sends', async () => {
    const asked: unknown[] = []
    const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
    const here = await scene({
      providers: [provider],
      models: testModels([{ id: 'p', dialect: 'responses' }]),
      billing: { onReload: (_, reload) => void asked.push(reload) },
    })
    const home = here.gateway.workspaces('w')
    await home.billing.credit({ reference: 'first', amount: 100_000 })
    await home.billing.autoReload.update({ enabled: true, threshold: 99_999, target: 250_000 })
    const { secret } = await home.apiKeys.create({ name: 'key' })
    await here.gateway.responses.create({ model: 'test-model', input: 'Hi', max_output_tokens: 100 }, { apiKey: secret })
    await here.gateway.close()
    const { balance } = await here.storage.ledger.balance('credit:w')
    expect(balance).toBeLessThan(99_999)
    expect(asked).toEqual([expect.objectContaining({ balance, amount: 250_000 - balance, target: 250_000 })])
  })
})

test('a key spends on the budgets of the keys above it, and cannot create one that spends past them', async () => {
  const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
  const here = await scene({ providers: [provider], models: testModels([{ id: 'p', dialect: 'responses' }]) })
  const home = here.gateway.workspaces('w')
  await home.billing.credit({ reference: 'first', amount: 1_000_000_000 })
  const parent = await home.apiKeys.create({ name: 'parent', scopes: '*', budget: { limit: usd(0.002) } })
  const secrets = [parent.secret]
  for (let depth = 0; depth < 3; depth++) {
    const body = { name: 'below', scopes: ['inference:invoke', 'keys:write'] }
    const { json } = await ask({ api: here.api, secret: secrets.at(-1) }, 'POST /v1/workspaces/w/api-keys', { body })
    secrets.push(json.api_key)
  }
  const answers: string[] = []
  for (let round = 0; round < 20; round++)
    for (const secret of secrets) {
      const { status } = await ask({ api: here.api, secret }, 'POST /v1/responses', {
        body: { model: 'test-model', input: 'Hi', max_output_tokens: 100 },
      })
      answers.push(`${status}`)
    }
  expect(new Set(answers)).toEqual(new Set(['200', '402']))
  expect(new Set(answers.slice(-4))).toEqual(new Set(['402']))
  const [budget] = await home.budgets.list()
  expect(budget?.used).toBeGreaterThan(0)
  expect(budget?.used).toBeLessThanOrEqual(usd(0.002))
  expect((await home.billing.balance()).spent).toBe(budget?.used)
})

test('a gateway does not start with an invalid secret', () => {
  const start = (sealingKey: unknown, previousSealingKeys?: unknown) => () =>
    createGateway({
      providers: [],
      models: [],
      storage: memoryStorage(),
      logger: quiet,
      ...({ sealingKey, ...(previousSealingKeys !== undefined && { previousSealingKeys }) } as object),
    })
  const good = new Uint8Array(32).fill(7)
  for (const bad of [
    'a'.repeat(32),
    'g'.repeat(64),
    '0'.repeat(64),
    new Uint8Array(0),
    new Uint8Array(31).fill(7),
    new Uint8Array(33).fill(7),
    new Uint8Array(32),
    null,
    0,
    [],
  ]) {
    expect(start(bad), String(bad)).toThrow(/sealingKey/)
    expect(start(good, [bad]), String(bad)).toThrow(/previousSealingKeys/)
  }
  expect(start(undefined, [good])).toThrow(/previousSealingKeys/)
  // A variable that is set to nothing is a key that is absent; among keys of before it is a mistake.
  expect(start('')).not.toThrow()
  expect(start(good, [''])).toThrow(/previousSealingKeys/)
  expect(start(good)).not.toThrow()
})

describe('a client that disconnects', () => {
  const body = { model: 'test-model', input: 'Count to a hundred.', stream: true } as const
  const testbed = async (script: readonly ReturnType<typeof acts.reply>[], inferenceRpm = 1e6, concurrentRequests = 5) => {
    const provider = scriptedProvider({ id: 'p', dialect: responsesProvider, acts: script })
    const limits = { inferenceRpm, concurrentRequests }
    const models = testModels([{ id: 'p', dialect: 'responses' }])
    const here = await scene({ providers: [provider], models, limits, clock: fasterClock(20) })
    await here.gateway.workspaces('w').billing.credit({ reference: 'first', amount: 1_000_000_000 })
    const { secret } = await here.gateway.workspaces('w').apiKeys.create({ name: 'key' })
    return { ...here, provider, apiKey: secret }
  }

  test('after the first content pays for it each time', async () => {
    const times = 25
    const script = Array.from({ length: times }, () => acts.pauseAfter(4, 60_000))
    const { gateway, apiKey } = await testbed(script, 1e6, times)
    for (let at = 0; at < times; at++) {
      const leaving = new AbortController()
      const stream = await gateway.responses.create(body, { apiKey, signal: leaving.signal })
      for await (const { type } of stream) {
        if (type !== 'response.output_text.delta') continue
        leaving.abort()
        break
      }
    }
    await gateway.close({ graceMs: 1_000 }).catch(() => {})
    const rows = await gateway.workspaces('w').analytics.requests({ limit: 100 })
    expect(rows.map(({ result, cost }) => [result, cost > 0])).toEqual(Array.from({ length: times }, () => ['abandoned', true]))
  })

  test('before the first content pays nothing, and is bound by the rate limits', async () => {
    const most = 10
    const { gateway, apiKey, provider } = await testbed(
      Array.from({ length: 100 }, () => acts.never()),
      most,
    )
    const codes: unknown[] = []
    for (let at = 0; at < most + 5; at++) {
      const leaving = new AbortController()
      const before = provider.calls.length
      const answer = outcome(gateway.responses.create(body, { apiKey, signal: leaving.signal }))
      while (provider.calls.length === before && codes.length < most) await new Promise(resolve => setImmediate(resolve))
      if (provider.calls.length > before) leaving.abort()
      codes.push(await answer)
    }
    expect(provider.calls).toHaveLength(most)
    expect(codes.slice(most)).toEqual(Array.from({ length: 5 }, () => 'requests_per_min_exceeded'))
    expect((await gateway.workspaces('w').billing.balance()).spent).toBe(0)
  })
})
