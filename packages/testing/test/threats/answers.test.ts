import { type Route, allRoutes as routes } from '@signalbox/api/routes'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { type Answer, ask, type Testbed } from '../matrix/asking.ts'
import { callOf, createFixture, type Fixture, openIn, rows } from '../matrix/fixture.ts'
import { bodies } from '../matrix/samples.ts'

/** What has a meaning somewhere else: in SQL, in JSON paths, in patterns, in shells, in markup, in headers. */
const nasty = [
  "'; DROP TABLE records; --",
  "' OR '1'='1",
  "') UNION SELECT body, hash FROM records --",
  '" OR 1=1 --',
  "x' || (SELECT body FROM records LIMIT 1) || '",
  '%',
  '_',
  '%_%',
  '*',
  '\\',
  "\\'",
  '`',
  '$.body',
  '{{7*7}}',
  '../../etc/passwd',
  'a\0b',
  'a\r\nx-injected: 1',
  '<script>alert(1)</script>',
  '\u202e\u2028\ufeff',
  '𝒳'.repeat(50),
  '__proto__',
  'constructor',
  'toString',
  'NaN',
  '1e400',
  '-0',
  '2026-02-30T25:61:61Z',
] as const

const managed = routes.filter(({ of, path }) => of === 'workspace' || path === '/v1/me' || path.startsWith('/v1/invites'))

async function testbed(): Promise<Fixture> {
  const storage = sqliteStorage(':memory:')
  const here = await createFixture(storage)
  onTestFinished(() => here.gateway.close())
  for (const [, row] of rows) for (const one of [here.mine, here.theirs]) await callOf(row, one)
  return here
}

const plain = (text: string): string => text.replace(/(%[0-9a-f]{2})+/gi, some => Buffer.from(some.replaceAll('%', ''), 'hex').toString())

interface Tried {
  readonly row: Route
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string | undefined
}

function trials({ mine, theirs }: Fixture, few: string): fc.Arbitrary<Tried> {
  const odd = fc.oneof(
    fc.constantFrom(...nasty),
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ maxLength: 300, unit: anyCharacter }),
    fc.constantFrom(0, -1, 1e21, 2 ** 53, 0.1, null, true, '', 'x'.repeat(5_000), [], {}, [[[[]]]]),
  )
  const text = fc.oneof(fc.constantFrom(...nasty), fc.string({ maxLength: 40, unit: anyCharacter }))
  const word = text.map(one => encodeURIComponent(one.toWellFormed()))
  const oneRow = (row: Route): fc.Arbitrary<Tried> => {
    const sample = bodies[row.body ?? ''] ?? {}
    const name = fc.oneof(fc.constantFrom('x', ...Object.keys(sample)), fc.constantFrom(...nasty))
    const edited = fc.array(fc.tuple(name, odd), { maxLength: 3 }).map(edits => ({ ...sample, ...Object.fromEntries(edits) }))
    const raw = fc
      .tuple(fc.nat(200), text)
      .map(([at, put]) => `${JSON.stringify(sample).slice(0, at)}${put}${JSON.stringify(sample).slice(at + 1)}`)
    const parameter = fc.constantFrom('x', 'limit', 'after', ...(row.query ?? []).map(known => known.name))
    const value = fc.oneof(
      word,
      fc.constantFrom('1', '100', '2026-01-01', '%', '%zz', '%00', '', '&&==', mine.made.get('api_key_id') ?? ''),
    )
    const queries = fc.array(fc.tuple(parameter, value), { maxLength: 3 }).map(pairs => pairs.map(pair => pair.join('=')).join('&'))
    const ids = fc.record(
      Object.fromEntries(
        openIn(row).map(id => [
          id,
          fc.oneof(word, fc.constantFrom(mine.made.get(id) ?? 'x', theirs.made.get(id) ?? 'x', '%', '%00', '..')),
        ]),
      ),
    )
    const home = fc.oneof({ weight: 8, arbitrary: fc.constant(mine.workspaceId) }, fc.constant(theirs.workspaceId), word)
    return fc.record({
      row: fc.constant(row),
      method: fc.oneof({ weight: 9, arbitrary: fc.constant(row.method) }, fc.constantFrom('GET', 'PUT', 'OPTIONS', 'HEAD', 'DELETE')),
      path: fc
        .tuple(home, ids)
        .map(([at, names]) => row.path.replace(':workspace_id', at).replace(/:([a-z_]+)/g, (_, id: string) => String(names[id] ?? 'x'))),
      query: fc.oneof({ weight: row.query?.length ? 1 : 6, arbitrary: fc.constant('') }, queries),
      body: fc.oneof({ weight: 3, arbitrary: fc.constant(sample) }, { weight: 3, arbitrary: edited }, raw, fc.json({ maxDepth: 4 }), odd),
      headers: fc.oneof(
        { weight: 2, arbitrary: fc.constant({}) },
        fc.dictionary(
          fc.constantFrom(
            'content-type',
            'content-encoding',
            'idempotency-key',
            'x-request-id',
            'x-client-request-id',
            'if-none-match',
            'accept',
            'x-api-key',
            'origin',
          ),
          fc.oneof(text, fc.constantFrom('application/json', 'identity', 'one', '*')),
          { maxKeys: 2 },
        ),
      ),
      secret: fc.oneof({ weight: 12, arbitrary: fc.constant(mine.secret) }, fc.constantFrom(undefined, theirs.secret, few), text),
    })
  }
  return fc.constantFrom(...managed).chain(oneRow)
}

