import { messagesClient, responsesClient } from '@signalbox/dialects'
import { type JsonObject, usd } from '@signalbox/dialects/protocol'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { createFixture } from '../../test/money/fixture.ts'
import { applyPolicy } from '../request/policy/apply-policy.ts'
import { withDefaults } from '../request/policy/workspace-defaults.ts'
import type { RoutingDefaults } from '../resources/settings.ts'
import { runSteps } from '../runtime/steps.ts'
import { recordsOf } from './records.ts'
import { createWorkspacePolicies, type WorkspacePolicy } from './workspace-policy.ts'

describe('routing defaults', () => {
  const { engine } = createFixture()
  const decoded = (body: JsonObject) => responsesClient.decodeRequest({ model: 'model', input: 'Hi', ...body }, () => undefined)
  const routed = (defaults: RoutingDefaults, routing: JsonObject = {}) => {
    const workspace = { body: { routing: defaults } } as Parameters<typeof withDefaults>[1]['workspace']
    const policy = { workspace, budgets: [], credentials: new Map() }
    return withDefaults(decoded({ gateway: { routing } }), policy, engine).routing
  }

  test('apply field by field where the request sets nothing', () => {
    const defaults = { strategy: 'cost', allowFallbacks: false, timeoutMs: 5, deadlineMs: 9, maxPrice: { input: usd(1) }, byokFirst: false }
    expect(routed(defaults, { strategy: 'latency', timeout_ms: 7 })).toEqual({
      models: ['model'],
      strategy: 'latency',
      allow_fallbacks: false,
      timeout_ms: 7,
      deadline_ms: 9,
      max_price: { input: 1 },
      byok_first: false,
    })
  })

  test('do not remove a fallback that the request asks for, in any dialect', () => {
    const policy = { workspace: { body: { routing: { allowFallbacks: false } } }, budgets: [], credentials: new Map() }
    const fallbacks = (body: JsonObject) =>
      withDefaults(
        messagesClient.decodeRequest(
          { model: 'model', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], ...body },
          () => undefined,
        ),
        policy as unknown as Parameters<typeof withDefaults>[1],
        engine,
      ).routing.allow_fallbacks
    expect(fallbacks({ gateway: { routing: { allow_fallbacks: true } } })).toBe(true)
    expect(fallbacks({ gateway: { routing: { strategy: 'cost' } } })).toBe(false)
    expect(fallbacks({})).toBe(false)
  })

  test('give way to the request for the same provider, and are ignored for providers that no longer exist', () => {
    expect(routed({ order: ['second', 'first', 'gone'], only: ['first', 'second'] }, { ignore: ['second'] })).toMatchObject({
      order: ['first'],
      only: ['first'],
      ignore: ['second'],
    })
    expect(routed({ ignore: ['first'] }, { only: ['first'] })).toMatchObject({ only: ['first'], ignore: [] })
    expect(routed({ only: ['first'] }, { order: ['second', 'first'] })).toMatchObject({ only: ['first'], order: ['first'] })
  })

  test('do not hide a contradiction within one request', async () => {
    const { ask } = createFixture({ workspace: { billing: 'postpaid', routing: { order: ['second'] } } })
    const gateway = { routing: { only: ['first'], ignore: ['first'] } }
    await expect(ask({ gateway })).rejects.toMatchObject({ facts: { param: 'gateway.routing.ignore[0]' } })
    expect((await ask()).routing?.provider).toBe('second')
  })
})

