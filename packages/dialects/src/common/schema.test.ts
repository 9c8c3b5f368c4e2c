import Ajv from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaRules as geminiRules } from '../gemini/encode-tools.ts'
import type { SchemaRules } from '../protocol/schemas.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { schemaWarnings } from './fit-schemas.ts'
import { fitSchema } from './schema.ts'
import { strictSchemaRules } from './schema-rules.ts'

const targets = [strictSchemaRules, geminiRules]

/** Schemas of real clients' tools, and careless ones. */
const corpus: Readonly<Record<string, JsonObject>> = {
  empty: {},
  plain: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  limits: {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 }, s: { type: 'string', pattern: '^a+$' } },
  },
  'zod, as it is printed': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      kind: { type: 'string', const: 'circle' },
      at: { type: 'string', format: 'date-time' },
      size: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    required: ['kind', 'at', 'size'],
  },
  'pydantic, with definitions': {
    $defs: { Address: { type: 'object', title: 'Address', properties: { street: { type: 'string' } }, required: ['street'] } },
    type: 'object',
    properties: { home: { $ref: '#/$defs/Address' }, work: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }], default: null } },
  },
  'draft 7, with definitions': { definitions: { N: { type: 'number' } }, type: 'object', properties: { n: { $ref: '#/definitions/N' } } },
  recursion: {
    $defs: { Node: { type: 'object', properties: { value: { type: 'string' }, next: { $ref: '#/$defs/Node' } } } },
    $ref: '#/$defs/Node',
  },
  'recursion through the root': { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } },
  'two that lead to each other': {
    $defs: { A: { properties: { b: { $ref: '#/$defs/B' } } }, B: { properties: { a: { $ref: '#/$defs/A' } } } },
    properties: { a: { $ref: '#/$defs/A' } },
  },
  'nowhere to be found': { type: 'object', properties: { x: { $ref: 'https://example.com/x.json' }, y: { $ref: '#/$defs/none' } } },
  'one of several': { type: 'object', properties: { x: { oneOf: [{ type: 'string' }, { type: 'number' }] } } },
  'all of several': {
    allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'number' } } }],
  },
  tuple: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
  'prefix items': { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
  map: { type: 'object', additionalProperties: { type: 'number' } },
  'OpenAPI 3.0': { type: 'OBJECT', properties: { s: { type: 'STRING', nullable: true } } },
  'true and false': { type: 'object', properties: { any: true, none: false } },
  'enum of anything': { enum: ['a', 1, null, true, { a: 1 }] },
  'required of nothing': { type: 'object', properties: {}, required: ['ghost', 5] },
  'array of no kind': { type: 'array' },
  'not, if, then': { type: 'object', not: { type: 'string' }, if: { type: 'object' }, then: { required: ['a'] } },
  'names that bite': JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
  ) as JsonObject,
  'wrong in every field': { type: 5, properties: [1], required: 'a', items: 'x', enum: {}, anyOf: 'no', description: 7, $defs: [] },
}

const cases = targets.flatMap(target => Object.entries(corpus).map(([name, schema]) => ({ target, name, schema })))

const holders = ['properties', '$defs'] as const

/** Every node of a schema, with its keywords. */
function nodesOf(schema: Json | undefined): readonly JsonObject[] {
  if (!isObject(schema)) return []
  const inner = [
    schema.items,
    schema.additionalProperties,
    ...(Array.isArray(schema.anyOf) ? schema.anyOf : []),
    ...(Array.isArray(schema.prefixItems) ? schema.prefixItems : []),
  ] as readonly Json[]
  return [schema, ...[...inner, ...holders.flatMap(holder => Object.values(schema[holder] ?? {}) as readonly Json[])].flatMap(nodesOf)]
}

function faultsOf(schema: JsonObject, rules: SchemaRules): readonly string[] {
  return nodesOf(schema).flatMap(node => [
    ...Object.keys(node).flatMap(key => (rules.keeps.has(key) ? [] : [`${key} is not known there`])),
    ...(rules.closed && node.type === 'object' && node.additionalProperties !== false ? ['an object is left open'] : []),
    ...(node.type === 'array' && node.items === undefined && node.prefixItems === undefined ? ['an array says nothing of its items'] : []),
    ...(typeof node.$ref === 'string' && !node.$ref.startsWith('#/$defs/') ? [`${node.$ref} leads out`] : []),
  ])
}

