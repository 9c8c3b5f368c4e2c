import { createGateway, type GatewayOptions, usd } from '@signalbox/gateway'
import { openai } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'

// `setup` runs in each process, and again at each restart: existing objects stay unchanged.

type Setup = NonNullable<GatewayOptions['setup']>

const secret = 'ak_made-once-0123456789'

const everything: Setup = async ({ workspaces }) => {
  await workspaces.create({ id: 'app', name: 'App' })
  const app = workspaces('app')
  await app.apiKeys.create({ name: 'backend', secret })
  await app.budgets.create({ name: 'monthly', limit: usd(50) })
  await app.byokKeys.create({ name: 'ours', provider: 'openai', apiKey: 'sk-ours-0123456789' })
  await app.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' })
  await app.billing.credit({ reference: 'start', amount: usd(10) })
}

const gatewayOn = (storage: ReturnType<typeof memoryStorage>, setup: Setup, warnings: string[] = []) => {
  const note = (_: unknown, message: string): void => void warnings.push(message)
  return createGateway({
    providers: [openai({ apiKey: 'sk-platform-0123456789' })],
    // No provider is called: the check of an added key finds it unreachable.
    transport: () => Promise.reject(new Error('unreachable')),
    models: [
      {
        id: 'gpt-x',
        offers: [{ provider: 'openai', model: 'gpt-x', api: 'responses', price: { input: 1e6, output: 2e6 } }],
      },
    ],
    storage,
    sealingKey: new Uint8Array(32).fill(7),
    setup,
    logger: { info: () => {}, warn: note, error: note },
  })
}

test.each([
  ['memory', () => memoryStorage()],
  ['SQLite', () => sqliteStorage(':memory:')],
] as const)('over %s, two processes at once and a third one after them make everything once', async (_, open) => {
  const storage = open()
  onTestFinished(() => storage.close())
  const processes = [gatewayOn(storage, everything), gatewayOn(storage, everything)]
  expect(await Promise.all(processes.map(async gateway => (await gateway.health()).problems))).toEqual([[], []])
  const third = gatewayOn(storage, everything)
  expect((await third.authenticate(secret)).workspaceId).toBe('app')
  const app = third.workspaces('app')
  const lists = [app.apiKeys.list(), app.budgets.list(), app.byokKeys.list(), app.members.list(), app.billing.ledger()]
  expect((await Promise.all(lists)).map(({ length }) => length)).toEqual([1, 1, 1, 1, 1])
})

test('outside of it a second budget of the same name is a separate one, and a second provider key is refused', async () => {
  const gateway = gatewayOn(memoryStorage(), everything)
  expect((await gateway.health()).problems).toEqual([])
  const app = gateway.workspaces('app')
  await app.budgets.create({ name: 'monthly', limit: usd(5) })
  expect((await app.budgets.list()).map(({ limit }) => limit)).toEqual([usd(50), usd(5)])
  const again = app.byokKeys.create({ name: 'ours', provider: 'openai', apiKey: 'sk-ours-0123456789' })
  await expect(again).rejects.toMatchObject({ code: 'duplicate_resource' })
})

test('a gateway is not ready if its setup fails, and becomes ready once it succeeds', async () => {
  let isDown = true
  const gateway = gatewayOn(memoryStorage(), async setting => {
    if (isDown) throw new Error('no network')
    await everything(setting)
  })
  expect((await gateway.health()).problems).toEqual(['`setup` failed; see the log.'])
  isDown = false
  await expect.poll(async () => (await gateway.health()).problems).toEqual([])
})

test('if the storage fails during setup, the log has the cause, which clients are not sent', async () => {
  const storage = memoryStorage()
  const commit = () => Promise.reject(new Error('workersStorage: the object did not answer'))
  const logged: object[] = []
  const gateway = createGateway({
    providers: [openai({ apiKey: 'sk-platform-0123456789' })],
    models: [],
    storage: { ...storage, records: { ...storage.records, commit } },
    setup: everything,
    logger: { info: () => {}, warn: () => {}, error: facts => void logged.push(facts) },
  })
  await gateway.health()
  expect(logged).toEqual([{ error: expect.stringContaining('caused by Error: workersStorage: the object did not answer') }])
})

