import { type Api, createApi } from '@signalbox/api'
import { type Route, allRoutes as routes, type WorkspaceRoute } from '@signalbox/api/routes'
import { webClock } from '@signalbox/core/runtime'
import { responsesProvider } from '@signalbox/dialects'
import { createGateway, defineProvider, type Gateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { testModels } from '../../src/gateway.ts'
import { scriptedProvider } from '../../src/scripted-provider.ts'
import type { Testbed } from './asking.ts'
import { makers } from './samples.ts'

export interface Fixture {
  readonly gateway: Gateway
  readonly storage: Storage
  readonly api: Api
  readonly mine: Testbed
  readonly theirs: Testbed
}

const managed: readonly WorkspaceRoute[] = routes.filter((row): row is WorkspaceRoute => row.of === 'workspace')
export const rows = managed.map(row => [`${row.method} ${row.path.replace('/v1/workspaces/:workspace_id', '…')}`, row] as const)

/** Accepts keys without a background check: only their use shows whether they work. */
export const brought = defineProvider({ id: 'brought', baseURL: 'https://brought.example/v1', paths: {}, dialects: [responsesProvider] })

/** Ids that do not exist. */
export const nowhere = '0190a000-0000-7000-8000-00000000dead'

export async function createFixture(storage: Storage = memoryStorage()): Promise<Fixture> {
  const unlimited = { inferenceRpm: 1e9, managementReadsRpm: 1e9, managementWritesRpm: 1e9 }
  const provider = scriptedProvider({ id: 'scripted', dialect: responsesProvider, acts: [] })
  const gateway = createGateway({
    providers: [provider, brought],
    sealingKey: new Uint8Array(32).fill(1),
    models: testModels([{ id: 'scripted', dialect: 'responses' }]),
    storage,
    // Two responses differ by their request, not by time.
    clock: { ...webClock(), now: () => Date.UTC(2026, 0, 1) },
    limits: unlimited,
    decisionLog: { store: 1 },
    // It takes an order, and nothing is paid.
    billing: { onReload: () => {} },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  const api = createApi(gateway)
  const testbed = async (name: string): Promise<Testbed> => {
    const { id } = await gateway.workspaces.create({ name })
    await gateway.workspaces(id).billing.credit({ reference: 'first', amount: 1_000_000_000 })
    const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'all', scopes: '*' })
    return { api, workspaceId: id, secret, made: new Map() }
  }
  return { gateway, storage, api, mine: await testbed('Mine'), theirs: await testbed('Theirs') }
}

/** The parameters of a path, except the workspace. */
export const openIn = ({ path }: Route): readonly string[] =>
  [...path.matchAll(/:([a-z_]+)/g)].flatMap(([, name = '']) => (name === 'workspace_id' ? [] : [name]))

/** What a testbed has under a name; created on first use. */
export async function madeIn(testbed: Testbed, name: string): Promise<string> {
  const known = testbed.made.get(name)
  if (known !== undefined) return known
  const make = makers[name]
  if (make === undefined) throw new Error(`Nobody knows how to make a ":${name}": add it to \`makers\` in test/matrix/samples.ts.`)
  const id = await make(testbed)
  if (!id) throw new Error(`Making a ":${name}" led to nothing: see \`makers\` and \`bodies\` in test/matrix/samples.ts.`)
  testbed.made.set(name, id)
  return id
}

/** Method and path of a row in a testbed, with what is there; `ids` instead of it. */
export async function callOf(row: Route, testbed: Testbed, ids: Readonly<Record<string, string>> = {}): Promise<string> {
  const all: Record<string, string> = { workspace_id: testbed.workspaceId }
  for (const name of openIn(row)) all[name] = ids[name] ?? (await madeIn(testbed, name))
  return `${row.method} ${row.path.replace(/:([a-z_]+)\+?/g, (_, name: string) => ids[name] ?? all[name] ?? '')}`
}

/** The chain of a testbed as it is now: what changed is in it. */
export const audited = ({ storage }: Fixture, { workspaceId }: Testbed) => storage.audit.chain(workspaceId, { after: 0, limit: 1_000 })
