import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Route, allRoutes as routes } from '@signalbox/api/routes'
import { isGatewayError } from '@signalbox/gateway'
import { type RunningServer, serve } from '@signalbox/node-http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFixture, type Fixture, madeIn, nowhere, openIn } from '../../testing/test/matrix/fixture.ts'
import { bodyFor } from '../../testing/test/matrix/samples.ts'
import { type Client, ClientError, createClient } from '../src/index.ts'

// Every method against a server on 127.0.0.1.

let here: Fixture
let server: RunningServer
let base: string
let client: Client
const ajv = new Ajv2020({ strict: false, validateFormats: false })

beforeAll(async () => {
  here = await createFixture()
  server = await serve(here.gateway, { port: 0 })
  base = `http://127.0.0.1:${server.port}`
  client = createClient({ baseURL: base, apiKey: here.mine.secret ?? '' })
  ajv.addSchema({ $id: 'document', ...(await (await fetch(`${base}/v1/openapi.json`)).json()) })
  await madeIn(here.mine, 'request_id')
})
afterAll(() => server.close())

const rows = routes.flatMap(row => (row.client === undefined ? [] : [[row.client, row] as const]))

/** The value of each id in the path of a row that is not the workspace's. */
const known: Readonly<Record<string, string>> = { model_id: 'test-model', provider: 'scripted' }

async function argsFor(row: Route): Promise<readonly unknown[]> {
  const ids: string[] = []
  for (const name of openIn(row)) ids.push(known[name] ?? (await madeIn(here.mine, name)))
  if (row.client === 'invites.accept') {
    const { token } = await client.invites.create({ email: 'other@example.com', role: 'viewer' })
    return [{ token, name: 'Other' }]
  }
  return row.body === undefined ? ids : [...ids, bodyFor(row)]
}

/** The name that the path of one resource has for its id, where a row creates such a resource. */
const idNameOf = ({ method, path }: Route): string | undefined =>
  method === 'POST'
    ? routes
        .find(other => other.path.startsWith(`${path}/:`))
        ?.path.slice(path.length + 2)
        .split('/')[0]
    : undefined

const methodAt = (of: Client, name: string): ((...args: readonly unknown[]) => Promise<unknown>) =>
  name.split('.').reduce<unknown>((place, key) => Reflect.get(Object(place), key), of) as (...args: readonly unknown[]) => Promise<unknown>

const complaintsAbout = (schema: string, value: unknown): unknown => {
  const validate = ajv.getSchema(`document#/components/schemas/${schema}`)
  return validate?.(value) === true ? [] : (validate?.errors ?? `no schema ${schema}`)
}

test('a route of a workspace has a method', () => {
  expect(rows.length).toBeGreaterThan(50)
  expect(routes.filter(({ of, client: name }) => of === 'workspace' && name === undefined)).toEqual([])
})

test.each(rows)('%s is called, and its reply matches its schema', async (name, row) => {
  const reply = await methodAt(client, name)(...(await argsFor(row)))
  const value = reply instanceof Response ? await reply.text() : reply
  const idName = idNameOf(row)
  if (idName !== undefined) here.mine.made.set(idName, (value as { readonly id: string }).id)
  expect(complaintsAbout(row.reply, value)).toEqual([])
})

test('the headers of a file have the number of its rows', async () => {
  const { headers } = await client.analytics.export({ from: '2025-12-01' })
  expect(headers.get('x-export-truncated')).toBe('false')
})