test('ready rejects with the error of setup, and resolves once setup has succeeded', async () => {
  let isDown = true
  const gateway = gatewayOn(memoryStorage(), async setting => {
    if (isDown) throw new Error('no network')
    await everything(setting)
  })
  await expect(gateway.ready()).rejects.toThrow('no network')
  isDown = false
  await expect.poll(() => gateway.ready().then(() => 'ready', String), { timeout: 10_000 }).toBe('ready')
  expect((await gateway.authenticate(secret)).workspaceId).toBe('app')
})

describe('the first request of a gateway whose setup fails', () => {
  const refusal = (setup: Setup): Promise<unknown> =>
    gatewayOn(memoryStorage(), setup)
      .authenticate(secret)
      .catch(error => error)

  test('gets the reason if the gateway refused a call of setup', async () => {
    const setup: Setup = async ({ workspaces }) => {
      await workspaces.create({ id: 'app', name: 'App' })
      await workspaces('app').apiKeys.create({ name: 'backend', secret: process.env.NOT_SET as string })
    }
    expect(await refusal(setup)).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining('`secret`') })
  })

  test('gets no text of another error, which may contain a password', async () => {
    const setup: Setup = () => Promise.reject(new Error('cannot connect to postgres://app:password@db'))
    const { message } = (await refusal(setup)) as Error
    expect(message).toBe('The gateway could not be set up. See its log.')
  })
})

test('a key without a fixed secret is created at each start, and the log says how to avoid that', async () => {
  const storage = memoryStorage()
  const warnings: string[] = []
  const setup: Setup = async ({ workspaces }) => {
    await workspaces.create({ id: 'app', name: 'App' })
    await workspaces('app').apiKeys.create({ name: 'backend' })
  }
  await gatewayOn(storage, setup, warnings).health()
  expect(warnings).toEqual([])
  await gatewayOn(storage, setup, warnings).health()
  expect(warnings).toEqual([expect.stringContaining('Pass a `secret`')])
})

// What the holder of a key can do to its workspace, over HTTP or through the app, before the process starts again.

type App = ReturnType<ReturnType<typeof gatewayOn>['workspaces']>
interface Change {
  /** What `setup` does in each process. */
  readonly setup: (app: App) => Promise<unknown>
  /** What happens to the workspace after the first start. */
  readonly then: (app: App) => Promise<unknown>
  /** What is asked of the result of `setup` at the second start. */
  readonly result?: object
  readonly warning?: string
}

const apiKey = 'sk-ours-0123456789'
const filled = (count: number, make: (number: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, number) => make(number)))