describe('a refusal caused by the workspace says so, and names no field that the request does not have', () => {
  const refusal = (workspace: object, request: JsonObject = {}) =>
    createFixture({ workspace: { billing: 'postpaid', ...workspace } }).ask(request)

  test.each([
    [{ routing: { only: ['gone'] } }, "`only` of the workspace's routing defaults"],
    [{ routing: { ignore: ['first', 'second'] } }, "`ignore` of the workspace's routing defaults"],
    [{ routing: { maxPrice: { input: 0, output: 0 } } }, "`max_price` of the workspace's routing defaults"],
    [{ routing: { strategy: 'gone' } }, "workspace's routing defaults name the strategy"],
    [{ settings: { blockedProviders: ['first', 'second'] } }, "the workspace's settings do not allow the provider"],
    [{ settings: { allowedModels: ['other'] } }, "the workspace's settings do not allow the model"],
    [{ settings: { dataPolicyRequired: 'zdr' } }, "the workspace's settings require"],
  ])('%j', async (workspace, words) => {
    const refused = await refusal(workspace).then(
      () => undefined,
      (error: { readonly status: number; readonly message: string; readonly facts: { readonly param?: string } }) => error,
    )
    expect([refused?.status, refused?.facts.param]).toEqual([400, undefined])
    expect(refused?.message).toContain(words)
    expect(refused?.message).not.toContain('gateway.routing')
  })

  test('a refusal caused by a field of the request names that field, whatever the defaults are', async () => {
    const refused = refusal(
      { routing: { ignore: ['second'] } },
      { gateway: { routing: { only: ['second'], ignore: ['first', 'second'] } } },
    )
    await expect(refused).rejects.toMatchObject({ facts: { param: expect.stringMatching(/^gateway\.routing\./) } })
    const unmet = refusal({ routing: { order: ['first'] } }, { gateway: { routing: { max_price: { input: 0, output: 0 } } } })
    await expect(unmet).rejects.toMatchObject({ facts: { param: 'gateway.routing.max_price' } })
  })
})

test('a request cannot override what the settings of its workspace forbid', async () => {
  const { ask } = createFixture({ workspace: { billing: 'postpaid', settings: { blockedProviders: ['first'] } } })
  expect((await ask({ gateway: { routing: { order: ['first'] } } })).routing?.provider).toBe('second')
  const { ask: asking } = createFixture({ workspace: { billing: 'postpaid', settings: { allowedModels: ['other'] } } })
  await expect(asking()).rejects.toMatchObject({ code: 'routing_constraint_unsatisfiable' })
})

test('a hedged call may cost at most what both the gateway and the workspace allow', async () => {
  const { engine, caller } = createFixture()
  const request = responsesClient.decodeRequest({ model: 'model', input: 'Hi' }, () => undefined)
  const bounded = async (hedgeMaxExtraCost: number) => {
    const workspace = { body: { settings: { hedgeMaxExtraCost } } } as WorkspacePolicy['workspace']
    const policies = { of: () => Promise.resolve({ workspace, budgets: [], credentials: new Map() }) }
    return (await runSteps(applyPolicy({ ...engine, policies, maxHedgeCost: 0.5 }, request, { caller }))).maxHedgeCost
  }
  expect(await Promise.all([bounded(usd(0.1)), bounded(0), bounded(usd(2))])).toEqual([0.1, 0, 0.5])
})

describe('without a policy', () => {
  const down = (): Promise<never> => Promise.reject(new Error('The disk is gone.'))

  test('no provider is called while the store is down', async () => {
    const store = memoryStorage()
    const { ask, providers, engine } = createFixture()
    const records = recordsOf({ ...store.records, find: down, list: down }, engine.clock)
    const policies = createWorkspacePolicies({ records, clock: engine.clock, open: async () => new Map() })
    const cut = createFixture({ engine: { policies } })
    await expect(cut.ask()).rejects.toMatchObject({ code: 'service_unavailable', status: 503 })
    expect(cut.providers.first.calls).toHaveLength(0)
    await expect(ask()).rejects.toMatchObject({ code: 'insufficient_credits' })
    expect(providers.first.calls).toHaveLength(0)
  })
})

