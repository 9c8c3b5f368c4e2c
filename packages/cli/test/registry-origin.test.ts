import { catalog, sold } from '@signalbox/catalog'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterAll, expect, test } from 'vitest'
import { fieldsOf } from '../src/access.ts'
import { builtIns } from '../src/built-in.ts'

// Where the built-in facts were read, and when, over HTTP.

const values = { api_key: 'k', region: 'us-east-1', resource: 'r', project: 'p', location: 'global', account_id: 'a' } as const
const providers = builtIns
  .filter(({ id }) => catalog().providers.some(facts => facts.id === id))
  .map(row => row.make(Object.fromEntries(Object.entries(values).filter(([name]) => fieldsOf(row).some(field => field === name)))))
const gateway = createGateway({
  ...{ providers, models: sold(catalog(), { providers }), facts: catalog().providers, storage: memoryStorage() },
  logger: { info: () => {}, warn: () => {}, error: () => {} },
})
const server = await serve(gateway, { port: 0, host: '127.0.0.1' })
afterAll(() => server.close())

type Row = Readonly<Record<'id' | 'source' | 'as_of', string>> & {
  readonly providers?: readonly string[]
  readonly prices?: readonly Row[]
}

const isDated = ({ source, as_of }: Row): boolean => (source ?? '') !== '' && /^\d{4}-\d\d-\d\d$/.test(as_of ?? '')

test.each([
  ['/v1/registry/models', 'models', 100],
  ['/v1/registry/providers', 'data', 27],
  ['/v1/directory/models', 'data', 100],
] as const)('%s says of each row where and when it was read', async (path, list, atLeast) => {
  const reply = await fetch(`${server.url}${path}`)
  expect(reply.status).toBe(200)
  const body = (await reply.json()) as Readonly<Record<string, readonly Row[]>>
  // A model that has retired has no offers, and nothing was read of them.
  const rows = (body[list] ?? []).filter(row => row.providers?.length !== 0)
  expect(rows.length).toBeGreaterThanOrEqual(atLeast)
  expect(rows.filter(row => !isDated(row)).map(({ id }) => id)).toEqual([])
  expect(rows.flatMap(({ prices = [] }) => prices).filter(price => !isDated(price))).toEqual([])
})