/** Internal details: stacks, files, tables, drivers, types of this runtime. */
const inside =
  /node:|node_modules|\.ts:\d|\.js:\d|\bat \w+ \(|SQLITE|sqlite|SELECT |INSERT |no such (table|column)|syntax error|TypeError|RangeError|SyntaxError|undefined is not|Cannot read|\[object |ZodError|Unexpected token/

describe('requests to the rows of workspaces', () => {
  test('get a documented response with an id, and without internal details', async () => {
    const here = await testbed()
    const { secret: few } = await here.gateway.workspaces(here.mine.workspaceId).apiKeys.create({ name: 'few', scopes: ['keys:read'] })
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'document', ...(await ask(here.mine, 'GET /v1/openapi.json')).json })
    const seen: Record<number, number> = {}
    const [numRuns, many] = inject('isLongRun') ? [3_000, 20] : [300, 0]
    await fc.assert(
      fc.asyncProperty(trials(here, few), async ({ method, path, query, body, headers, secret }) => {
        const sent = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
        const { authorization: _, ...rest } = headers as Record<string, string>
        const answer = await ask({ api: here.api, secret }, `${method} ${path}`, { query, body: sent, headers: rest })
        seen[answer.status] = (seen[answer.status] ?? 0) + 1
        expect(faultOf(answer, ajv, { method, sent: `${sent} ${JSON.stringify(rest)} ${plain(path)} ${plain(query)}` })).toBeUndefined()
      }),
      { numRuns },
    )
    // Those that pass are some too, or nothing was tried but the door.
    for (const status of [200, 202, 400, 401, 403, 404]) expect([status, (seen[status] ?? 0) > many]).toEqual([status, true])
  })
})

function faultOf(
  { status, headers, text }: Answer,
  ajv: Ajv2020,
  { method, sent }: { readonly method: string; readonly sent: string },
): string | undefined {
  if (status >= 500) return `${status}: ${text}`
  if (!/^[0-9a-f-]{36}$/.test(headers['x-request-id'] ?? '')) return `no id: ${headers['x-request-id']}`
  for (const [name, value] of Object.entries(headers)) if (/[\r\n\0]/.test(value)) return `a header that ends: ${name}`
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(headers['x-client-request-id'] ?? 'x')) return 'an id that is none'
  if (headers['x-content-type-options'] !== 'nosniff') return 'an answer whose type may be guessed'
  if (text !== '' && !/^(application\/json|text\/csv; charset=utf-8(; header=present)?)$/.test(headers['content-type'] ?? ''))
    return `a page as ${headers['content-type']}`
  if (status < 400 || method === 'HEAD') return undefined
  if (headers['content-type'] !== 'application/json') return `an error as ${headers['content-type']}`
  const error: unknown = JSON.parse(text)
  const validate = ajv.getSchema('document#/components/schemas/Error')
  if (validate?.(error) !== true) return `no documented error: ${text}`
  const leak = inside.exec(text)?.[0]
  return leak !== undefined && !sent.includes(leak) ? `it tells "${leak}": ${text}` : undefined
}

