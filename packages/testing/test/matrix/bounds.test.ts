import type { Route } from '@signalbox/api/routes'
import { usd } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { beforeAll, expect, test } from 'vitest'
import { checkRows } from '../check-rows.ts'
import { ask, type Testbed } from './asking.ts'
import { callOf, createFixture, type Fixture, openIn, rows } from './fixture.ts'
import { bodyFor } from './samples.ts'

// Every row that writes, with every value in every field of its body, called by a key against the limits of that key. New rows and fields
// are included automatically. The compared limits are read from the store, independent of the gateway's own checks.

interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>
}

interface Bounded {
  readonly here: Fixture
  /** Calls with the limited key, or with an unlimited one. */
  readonly testbed: Testbed
  /** By the name that paths have for them: whatever bounds the key. */
  readonly targets: Readonly<Record<string, readonly string[]>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

const writes = rows.filter(([, { method, path }]) => method !== 'GET' && !(method === 'DELETE' && path.endsWith(':api_key_id')))

const values: readonly unknown[] = [
  null,
  true,
  false,
  1,
  1_000_000,
  [],
  ['brought'],
  'any',
  'owner',
  '2999-01-31T12:00:00Z',
  { limit_usd: 1_000_000, enforce: false, include_byok: false },
]

async function bounded(isBounded: boolean): Promise<Bounded> {
  const here = await createFixture()
  const { mine, gateway } = here
  const w = gateway.workspaces(mine.workspaceId)
  const expiresAt = new Date(Date.UTC(2030, 0, 1))
  const limited = {
    rateLimitRpm: 900,
    limits: { tokensPerMinute: 9_000, concurrentRequests: 9 },
    expiresAt,
    budget: { limit: usd(5), includeByok: true },
  }
  const parent = await w.apiKeys.create({ name: 'parent', scopes: '*', ...limited })
  const { scopes } = await gateway.authenticate(parent.secret)
  const below = gateway.workspaces(mine.workspaceId, { key: { id: parent.id, name: 'parent', scopes } })
  const child = await below.apiKeys.create({ name: 'child', scopes: '*', ...limited })
  await w.budgets.create({ name: 'all', limit: usd(10), includeByok: true })
  await w.settings.update({
    dataPolicyRequired: 'zdr',
    allowedProviders: ['scripted'],
    blockedProviders: ['brought'],
    allowedModels: ['test-model'],
    hedgeMaxExtraCost: 10_000,
  })
  await w.limits.update({ requestsPerMinute: 10_000, tokensPerMinute: 1_000_000, concurrentRequests: 100 })
  await w.subscription.set({ byokMonthlyRequestCap: 5 })
  const targets = { api_key_id: [child.id, parent.id], budget_id: (await w.budgets.list()).map(({ id }) => id) }
  for (const [, row] of writes) await callOf(row, mine)
  const { components } = (await ask(mine, 'GET /v1/openapi.json')).json
  return { here, testbed: { ...mine, secret: isBounded ? child.secret : mine.secret }, targets, schemas: components.schemas }
}

/** How much each bound allows: what is higher is looser. Gone is anything at all. */
async function allowed(storage: Storage, { workspaceId }: Testbed, targets: Bounded['targets']): Promise<Readonly<Record<string, number>>> {
  const read = async (kind: string, id: string) => JSON.parse((await storage.records.find(kind, workspaceId, id))?.body ?? '{}')
  const most = (value: unknown): number => (typeof value === 'number' ? value : Number.POSITIVE_INFINITY)
  const found: Record<string, number> = {}
  for (const id of targets.api_key_id ?? []) {
    const { limits = {}, expiresAt } = await read('key', id)
    for (const name of ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests']) found[`key ${name} ${id}`] = most(limits[name])
    found[`key expires ${id}`] = most(expiresAt)
  }
  for (const id of targets.budget_id ?? []) {
    const { limit, enforce, includeByok } = await read('budget', id)
    found[`budget ${id}`] = enforce === true ? most(limit) : Number.POSITIVE_INFINITY
    found[`budget byok ${id}`] = includeByok === true ? 0 : 1
  }
  const { settings = {}, limits = {}, subscription = {}, autoReload } = await read('workspace', workspaceId)
  found.policy = -['any', 'no_training', 'zdr'].indexOf(settings.dataPolicyRequired ?? 'any')
  for (const name of ['allowedProviders', 'allowedModels']) found[name] = most(settings[name]?.length)
  found.notAllowed = (settings.allowedProviders ?? []).filter((name: string) => name !== 'scripted').length
  found.blocked = settings.blockedProviders?.includes('brought') ? 0 : 1
  found.hedge = most(settings.hedgeMaxExtraCost)
  for (const name of ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests']) found[`workspace ${name}`] = most(limits[name])
  found.cap = most(subscription.byokMonthlyRequestCap)
  found.reload = autoReload?.enabled === true ? autoReload.target : 0
  found.credited = (await storage.ledger.balance(`credit:${workspaceId}`)).credited
  return found
}

/** Paths of a row to everything that bounds the key, where it names such. */
async function callsOf(row: Route, { testbed, targets }: Bounded): Promise<readonly string[]> {
  const [name] = openIn(row).filter(each => targets[each])
  if (name === undefined) return [await callOf(row, testbed)]
  return Promise.all((targets[name] ?? []).map(id => callOf(row, testbed, { [name]: id })))
}

function bodiesOf(row: Route, schemas: Bounded['schemas']): readonly unknown[] {
  if (row.body === undefined) return [{}]
  const fields = Object.keys(schemas[row.body]?.properties ?? {})
  const changes = fields.flatMap(field => values.map(value => ({ [field]: value })))
  return [bodyFor(row), ...changes, ...(row.method === 'POST' ? changes.map(change => ({ ...bodyFor(row), ...change })) : [])]
}

let by: Bounded
beforeAll(async () => {
  by = await bounded(true)
})

test('a limited key loosens none of its limits by any row that writes', () =>
  checkRows(writes, async row => {
    const { here, testbed, targets, schemas } = by
    let before = await allowed(here.storage, testbed, targets)
    for (const call of await callsOf(row, by)) {
      for (const body of bodiesOf(row, schemas)) {
        const { status } = await ask(testbed, call, { body })
        const after = await allowed(here.storage, testbed, targets)
        const looser = Object.keys(before).filter(name => (after[name] ?? 0) > (before[name] ?? 0))
        expect([call, body, status, looser]).toEqual([call, body, status, []])
        before = after
      }
    }
  }))

test('the same requests by an unlimited key do loosen each kind of limit', async () => {
  const free = await bounded(false)
  const { here, testbed, targets, schemas } = free
  const before = await allowed(here.storage, testbed, targets)
  const looser = new Set<string>()
  for (const [, row] of writes)
    for (const call of await callsOf(row, free))
      for (const body of bodiesOf(row, schemas)) {
        await ask(testbed, call, { body })
        const after = await allowed(here.storage, testbed, targets)
        for (const name of Object.keys(before))
          if ((after[name] ?? 0) > (before[name] ?? 0)) looser.add(name.split(' ').slice(0, 2).join(' '))
      }
  for (const name of [
    'key requestsPerMinute',
    'key expires',
    'policy',
    'allowedProviders',
    'allowedModels',
    'blocked',
    'hedge',
    'reload',
    'credited',
  ])
    expect([...looser]).toContain(name)
  expect([...looser].filter(name => name.startsWith('budget')).length).toBeGreaterThan(1)
})
