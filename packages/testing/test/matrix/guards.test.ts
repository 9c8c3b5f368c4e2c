import { type Scope, scopes } from '@signalbox/core/resources'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkRows } from '../check-rows.ts'
import { type Answer, ask, type Testbed } from './asking.ts'
import { audited, callOf, createFixture, type Fixture, madeIn, nowhere, openIn, rows } from './fixture.ts'
import { bodyFor } from './samples.ts'

// Every row of every workspace, against every caller that must be refused. New rows are included automatically.

let here: Fixture
/** Keys of `mine` by the one scope that they have. */
const keys = new Map<Scope, Testbed>()
let before: readonly number[]

beforeAll(async () => {
  here = await createFixture()
  const { apiKeys } = here.gateway.workspaces(here.mine.workspaceId)
  for (const scope of scopes) {
    const { secret } = await apiKeys.create({ name: scope, scopes: [scope] })
    keys.set(scope, { ...here.mine, secret })
  }
  for (const [, row] of rows) for (const testbed of [here.mine, here.theirs]) await callOf(row, testbed)
  before = await lengths()
})

const lengths = (): Promise<readonly number[]> =>
  Promise.all([here.mine, here.theirs].map(async testbed => (await audited(here, testbed)).length))

/** Everything a client sees, without what differs between any two requests; requested ids are replaced by one value. */
const seen = ({ status, headers, text }: Answer, ...ids: readonly string[]): unknown => {
  const { 'x-request-id': _, ...others } = headers
  return [status, others, ids.reduce((all, id) => all.replaceAll(id, '<id>'), text)]
}

/** What proxies and other frameworks listen to. */
const tricks = (): Readonly<Record<string, string>> => ({
  host: 'localhost',
  'x-forwarded-host': 'localhost',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-prefix': '/healthz',
  'x-original-url': '/healthz',
  'x-rewrite-url': '/healthz',
  'x-http-method-override': 'GET',
  'x-method-override': 'GET',
  'x-middleware-subrequest': 'middleware:middleware:middleware',
  'x-workspace-id': here.mine.workspaceId,
  'x-api-key': here.mine.secret ?? '',
})

