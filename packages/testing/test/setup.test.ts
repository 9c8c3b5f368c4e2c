import { createGateway, type GatewayOptions, usd } from '@signalbox/core'
import { openai } from '@signalbox/core/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'

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
    models: [],
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
  expect(await Promise.all(processes.map(gateway => gateway.problems()))).toEqual([[], []])
  const third = gatewayOn(storage, everything)
  expect((await third.authenticate(secret)).workspaceId).toBe('app')
  const app = third.workspaces('app')
  const lists = [app.apiKeys.list(), app.budgets.list(), app.byokKeys.list(), app.members.list(), app.billing.ledger()]
  expect((await Promise.all(lists)).map(({ length }) => length)).toEqual([1, 1, 1, 1, 1])
})

test('outside of it a second budget of the same name is a separate one, and a second provider key is refused', async () => {
  const gateway = gatewayOn(memoryStorage(), everything)
  expect(await gateway.problems()).toEqual([])
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
  expect(await gateway.problems()).toEqual(['`setup` failed; see the log.'])
  isDown = false
  await expect.poll(() => gateway.problems(), { timeout: 10_000 }).toEqual([])
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
  await gateway.problems()
  expect(logged).toEqual([{ error: expect.stringContaining('caused by Error: workersStorage: the object did not answer') }])
})

test('a key without a fixed secret is created at each start, and the log says how to avoid that', async () => {
  const storage = memoryStorage()
  const warnings: string[] = []
  const setup: Setup = async ({ workspaces }) => {
    await workspaces.create({ id: 'app', name: 'App' })
    await workspaces('app').apiKeys.create({ name: 'backend' })
  }
  await gatewayOn(storage, setup, warnings).problems()
  expect(warnings).toEqual([])
  await gatewayOn(storage, setup, warnings).problems()
  expect(warnings).toEqual([expect.stringContaining('Pass a `secret`')])
})