describe('a policy that is requested repeatedly', () => {
  async function reading() {
    const store = memoryStorage()
    const { engine, clock } = createFixture()
    const state = { reads: 0, isDown: false }
    await store.records.commit({ puts: [{ ...record, body: JSON.stringify({ name: 'W', billing: 'postpaid' }) }] })
    const find: typeof store.records.find = (...named) => {
      state.reads += 1
      return state.isDown ? Promise.reject(new Error('The disk is gone.')) : store.records.find(...named)
    }
    const policies = createWorkspacePolicies({
      records: recordsOf({ ...store.records, find }, clock),
      clock: engine.clock,
      open: async () => new Map(),
    })
    await policies.of('w')
    const passing = async (milliseconds: number) => {
      await clock.advance(milliseconds)
      return policies.cached('w') !== undefined
    }
    return { state, passing, clock }
  }
  const record = { kind: 'workspace', workspaceId: 'w', id: 'w', version: 0, createdAt: 0 }

  test('are read in the background, once for all requests, so that none waits', async () => {
    const { state, passing } = await reading()
    for (let second = 0; second < 95; second++) expect(await passing(1_000)).toBe(true)
    expect(state.reads).toBe(5)
  })

  test('are never older than 30 s, even if they can no longer be read', async () => {
    const { state, passing } = await reading()
    state.isDown = true
    for (let second = 1; second < 30; second++) expect(await passing(1_000)).toBe(true)
    expect(await passing(1_000)).toBe(false)
  })

  test('count their age from the start of the read, however long the store takes', async () => {
    const store = memoryStorage()
    const { clock } = createFixture()
    await store.records.commit({ puts: [{ ...record, body: JSON.stringify({ name: 'W', billing: 'postpaid' }) }] })
    const find: typeof store.records.find = async (...named) => {
      const found = await store.records.find(...named)
      await clock.advance(9_000)
      return found
    }
    const policies = createWorkspacePolicies({ records: recordsOf({ ...store.records, find }, clock), clock, open: async () => new Map() })
    await policies.of('w')
    expect(policies.cached('w')).toBeDefined()
    await clock.advance(21_000)
    expect(policies.cached('w')).toBeUndefined()
  })

  test('are read again if a background read was dropped with its request, and never wait for a dropped one', async () => {
    const store = memoryStorage()
    const { clock } = createFixture()
    await store.records.commit({ puts: [{ ...record, body: JSON.stringify({ name: 'W', billing: 'postpaid' }) }] })
    let isDropped = false
    const lost = () => new Promise<never>(() => {})
    const find: typeof store.records.find = (...named) => (isDropped ? lost() : store.records.find(...named))
    // Timers do not fire either.
    const without = { ...clock, setTimeout: () => 0, clearTimeout() {} }
    const policies = createWorkspacePolicies({
      records: recordsOf({ ...store.records, find }, without),
      clock: without,
      open: async () => new Map(),
    })
    await policies.of('w')
    await clock.advance(25_000)
    isDropped = true
    expect(policies.cached('w')).toBeDefined()
    isDropped = false
    await clock.advance(6_000)
    await expect(policies.of('w')).resolves.toBeDefined()
    isDropped = true
    policies.forget('w')
    void policies.of('w')
    isDropped = false
    await clock.advance(20_000)
    await expect(policies.of('w')).resolves.toBeDefined()
  })

  test('are not read unless requested', async () => {
    const { state, passing } = await reading()
    expect(await passing(3_600_000)).toBe(false)
    expect(state.reads).toBe(1)
  })
})

test('a request of a workspace without settings reads the store exactly four times', async () => {
  const counted: string[] = []
  const storage = counting(memoryStorage(), counted)
  const { ask } = createFixture({ workspace: { billing: 'postpaid' }, engine: { storage } })
  await ask()
  expect(counted.sort()).toEqual(['counters.enter', 'counters.take', 'ledger.reserve', 'storage.settle'])
})

function counting(storage: Storage, counted: string[]): Storage {
  const watched = <T extends object>(name: string, part: T): T =>
    new Proxy(part, {
      get(target, field) {
        const value: unknown = Reflect.get(target, field)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          counted.push(`${name}.${String(field)}`)
          return Reflect.apply(value, target, args)
        }
      },
    })
  const { counters, ledger, usage, records, settle } = storage
  return {
    ...storage,
    counters: watched('counters', counters),
    ledger: watched('ledger', ledger),
    usage: watched('usage', usage),
    records: watched('records', records),
    ...watched('storage', { settle }),
  }
}