describe.each(cases)('$name for $target.name', ({ schema, target }) => {
  const before = JSON.stringify(schema)
  const fitted = fitSchema(schema, target)

  test('contains only what the target supports', () => expect(faultsOf(fitted.schema, target)).toEqual([]))
  test('is unchanged when it is fitted again', () =>
    expect(fitSchema(fitted.schema, target)).toEqual({ schema: fitted.schema, changes: [], isCut: false }))
  test('is a valid schema', () => expect(() => new Ajv({ strict: false, validateFormats: false }).compile(fitted.schema)).not.toThrow())
  test('leaves the original unchanged', () => expect(JSON.stringify(schema)).toBe(before))
})

const fit = (schema: JsonObject, target: SchemaRules = strictSchemaRules) => fitSchema(schema, target)

test('a schema that every target supports is unchanged, without a warning', () => {
  for (const target of targets) expect(fit(corpus.plain ?? {}, target)).toEqual({ schema: corpus.plain, changes: [], isCut: false })
})

test('a limit that cannot be enforced is described to the model, with a warning', () => {
  const { schema, changes } = fit({ type: 'string', description: 'A name', minLength: 3 })
  expect(schema).toEqual({ type: 'string', description: 'A name. minLength: 3' })
  expect(changes).toEqual(['minLength at # is stated in the description'])
})

test('a recursion is expanded twice, then accepts anything', () => {
  const { schema, changes } = fit(corpus.recursion ?? {}, geminiRules)
  const node = (next: JsonObject): JsonObject => ({ type: 'object', properties: { value: { type: 'string' }, next } })
  expect(schema).toEqual(node(node({})))
  expect(changes).toHaveLength(1)
})

test('definitions keep their references, under one keyword for both drafts', () => {
  expect(fit(corpus['draft 7, with definitions'] ?? {}, geminiRules).schema).toEqual({
    type: 'object',
    properties: { n: { $ref: '#/$defs/N' } },
    $defs: { N: { type: 'number' } },
  })
})

test('allOf becomes one object with all properties', () => {
  const { schema } = fit(corpus['all of several'] ?? {}, geminiRules)
  expect(schema).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] })
})

test('a constant becomes an enum of one if constants are not supported', () => {
  expect(fit({ const: 'x' }, geminiRules).schema).toEqual({ enum: ['x'] })
  expect(fit({ const: 'x' }).schema).toEqual({ const: 'x' })
})

test('a property named __proto__ stays a property', () => {
  const { schema } = fit(corpus['names that bite'] ?? {})
  expect(Object.keys(schema.properties ?? {})).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(schema.properties)).toBe(Object.prototype)
})

test('one warning names all changes', () => {
  const properties = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}`, { type: 'string', minLength: at }]))
  const [warning, ...more] = schemaWarnings('tools[0].parameters', fit({ type: 'object', properties }))
  expect(more).toEqual([])
  expect(warning).toMatchObject({ code: 'unsupported_parameter', param: 'tools[0].parameters' })
  expect(warning?.message.length).toBeLessThan(1200)
  expect(schemaWarnings('x', fit({ type: 'string' }))).toEqual([])
})

test('a schema with a thousand references to itself stays small', () => {
  const branch = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { $ref: '#/$defs/T' }]))
  const { schema } = fit({ $defs: { T: { type: 'object', properties: branch } }, $ref: '#/$defs/T' })
  expect(JSON.stringify(schema).length).toBeLessThan(2_000_000)
})

const keyword = fc.constantFrom(
  'type',
  'properties',
  'items',
  'required',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  '$defs',
  'definitions',
  'additionalProperties',
  'minLength',
  'format',
  'nullable',
  'description',
  'prefixItems',
  'not',
  '__proto__',
  'weird',
)
const { anything } = fc.letrec<{ anything: Json }>(tie => ({
  anything: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json>(null, true, false, 0, 'string', 'object', 'array', '#', '#/$defs/a', 'date', 'OBJECT'),
    fc.array(tie('anything'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(keyword, fc.constantFrom('a', 'b')), tie('anything'), { maxKeys: 6 }),
  ),
}))

test.each(targets)('any fitted schema is accepted by $name, and fitting it again changes nothing', target => {
  fc.assert(
    fc.property(fc.dictionary(keyword, anything, { maxKeys: 8 }), schema => {
      const fitted = fitSchema(schema as JsonObject, target)
      expect(faultsOf(fitted.schema, target)).toEqual([])
      expect(fitSchema(fitted.schema, target).schema).toEqual(fitted.schema)
    }),
    { numRuns: 500 },
  )
})