describe('text that is SQL or a pattern', () => {
  const storable = nasty.filter(text => text.length <= 200 && !text.includes('\0'))

  test('is stored and returned unchanged, and changes nothing else', async () => {
    const here = await testbed()
    const { workspaceId: id } = here.mine
    const post = (path: string, body: unknown, method = 'POST') => ask(here.mine, `${method} /v1/workspaces/${id}/${path}`, { body })
    const theirs = await everything(here.theirs)
    for (const text of storable) {
      const key = await post('api-keys', { name: text })
      const budget = await post('budgets', { name: text, limit_usd: 5 })
      const brought = await post('byok-keys', { name: text, provider: 'brought', api_key: `sk-${storable.indexOf(text)}-0123456789` })
      const paid = await post('billing/credits', { amount_microdollars: 5, reference: text, note: text })
      const renamed = await post('settings', { name: text }, 'PATCH')
      expect([text, key.status, budget.status, brought.status, paid.status, renamed.status]).toEqual([text, 202, 202, 202, 202, 202])
      expect([key.json.name, budget.json.name, brought.json.name, renamed.json.name]).toEqual([text, text, text, text])
      const found = await ask(here.mine, `GET /v1/workspaces/${id}/api-keys/${key.json.id}`)
      expect(found.json.name).toBe(text)
    }
    const references = (await ask(here.mine, `GET /v1/workspaces/${id}/billing/ledger`, { query: 'limit=100' })).json.data
    expect(references.map(({ reference }: { reference: string }) => reference)).toEqual(expect.arrayContaining([...storable]))
    expect((await ask(here.mine, `GET /v1/workspaces/${id}/audit-events/verify`)).json.valid).toBe(true)
    expect(await everything(here.theirs)).toEqual(theirs)
  })

  test('matches only itself in filters, pages and names', async () => {
    const here = await testbed()
    for (const [, row] of rows) {
      if (row.method !== 'GET') continue
      const free = (row.query ?? []).filter(({ values, whole, date }) => !values && !whole && !date)
      const span = row.query?.some(({ name }) => name === 'to') ? 'from=2025-12-01&to=2026-01-02&' : ''
      const call = await callOf(row, here.mine)
      if (free.length > 0) expect([row.path, found(await ask(here.mine, call, { query: span.slice(0, -1) }))]).not.toContain('nothing')
      for (const { name } of free) {
        for (const text of nasty) {
          const answer = await ask(here.mine, call, { query: `${span}${name}=${encodeURIComponent(text)}` })
          expect([row.path, name, text, found(answer)]).toEqual([row.path, name, text, 'nothing'])
        }
      }
      for (const id of openIn(row)) {
        for (const text of nasty) {
          const { status } = await ask(here.mine, await callOf(row, here.mine, { [id]: encodeURIComponent(text) }))
          expect([row.path, text, status]).toEqual([row.path, text, 404])
        }
      }
    }
  })

  /** Entries of a list, requests of a summary, lines of a table below its head. */
  const found = ({ status, headers, json, text }: Answer): unknown => {
    if (status === 400) return 'nothing'
    if (headers['content-type'] !== 'application/json') return text.trim().split('\n').length === 1 ? 'nothing' : text
    if (json.object === 'list' || Array.isArray(json.data)) return json.data.length === 0 ? 'nothing' : json
    if (json.series !== undefined) return json.series.length === 0 ? 'nothing' : json
    return json.request_count === 0 ? 'nothing' : json
  }

  test('no page is longer than a hundred entries', async () => {
    const here = await testbed()
    const { apiKeys } = here.gateway.workspaces(here.mine.workspaceId)
    for (let at = 0; at < 110; at++) await apiKeys.create({ name: `${at}` })
    for (const [, row] of rows) {
      if (!row.query?.some(({ name }) => name === 'limit')) continue
      const call = await callOf(row, here.mine)
      for (const limit of ['0', '101', '-1', '1e2', '100.5', '99999999999', '', 'all', '0x10'])
        expect([row.path, limit, (await ask(here.mine, call, { query: `limit=${limit}` })).status]).toEqual([row.path, limit, 400])
      const { json } = await ask(here.mine, call, { query: 'limit=100' })
      expect(json.data.length).toBeLessThanOrEqual(100)
      expect((await ask(here.mine, call)).json.data.length).toBeLessThanOrEqual(20)
    }
  })
})

/** All that a workspace can read of itself, except when the calling key was used last: that is written a while after each use. */
async function everything(testbed: Testbed): Promise<unknown> {
  const told: unknown[] = []
  for (const [name, row] of rows) {
    if (row.method !== 'GET') continue
    const { text } = await ask(testbed, await callOf(row, testbed))
    told.push([name, text.replaceAll(/"last_used_at":"[^"]*",/g, '')])
  }
  return told
}
