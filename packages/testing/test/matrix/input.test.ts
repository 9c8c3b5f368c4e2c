import { type Route, allRoutes as routes } from '@signalbox/api/routes'
import { immutableNames } from '@signalbox/core/resources'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
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

describe.each<readonly [string, Route]>([...rows, ...open])('%s', (_, row) => {
  const asking = async (body: unknown, query = ''): Promise<readonly unknown[]> => {
    const length = (await audited(here, here.mine)).length
    const { status, json } = await ask(here.mine, await callOf(row, here.mine), { body, query })
    expect((await audited(here, here.mine)).length).toBe(length)
    return [status, json.error?.code, json.error?.param]
  }

  test('refuses unknown query parameters, and invalid values of known ones', async () => {
    for (const name of ['nonsense', 'constructor', '__proto__', 'Limit'])
      expect(await asking(bodyFor(row), `${encodeURIComponent(name)}=1`)).toEqual([400, 'unknown_parameter', name])
    for (const { name, values: known, whole, date } of row.query ?? []) {
      const wrong = known || whole || date ? ['', 'x', '0', '101', '-1', '1e1', '2026-02-30', '2026-01-01T25:00Z', "'; drop table"] : []
      const some = known?.[0] ?? (whole ? `${whole.min}` : '2026-01-01')
      for (const query of [...wrong.map(value => `${name}=${encodeURIComponent(value)}`), `${name}=${some}&${name}=${some}`])
        expect([query, ...(await asking({}, query))]).toEqual([query, 400, 'invalid_parameter_value', name])
    }
  })

  const { body: schema } = row
  if (schema === undefined) return

  test('refuses bodies that are not objects', async () => {
    for (const body of ['', ' ', '{', '[]', '[{}]', '"x"', 'null', '1', 'true', '{"a":1}}', '{"__proto__":{}}'])
      expect([body, ...(await asking(body))].slice(0, 3)).toEqual([body, 400, 'invalid_request'])
  })

  test('refuses unknown fields', async () => {
    for (const name of ['nonsense', 'id', 'workspace_id', 'toString', 'NAME'])
      expect([name, ...(await asking({ ...bodyFor(row), [name]: 'x' }))]).toEqual([name, 400, 'unknown_field', name])
  })

  test('refuses bodies without required fields', async () => {
    for (const field of schemaOf(schema).required ?? []) {
      const { [field]: __, ...others } = bodyFor(row)
      expect([field, ...(await asking(others))]).toEqual([field, 400, 'missing_required_parameter', field])
    }
  })

  test('refuses values of every wrong type, and names the field', async () => {
    const { properties = {} } = schemaOf(schema)
    expect(Object.keys(properties)).not.toEqual([])
    for (const field of Object.keys(properties)) {
      const wrong = values.filter(value => !fits(schema, field, value))
      expect(wrong.length, field).toBeGreaterThan(3)
      for (const value of wrong) {
        const [status, code, param] = await asking({ ...bodyFor(row), [field]: value })
        expect([field, value, status]).toEqual([field, value, 400])
        // A value that is too much for any body is refused before its field is looked at.
        expect(['invalid_parameter_value', 'unknown_field', 'missing_required_parameter', 'invalid_request']).toContain(code)
        expect(`${param}`.split(/[.[]/)[0]).toBe(field)
      }
    }
  })

  test.each(row.input ? immutableNames(row.input) : [])('does not change %s', async field => {
    for (const value of [null, 'x', [], bodyFor(row)[field]])
      if (value !== undefined) expect(await asking({ ...bodyFor(row), [field]: value })).toEqual([400, 'field_immutable', field])
  })
})