describe('guards', () => {
  test('every row refuses requests without a key', () =>
    checkRows(rows, async row => {
      for (const headers of [{}, tricks(), { authorization: 'Bearer ak_wrong' }]) {
        const { status, json } = await ask({ ...here.mine, secret: undefined }, await callOf(row, here.mine), {
          headers,
          body: bodyFor(row),
        })
        expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
      }
    }))

  test('every row refuses every key without its scope, and names the scope', () =>
    checkRows(rows, async row => {
      const call = await callOf(row, here.mine)
      for (const [scope, key] of keys) {
        if ((row.needs as readonly string[]).includes(scope)) continue
        for (const headers of [{}, tricks()]) {
          const { status, json } = await ask(key, call, { headers, body: bodyFor(row) })
          expect([scope, status, json.error.code]).toEqual([scope, 403, 'operation_not_allowed'])
          for (const needed of row.needs) expect(json.error.message).toContain(`"${needed}"`)
        }
      }
    }))

  test('every row does not exist for a key of another workspace, as if there were no such workspace', () =>
    checkRows(rows, async row => {
      const mine = await callOf(row, here.mine)
      const theirs = mine.replace(here.mine.workspaceId, here.theirs.workspaceId)
      const none = mine.replace(here.mine.workspaceId, nowhere)
      let read = 0
      for (const key of [here.mine, keys.get('inference:invoke') ?? here.mine]) {
        for (const headers of [{}, tricks()]) {
          const asked = { headers, body: '{ broken', query: 'no=1', onRead: () => void read++ }
          const [foreign, absent] = [await ask(key, theirs, asked), await ask(key, none, asked)]
          expect([foreign.status, foreign.json.error.code]).toEqual([404, 'resource_not_found'])
          expect(seen(foreign, here.theirs.workspaceId)).toEqual(seen(absent, nowhere))
        }
      }
      expect(read).toBe(0)
    }))

  const ids = rows.flatMap(([call, row]) => openIn(row).map(name => [`${call}, :${name}`, { row, name }] as const))
  test('every id in a path is unknown if it is of another workspace', () =>
    checkRows(ids, async ({ row, name }) => {
      const foreign = (await callOf(row, here.theirs)).split('/').at(row.path.split('/').indexOf(`:${name}`)) ?? ''
      const [theirs, none] = [
        await ask(here.mine, await callOf(row, here.mine, { [name]: foreign }), { body: bodyFor(row) }),
        await ask(here.mine, await callOf(row, here.mine, { [name]: nowhere }), { body: bodyFor(row) }),
      ]
      expect([theirs.status, theirs.json.error?.code]).toEqual([404, 'resource_not_found'])
      expect(seen(theirs, foreign)).toEqual(seen(none, nowhere))
    }))

  const isId = (name: string): boolean => name === 'after' || name.endsWith('_id')
  const idsInQueries = rows.flatMap(([call, row]) =>
    (row.query ?? []).filter(({ name }) => isId(name)).map(({ name }) => [`${call}?${name}`, { row, name }] as const),
  )
  test('every id in a query is unknown if it is of another workspace', () =>
    checkRows(idsInQueries, async ({ row, name }) => {
      const param = name === 'after' ? ownId(row.path) : name
      const foreign = param === undefined ? here.theirs.workspaceId : (here.theirs.made.get(param) ?? here.theirs.workspaceId)
      const call = await callOf(row, here.mine)
      const [theirs, none] = [
        await ask(here.mine, call, { query: `${name}=${foreign}` }),
        await ask(here.mine, call, { query: `${name}=${nowhere}` }),
      ]
      expect(seen(theirs, foreign)).toEqual(seen(none, nowhere))
    }))

  test('every row treats an id of another workspace in its body as unknown', () =>
    checkRows(rows, async row => {
      const { components } = (await ask(here.mine, 'GET /v1/openapi.json')).json
      const fields = Object.keys(components.schemas[row.body ?? '']?.properties ?? {}).filter(field => field.endsWith('_id'))
      for (const field of fields) {
        const foreign = await madeIn(here.theirs, field)
        const call = await callOf(row, here.mine)
        const [theirs, none] = [
          await ask(here.mine, call, { body: { ...bodyFor(row), [field]: foreign } }),
          await ask(here.mine, call, { body: { ...bodyFor(row), [field]: nowhere } }),
        ]
        expect([400, 404]).toContain(theirs.status)
        expect(seen(theirs, foreign)).toEqual(seen(none, nowhere))
      }
    }))

  test('every row is reached by one spelling of its path only', () =>
    checkRows(rows, async row => {
      const call = await callOf(row, here.mine)
      const { workspaceId: mine } = here.mine
      const { workspaceId: theirs } = here.theirs
      const turns: readonly ((path: string) => string)[] = [
        path => `/${path}`,
        path => path.replace('/v1/', '/v1//'),
        path => path.replace('/v1/', '/v1/../v1/'),
        path => path.replace('/v1/', '/v1/./'),
        path => path.replace('/v1/', '/V1/'),
        path => path.replace('/v1/', '/v1/v1/'),
        path => path.replace('/v1/', '/v1beta/'),
        path => path.replace('/workspaces/', '/Workspaces/'),
        path => path.replace('/workspaces/', '%2fworkspaces%2f'),
        path => path.replace('/workspaces/', '/%77orkspaces/'),
        path => `${path}/`,
        path => `${path}/..`,
        path => `${path}/%2e%2e`,
        path => path.replace(mine, `${mine};x`),
        path => path.replace(mine, `${mine}%00`),
        path => path.replace(mine, `${mine}/../${theirs}`),
        path => path.replace(mine, `${mine}%2f..%2f${theirs}`),
        path => path.replace(mine, `${theirs}/../${mine}`),
        path => path.replace(mine, `${mine},${theirs}`),
        path => path.replace(mine, `${mine}%20`),
        path => path.replace(mine, mine.toUpperCase()),
      ]
      for (const turn of turns) {
        const { status, json } = await ask(here.mine, turn(call), { body: bodyFor(row) })
        expect([400, 404, 405], turn(call)).toContain(status)
        expect(['invalid_parameter_value', 'resource_not_found', 'method_not_allowed']).toContain(json.error.code)
      }
    }))

  test('none of these requests changes anything', async () => expect(await lengths()).toEqual(before))
})

/** The name of the entries of a list, as the paths below it have it. */
const ownId = (path: string): string | undefined =>
  rows
    .map(([, row]) => row.path)
    .find(other => other.startsWith(`${path}/:`))
    ?.slice(path.length + 2)
