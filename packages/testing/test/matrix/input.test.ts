import { type Route, allRoutes as routes } from '@signalbox/api/routes'
import { immutableNames } from '@signalbox/core/resources'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkRows, type NamedRow } from '../check-rows.ts'
import { ask } from './asking.ts'
import { audited, callOf, createFixture, type Fixture, rows } from './fixture.ts'
import { bodyFor } from './samples.ts'

// Every row of every workspace, against all invalid input, by its own schema in the document.

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly $ref?: string
}

let here: Fixture
let document: { readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } }
const ajv = new Ajv2020({ strict: false, validateFormats: false })

beforeAll(async () => {
  here = await createFixture()
  document = (await ask(here.mine, 'GET /v1/openapi.json')).json
  ajv.addSchema({ $id: 'document', ...document })
  for (const [, row] of rows) await callOf(row, here.mine)
})

const schemaOf = (name: string): JsonSchema => document.components.schemas[name] ?? {}
const fits = (name: string, field: string, value: unknown): boolean =>
  ajv.getSchema(`document#/components/schemas/${name}/properties/${field}`)?.(value) === true

/** One of every kind that JSON knows, and numbers that few fields take. */
const values: readonly unknown[] = [null, true, 0, -1, 0.5, 1e300, '', 'nonsense', 'x'.repeat(10_000), [], [null], [1], {}, { odd: 1 }]

/** And those that take a body without being of a workspace. */
const open = routes.filter(({ of, input }) => of === undefined && input).map(row => [`${row.method} ${row.path}`, row] as const)

const allRows: readonly NamedRow<Route>[] = [...rows, ...open]
/** Those that take a body, with the name of its schema. */
const withBody = allRows.flatMap(([call, row]) => (row.body === undefined ? [] : [[call, { ...row, body: row.body }] as const]))

describe('input', () => {
  const asking = async (row: Route, body: unknown, query = ''): Promise<readonly unknown[]> => {
    const length = (await audited(here, here.mine)).length
    const { status, json } = await ask(here.mine, await callOf(row, here.mine), { body, query })
    expect((await audited(here, here.mine)).length).toBe(length)
    return [status, json.error?.code, json.error?.param]
  }

  test('every row refuses unknown query parameters, and invalid values of known ones', () =>
    checkRows(allRows, async row => {
      for (const name of ['nonsense', 'constructor', '__proto__', 'Limit'])
        expect(await asking(row, bodyFor(row), `${encodeURIComponent(name)}=1`)).toEqual([400, 'unknown_parameter', name])
      for (const { name, values: known, whole, date } of row.query ?? []) {
        const wrong = known || whole || date ? ['', 'x', '0', '101', '-1', '1e1', '2026-02-30', '2026-01-01T25:00Z', "'; drop table"] : []
        const some = known?.[0] ?? (whole ? `${whole.min}` : '2026-01-01')
        for (const query of [...wrong.map(value => `${name}=${encodeURIComponent(value)}`), `${name}=${some}&${name}=${some}`])
          expect([query, ...(await asking(row, {}, query))]).toEqual([query, 400, 'invalid_parameter_value', name])
      }
    }))

  test('every row refuses bodies that are not objects', () =>
    checkRows(withBody, async row => {
      for (const body of ['', ' ', '{', '[]', '[{}]', '"x"', 'null', '1', 'true', '{"a":1}}', '{"__proto__":{}}'])
        expect([body, ...(await asking(row, body))].slice(0, 3)).toEqual([body, 400, 'invalid_request'])
    }))

  test('every row refuses unknown fields', () =>
    checkRows(withBody, async row => {
      for (const name of ['nonsense', 'id', 'workspace_id', 'toString', 'NAME'])
        expect([name, ...(await asking(row, { ...bodyFor(row), [name]: 'x' }))]).toEqual([name, 400, 'unknown_field', name])
    }))

  test('every row refuses bodies without required fields', () =>
    checkRows(withBody, async row => {
      for (const field of schemaOf(row.body).required ?? []) {
        const { [field]: __, ...others } = bodyFor(row)
        expect([field, ...(await asking(row, others))]).toEqual([field, 400, 'missing_required_parameter', field])
      }
    }))

  test('every row refuses values of every wrong type, and names the field', () =>
    checkRows(withBody, async row => {
      const { properties = {} } = schemaOf(row.body)
      expect(Object.keys(properties)).not.toEqual([])
      for (const field of Object.keys(properties)) {
        const wrong = values.filter(value => !fits(row.body, field, value))
        expect(wrong.length, field).toBeGreaterThan(3)
        for (const value of wrong) {
          const [status, code, param] = await asking(row, { ...bodyFor(row), [field]: value })
          expect([field, value, status]).toEqual([field, value, 400])
          // A value that is too much for any body is refused before its field is looked at.
          expect(['invalid_parameter_value', 'unknown_field', 'missing_required_parameter', 'invalid_request']).toContain(code)
          expect(`${param}`.split(/[.[]/)[0]).toBe(field)
        }
      }
    }))

  const immutable = withBody.flatMap(([call, row]) =>
    (row.input ? immutableNames(row.input) : []).map(field => [`${call}, ${field}`, { row, field }] as const),
  )
  test('no row changes an immutable field', () =>
    checkRows(immutable, async ({ row, field }) => {
      for (const value of [null, 'x', [], bodyFor(row)[field]])
        if (value !== undefined) expect(await asking(row, { ...bodyFor(row), [field]: value })).toEqual([400, 'field_immutable', field])
    }))
})