const changes: Readonly<Record<string, Change>> = {
  'apiKeys.create finds a revoked key': {
    setup: app => app.apiKeys.create({ name: 'backend', secret }),
    then: async app => app.apiKeys.revoke((await app.apiKeys.list())[0]?.id ?? ''),
    result: { isActive: false },
    warning: 'was revoked',
  },
  'apiKeys.create finds a key that was rotated since': {
    setup: app => app.apiKeys.create({ name: 'backend', secret }),
    then: async app => app.apiKeys.rotate((await app.apiKeys.list())[0]?.id ?? ''),
    result: { isActive: true },
    warning: 'is accepted until',
  },
  'apiKeys.create finds a key whose secret a rotation has ended': {
    setup: app => app.apiKeys.create({ name: 'backend', secret }),
    then: async app => app.apiKeys.rotate((await app.apiKeys.list())[0]?.id ?? '', { gracePeriod: 0 }),
    result: { isActive: false },
    warning: 'is no longer accepted',
  },
  'apiKeys.create finds a key whose expiry has passed': {
    setup: app => app.apiKeys.create({ name: 'backend', secret, expiresAt: new Date(Date.UTC(2020, 0)) }),
    then: async () => undefined,
    result: { isActive: false },
    warning: 'has expired',
  },
  'apiKeys.create with a budget finds the workspace full of budgets': {
    setup: app => app.apiKeys.create({ name: 'x', budget: { limit: usd(1) } }),
    then: app => filled(199, number => app.budgets.create({ name: `${number}`, limit: 1 })),
    result: { name: 'x' },
    warning: 'Pass a `secret`',
  },
  'apiKeys.update gives a revoked key a budget': {
    setup: async app => app.apiKeys.update((await app.apiKeys.create({ name: 'backend', secret })).id, { budget: { limit: usd(1) } }),
    then: async app => app.apiKeys.revoke((await app.apiKeys.list())[0]?.id ?? ''),
    result: { isActive: false },
    warning: 'was revoked',
  },
  'apiKeys.update changes the budget that apiKeys.create has made, which is deleted': {
    setup: async app =>
      app.apiKeys.update((await app.apiKeys.create({ name: 'backend', secret, budget: { limit: usd(1) } })).id, {
        budget: { enforce: true },
      }),
    then: async app => app.budgets.delete((await app.budgets.list())[0]?.id ?? ''),
    result: { isActive: true },
    warning: 'nothing limits what the key spends',
  },
  'apiKeys.rotate rotates a revoked key': {
    setup: async app => {
      const [old] = await app.apiKeys.list({ includeRevoked: true })
      return app.apiKeys.rotate((old ?? (await app.apiKeys.create({ name: 'backend', secret }))).id)
    },
    then: async app => app.apiKeys.revoke((await app.apiKeys.list())[0]?.id ?? ''),
    result: { isActive: false },
    warning: 'its new secret is not valid either',
  },
  'budgets.create names a revoked key': {
    setup: async app => app.budgets.create({ name: 'b', limit: 1, apiKeyId: (await app.apiKeys.create({ name: 'backend', secret })).id }),
    then: async app => app.apiKeys.revoke((await app.apiKeys.list())[0]?.id ?? ''),
    result: { name: 'b' },
    warning: 'was revoked',
  },
  'budgets.create finds its budget renamed and the workspace full': {
    setup: app => app.budgets.create({ name: 'monthly', limit: usd(50) }),
    then: async app => {
      await app.budgets.update((await app.budgets.list())[0]?.id ?? '', { name: 'mine' })
      await filled(199, number => app.budgets.create({ name: `${number}`, limit: 1 }))
    },
    result: { name: 'monthly' },
  },
  'budgets.update and budgets.delete change what budgets.create returned': {
    setup: async app => {
      await app.budgets.delete((await app.budgets.create({ name: 'old', limit: 1 })).id)
      return app.budgets.update((await app.budgets.create({ name: 'monthly', limit: 1 })).id, { limit: 2 })
    },
    then: async app => app.budgets.delete((await app.budgets.list())[0]?.id ?? ''),
    result: { limit: 2 },
  },
  'byokKeys.create finds its key deleted and the workspace full': {
    setup: app => app.byokKeys.create({ name: 'ours', provider: 'openai', apiKey }),
    then: async app => {
      await app.byokKeys.delete((await app.byokKeys.list())[0]?.id ?? '')
      await filled(200, number => app.byokKeys.create({ name: 'n', provider: 'openai', apiKey: `${apiKey}-${number}` }))
    },
    result: { name: 'ours' },
  },
  'byokKeys.update takes the default from a key that became it': {
    setup: async app => {
      await app.byokKeys.create({ name: 'first', provider: 'openai', apiKey: `${apiKey}-1` })
      return app.byokKeys.update((await app.byokKeys.create({ name: 'ours', provider: 'openai', apiKey })).id, { isDefault: false })
    },
    then: async app => app.byokKeys.update((await app.byokKeys.list())[1]?.id ?? '', { isDefault: true }),
    result: { name: 'ours', isDefault: true },
  },
  'byokKeys.update sets the secret of a key that was added since': {
    setup: async app =>
      app.byokKeys.update((await app.byokKeys.create({ name: 'ours', provider: 'openai', apiKey })).id, { apiKey: `${apiKey}-2` }),
    then: async app => {
      await app.byokKeys.delete((await app.byokKeys.list())[0]?.id ?? '')
      await app.byokKeys.create({ name: 'theirs', provider: 'openai', apiKey: `${apiKey}-2` })
    },
    result: { name: 'ours' },
    warning: 'another provider key of the workspace has this one',
  },
  'members.add finds the member removed, and another role': {
    setup: app => app.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' }),
    then: async app => {
      await app.members.add({ email: 'eve@example.com', name: 'Eve', role: 'owner' })
      await app.members.remove((await app.members.list())[0]?.id ?? '')
    },
    result: { email: 'ada@example.com' },
  },
  'members.update and members.remove change the last owner': {
    setup: async app => {
      await app.members.update((await app.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' })).id, { role: 'admin' })
      return app.members.remove((await app.members.add({ email: 'bob@example.com', name: 'Bob', role: 'owner' })).id)
    },
    then: async app => app.members.update((await app.members.list())[0]?.id ?? '', { role: 'owner' }),
    result: { email: 'bob@example.com' },
  },
  'billing.credit finds its reference used for another amount': {
    setup: async app =>
      (await app.billing.balance()).credited === 0 ? undefined : app.billing.credit({ reference: 'june', amount: usd(10) }),
    then: app => app.billing.credit({ reference: 'june', amount: 1 }),
    result: { credited: 1 },
    warning: 'adds no credit here, because this reference',
  },
  'billing.credit finds no room': {
    setup: async app =>
      (await app.billing.balance()).credited === 0 ? undefined : app.billing.credit({ reference: 'june', amount: usd(10) }),
    then: async app => {
      for (const amount of [...Array(9).fill(1e15), 7_199_254_740_991]) await app.billing.credit({ reference: `${Math.random()}`, amount })
    },
    result: { credited: 2 ** 53 - 1 },
    warning: 'adds no credit here, because the credit',
  },
  'billing.adjust finds its reference used': {
    setup: async app => ((await app.billing.balance()).credited === 0 ? undefined : app.billing.adjust({ reference: 'june', amount: -1 })),
    then: app => app.billing.credit({ reference: 'june', amount: 5 }),
    result: { credited: 5 },
    warning: 'adds no credit here',
  },
  'billing.autoReload.update passes one of two amounts': {
    setup: async app => {
      const { threshold } = (await app.billing.balance()).autoReload
      return app.billing.autoReload.update(threshold === undefined ? { enabled: false, threshold: 1, target: 5 } : { target: 5 })
    },
    then: app => app.billing.autoReload.update({ threshold: 8, target: 9 }),
    result: { autoReload: { threshold: 8, target: 9 } },
  },
  'routingDefaults.update demands what the workspace ignores': {
    setup: app => app.routingDefaults.update({ only: ['openai'] }),
    then: app => app.routingDefaults.update({ only: null, ignore: ['openai'] }),
    result: { only: ['openai'] },
  },
  'settings.update and limits.update find other values': {
    setup: async app => {
      await app.limits.update({ requestsPerMinute: 10 })
      return app.settings.update({ dataPolicyRequired: 'zdr', allowedProviders: ['openai'] })
    },
    then: app => app.settings.update({ dataPolicyRequired: 'any', allowedProviders: null, blockedProviders: ['openai'] }),
    result: { dataPolicyRequired: 'zdr' },
  },
  'invites.create finds a pending invite': {
    setup: app => app.invites.create({ email: 'ada@example.com', role: 'owner' }),
    then: async () => undefined,
    result: { status: 'pending' },
  },
  'invites.create finds a member': {
    setup: app => app.invites.create({ email: 'ada@example.com', role: 'owner' }),
    then: app => app.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' }),
    result: { status: 'accepted' },
  },
  'invites.revoke revokes an invite that was accepted': {
    setup: async app => {
      const { id } = await app.invites.create({ email: 'ada@example.com', role: 'owner' })
      return (await app.members.list()).length === 0 ? undefined : app.invites.revoke(id)
    },
    then: app => app.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' }),
    result: { status: 'accepted' },
    warning: '`setup` does not revoke this invite',
  },
  'sessions.create makes another session': {
    setup: app => app.sessions.create({ user: 'u', maxSpend: 1, expiresIn: 60 }),
    then: async () => undefined,
    result: { user: 'u' },
  },
}

describe('nothing that happens to a workspace makes setup fail:', () => {
  test.each(Object.entries(changes))('%s', async (_, { setup, then, result, warning }) => {
    const storage = memoryStorage()
    const results: unknown[] = []
    const warnings: string[] = []
    const run: Setup = async ({ workspaces }) => {
      await workspaces.create({ id: 'app', name: 'App' })
      results.push(await setup(workspaces('app')))
    }
    const first = gatewayOn(storage, run)
    expect((await first.health()).problems).toEqual([])
    await then(first.workspaces('app'))
    await first.close()
    expect((await gatewayOn(storage, run, warnings).health()).problems).toEqual([])
    expect(results).toHaveLength(2)
    if (result) expect(results[1]).toMatchObject(result)
    expect(warnings.filter(text => !text.startsWith('A provider key'))).toEqual(
      warning === undefined ? [] : [expect.stringContaining(warning)],
    )
  })

  test('a key that is revoked without its children is, however many they are', async () => {
    const storage = memoryStorage()
    const warnings: string[] = []
    const first = gatewayOn(storage, everything)
    expect((await first.health()).problems).toEqual([])
    const [key] = await first.workspaces('app').apiKeys.list()
    const id = key?.id ?? ''
    const actor = { key: { id, name: 'backend', scopes: new Set(['inference:invoke']) } }
    await filled(1_001, number => first.workspaces('app', actor).apiKeys.create({ name: `${number}` }))
    const run: Setup = ({ workspaces }) => workspaces('app').apiKeys.revoke(id, { keepMade: true })
    const second = gatewayOn(storage, run, warnings)
    expect((await second.health()).problems).toEqual([])
    expect(warnings).toEqual([])
    const { apiKeys } = second.workspaces('app')
    expect((await apiKeys.get(id)).isActive).toBe(false)
    const [child, ...others] = await apiKeys.list({ limit: 1_000 })
    expect(others).toHaveLength(999)
    expect([child, ...others].every(each => each?.isActive && each.ancestors === undefined)).toBe(true)
  })

  test('other processes change the workspace all the time', async () => {
    const storage = memoryStorage()
    let conflicts = 0
    const commit: typeof storage.records.commit = change =>
      conflicts++ < 30 ? { on: 'audit', workspaceId: 'app' } : storage.records.commit(change)
    const busy = { ...storage, records: { ...storage.records, commit } }
    expect((await gatewayOn(busy, everything).health()).problems).toEqual([])
  })

  test('a model of its lists is gone', async () => {
    const storage = memoryStorage()
    const warnings: string[] = []
    const run: Setup = async ({ workspaces }) => {
      await workspaces.create({ id: 'app', name: 'App' })
      await workspaces('app').settings.update({ allowedModels: ['gpt-x', 'gone'] })
    }
    expect((await gatewayOn(storage, run, warnings).health()).problems).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('`allowedModels[1]` names the model "gone", which this gateway does not have')])
  })

  test('but a provider that the gateway does not have does, whatever the workspace lists', async () => {
    for (const list of ['blockedProviders', 'allowedProviders'] as const) {
      const run: Setup = async ({ workspaces }) => {
        await workspaces.create({ id: 'app', name: 'App' })
        await workspaces('app').settings.update({ [list]: ['opnai'] })
      }
      expect((await gatewayOn(memoryStorage(), run).health()).problems).toEqual(['`setup` failed; see the log.'])
    }
  })

  test('but a secret of another workspace does: no holder of a key can choose it', async () => {
    const warnings: string[] = []
    const gateway = gatewayOn(
      memoryStorage(),
      async ({ workspaces }) => {
        for (const id of ['one', 'two']) {
          await workspaces.create({ id, name: id })
          await workspaces(id).apiKeys.create({ name: 'backend', secret })
        }
      },
      warnings,
    )
    expect((await gateway.health()).problems).toEqual(['`setup` failed; see the log.'])
  })
})

test('budgets that setup adds to a workspace full of budgets are enforced', async () => {
  const storage = memoryStorage()
  const first = gatewayOn(storage, ({ workspaces }) => workspaces.create({ id: 'app', name: 'App', billing: 'postpaid' }))
  await filled(200, number => first.workspaces('app').budgets.create({ name: `${number}`, limit: usd(1) }))
  const second = gatewayOn(storage, async ({ workspaces }) => {
    await workspaces('app').budgets.create({ name: 'ours', limit: 1 })
    await workspaces('app').apiKeys.create({ name: 'backend', secret })
  })
  const caller = await second.authenticate(secret)
  const reply = second.responses.create({ model: 'gpt-x', input: 'Hello', max_output_tokens: 100 }, { caller })
  await expect(reply).rejects.toMatchObject({ code: 'budget_exceeded' })
})