describe('lists', () => {
  const names = ['one', 'two', 'three', 'four', 'five'].map(name => `page ${name}`)
  beforeAll(async () => {
    for (const name of names) await client.budgets.create({ name, period: 'month', limit_usd: 1 })
  })

  test('are awaited as a page and iterated over all pages', async () => {
    const page = await client.budgets.list({ limit: 2 })
    expect(page).toMatchObject({ count: 2, has_more: true })
    const found: string[] = []
    for await (const { name } of client.budgets.list({ limit: 2 })) found.push(name ?? '')
    expect(found.filter(name => name.startsWith('page'))).toEqual(names)
    expect((await client.budgets.list({ limit: 2, after: page.next ?? '' })).data[0]?.id).not.toBe(page.data[0]?.id)
  })

  test('load only the pages that are reached', async () => {
    const asked: string[] = []
    const counting = createClient({
      baseURL: base,
      apiKey: here.mine.secret ?? '',
      workspace: here.mine.workspaceId,
      fetch: (url, init) => {
        asked.push(url)
        return fetch(url, init)
      },
    })
    for await (const _ of counting.budgets.list({ limit: 2 })) break
    expect(asked).toEqual([`${base}/v1/workspaces/${here.mine.workspaceId}/budgets?limit=2`])
  })

  test('fail as calls do, awaited or iterated', async () => {
    const stranger = createClient({ baseURL: base, apiKey: 'ak_nobody', workspace: here.mine.workspaceId })
    await expect(stranger.budgets.list()).rejects.toMatchObject({ code: 'invalid_api_key' })
    await expect(stranger.budgets.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })
})

describe('errors', () => {
  const failureOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      error => error,
    )

  test('have code, status, field, hint and the request id', async () => {
    const error = await failureOf(client.budgets.get(nowhere))
    expect(error).toBeInstanceOf(ClientError)
    expect(isGatewayError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'resource_not_found', status: 404, requestId: expect.stringMatching(/^[\w-]{8,}$/) })
    const wrong = { ...bodyFor({ body: 'CreateBudget', method: 'POST', path: '' }), limit_us: 3 }
    expect(await failureOf(client.budgets.create(wrong as never))).toMatchObject({
      code: 'unknown_field',
      facts: { param: 'limit_us' },
      hint: expect.stringContaining('limit_usd'),
    })
  })

  test('distinguish a reply that is not the gateway’s from a missing one', async () => {
    const html = (status: number) => async () => new Response('<html>Bad gateway</html>', { status })
    const through = (ask: () => Promise<Response>) => createClient({ baseURL: base, workspace: 'w', fetch: ask })
    for (const status of [200, 502])
      expect(await failureOf(through(html(status)).settings.get())).toMatchObject({ code: 'unexpected_reply', status })
    expect(await failureOf(through(async () => Response.json({ error: 'no' }, { status: 500 })).settings.get())).toMatchObject({
      code: 'unexpected_reply',
    })
    const closed = createClient({ baseURL: 'http://127.0.0.1:9', workspace: 'w' })
    expect(await failureOf(closed.settings.get())).toMatchObject({
      code: 'connection_failed',
      status: 0,
      facts: { cause: expect.any(TypeError) },
    })
  })

  test('of a limit have the time until a retry', async () => {
    const body = { error: { message: 'Slow down.', type: 'rate_limit_error', code: 'requests_per_min_exceeded', param: null } }
    const limited = async () => Response.json(body, { status: 429, headers: { 'retry-after': '7' } })
    const error = await failureOf(createClient({ baseURL: base, workspace: 'w', fetch: limited }).settings.get())
    expect(error).toMatchObject({ code: 'requests_per_min_exceeded', facts: { retryAfterMs: 7_000 } })
  })
})

test('an abort signal ends a call with its reason, before and while it runs', async () => {
  const reason = new Error('The page was left.')
  await expect(client.settings.get({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const controller = new AbortController()
  const silent = createServer(() => controller.abort(reason)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const call = createClient({ baseURL: `http://127.0.0.1:${port}`, workspace: 'w' }).settings.get({ signal: controller.signal })
  await expect(call).rejects.toBe(reason)
  silent.close()
})

test('an idempotency key makes a repeated call do nothing', async () => {
  const body = { amount_microdollars: 5, reference: 'repeated' }
  const first = await client.billing.credit(body, { idempotencyKey: 'once' })
  const again = await client.billing.credit(body, { idempotencyKey: 'once' })
  expect(again).toEqual(first)
})

test('an empty id or a dot segment is refused, and other ids are escaped', async () => {
  for (const id of ['', '.', '..', undefined])
    await expect(client.budgets.delete(id as string)).rejects.toThrow(/^budgets\.delete: an id is/)
  await expect(client.models.get('a/../b')).rejects.toThrow(/models\.get/)
  const asked: string[] = []
  const fake = createClient({
    baseURL: `${base}/api/v1/`,
    workspace: '../admin',
    fetch: async url => {
      asked.push(url)
      return Response.json({})
    },
  })
  await fake.budgets.get('a/b?c=1#d')
  await fake.models.get('meta/llama 3')
  await fake.auditEvents.list({ from: new Date(0), limit: undefined, event: 'a&b' })
  expect(asked).toEqual([
    `${base}/api/v1/workspaces/..%2Fadmin/budgets/a%2Fb%3Fc%3D1%23d`,
    `${base}/api/v1/models/meta/llama%203`,
    `${base}/api/v1/workspaces/..%2Fadmin/audit-events?from=1970-01-01T00%3A00%3A00.000Z&event=a%26b`,
  ])
})

test('the workspace of the key is requested once', async () => {
  const asked: string[] = []
  const counting = createClient({
    baseURL: base,
    apiKey: here.mine.secret ?? '',
    fetch: (url, init) => {
      asked.push(new URL(url).pathname)
      return fetch(url, init)
    },
  })
  await counting.settings.get()
  await counting.settings.get()
  const settings = `/v1/workspaces/${here.mine.workspaceId}/settings`
  expect(asked).toEqual(['/v1/me', settings, settings])
})

test('invalid options of a client are named', () => {
  const made = (options: object) => () => createClient(options as never)
  expect(made({ baseURL: 'gateway.example' })).toThrow('`baseURL` is "gateway.example". It takes a URL')
  expect(made({ baseURL: base, apiKey: '' })).toThrow('`apiKey` is empty')
  expect(made({ baseURL: base, apikey: 'ak_1' })).toThrow('no option `apikey`')
})
