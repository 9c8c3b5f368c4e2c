import type { WorkspaceRoute } from '@signalbox/api/routes'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkRows } from '../check-rows.ts'
import { type Answer, ask } from './asking.ts'
import { audited, callOf, createFixture, type Fixture, rows } from './fixture.ts'
import { bodyFor } from './samples.ts'

// Every row of every workspace, with a valid request: each time in a new testbed.

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })

beforeAll(async () => {
  const { json } = await ask((await createFixture()).mine, 'GET /v1/openapi.json')
  ajv.addSchema({ $id: 'document', ...closed(json) })
})

/** Checks each row that is `wanted` in a testbed of its own. */
const inNewTestbeds = (wanted: (row: WorkspaceRoute) => boolean, check: (row: WorkspaceRoute, here: Fixture) => Promise<void>) =>
  checkRows(
    rows.filter(([, row]) => wanted(row)),
    async row => check(row, await createFixture()),
  )

/** The document allows future fields; what is sent now must be in it. */
function closed(schema: object): object {
  const inner = Object.entries(schema).map(([key, value]) => [key, typeof value === 'object' && value !== null ? closed(value) : value])
  if (Array.isArray(schema)) return inner.map(([, value]) => value)
  return { ...('properties' in schema && { additionalProperties: false }), ...Object.fromEntries(inner) }
}

/** The errors of a body, by its schema in the document. */
function faults(name: string, body: unknown): unknown {
  const validate = ajv.getSchema(`document#/components/schemas/${name}`)
  return validate === undefined ? `no schema ${name}` : validate(body) || validate.errors
}

const always = () => true
const hasPages = ({ query }: WorkspaceRoute): boolean => query?.some(({ name }) => name === 'after') === true

describe('every row', () => {
  test('responds as documented, and is audited', () =>
    inNewTestbeds(always, async (row, here) => {
      const call = await callOf(row, here.mine)
      const before = (await audited(here, here.mine)).length
      const { status, headers, json, text } = await ask(here.mine, call, { body: bodyFor(row) })
      expect([status, text]).toEqual([row.status ?? 200, text])
      if (row.media === undefined) expect(faults(row.reply, json)).toBe(true)
      expect(headers['content-type']?.split(';')[0]).toBe(row.media ?? 'application/json')
      expect(headers['x-content-type-options']).toBe('nosniff')
      for (const name of row.replyHeaders ?? []) if (name.startsWith('X-Export')) expect(headers).toHaveProperty(name.toLowerCase())
      const told = (await audited(here, here.mine)).slice(before)
      expect(told.length > 0).toBe(row.rate === 'writes')
      for (const { event, requestId, actorName, ip } of told) {
        expect(event).toMatch(/^[a-z_]+\.(created|updated|deleted|revoked|validated|accepted)$/)
        expect([requestId, actorName, ip]).toEqual([headers['x-request-id'], 'all', '192.0.2.7'])
      }
    }))

  test('of a list has pages that together equal the whole list', () =>
    inNewTestbeds(hasPages, async (row, here) => {
      for (const [, other] of rows) await callOf(other, here.mine)
      for (let at = 0; at < 3; at++) {
        const make = rows.find(([, { method, path }]) => method === 'POST' && path === row.path)?.[1]
        if (make) await ask(here.mine, await callOf(make, here.mine), { body: different(bodyFor(make), at) })
      }
      const call = await callOf(row, here.mine)
      const page = (query: string): Promise<Answer> => ask(here.mine, call, { query })
      const whole = (await page('limit=100')).json
      expect([whole.count, whole.has_more, whole.next]).toEqual([whole.data.length, false, null])
      const turned: unknown[] = []
      for (let after = '', more = true; more; ) {
        const { data, count, has_more, next } = (await page(`limit=1${after}`)).json
        expect([count, next]).toEqual([data.length, has_more ? (data.at(-1).id ?? data.at(-1).request_id) : null])
        turned.push(...data)
        more = has_more
        after = `&after=${next}`
      }
      expect(turned).toEqual(whole.data)
    }))

  test('that changes a record changes nothing if no field is given, and returns the record', () =>
    inNewTestbeds(
      ({ method }) => method === 'PATCH',
      async (row, here) => {
        const call = await callOf(row, here.mine)
        const first = await ask(here.mine, call, { body: bodyFor(row) })
        const before = (await audited(here, here.mine)).length
        const { status, json } = await ask(here.mine, call, { body: {} })
        expect([status, json]).toEqual([202, first.json])
        expect((await audited(here, here.mine)).length).toBe(before)
      },
    ))

  test('that creates runs once under an Idempotency-Key', () =>
    inNewTestbeds(
      ({ method }) => method === 'POST',
      async (row, here) => {
        const call = await callOf(row, here.mine)
        const before = (await audited(here, here.mine)).length
        const asked = { body: bodyFor(row), headers: { 'idempotency-key': 'one' } }
        const first = await ask(here.mine, call, asked)
        const made = (await audited(here, here.mine)).length
        const second = await ask(here.mine, call, asked)
        expect(first.status).toBe(row.status ?? 200)
        expect(made).toBeGreaterThan(before)
        expect((await audited(here, here.mine)).length).toBe(made)
        if (row.secret) expect([second.status, second.json.error.code]).toEqual([409, 'idempotency_replay_unavailable'])
        else expect([second.status, second.text, second.headers['idempotent-replayed']]).toEqual([first.status, first.text, 'true'])
      },
    ))
})

/** The same, where no two may be the same. */
const different = (body: Readonly<Record<string, unknown>>, at: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, ['email', 'api_key', 'reference'].includes(name) ? `${at}${String(value)}` : value]),
  )

// The loop over their names asserts nothing where no row has one.
test('rows with export headers are tested above', () => {
  const exported = rows.filter(([, { replyHeaders = [] }]) => replyHeaders.some(name => name.startsWith('X-Export')))
  expect(exported.length).toBeGreaterThan(0)
})
