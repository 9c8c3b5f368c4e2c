import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { withPlainProperties } from './property-names.ts'
import { renameProperties } from './rename-properties.ts'

const nameOf = (name: string): string => (name.startsWith('$') ? `_${name.slice(1)}` : name)
const renamed = (schema: JsonObject): JsonObject => renameProperties(schema, nameOf)

test.each<[string, JsonObject, JsonObject]>([
  [
    'properties, at the first level only',
    { properties: { $a: { properties: { $a: {} } } } },
    { properties: { _a: { properties: { $a: {} } } } },
  ],
  ['required', { required: ['$a', 'b'] }, { required: ['_a', 'b'] }],
  ['dependentRequired', { dependentRequired: { $a: ['$b'] } }, { dependentRequired: { _a: ['_b'] } }],
  ['dependentSchemas', { dependentSchemas: { $a: { required: ['$b'] } } }, { dependentSchemas: { _a: { required: ['_b'] } } }],
  [
    'dependencies of both kinds',
    { dependencies: { $a: ['$b'], $b: { required: ['$a'] } } },
    { dependencies: { _a: ['_b'], _b: { required: ['_a'] } } },
  ],
  [
    'if, then, else and not',
    { if: { properties: { $a: { const: 1 } } }, then: { required: ['$b'] }, else: { not: { required: ['$b'] } } },
    { if: { properties: { _a: { const: 1 } } }, then: { required: ['_b'] }, else: { not: { required: ['_b'] } } },
  ],
  ['unions in a condition', { not: { anyOf: [{ required: ['$a'] }, true] } }, { not: { anyOf: [{ required: ['_a'] }, true] } }],
  ['patterns of one name', { patternProperties: { '^\\$a$': {}, '^\\$': {} } }, { patternProperties: { '^_a$': {}, '^\\$': {} } }],
  [
    'propertyNames',
    { propertyNames: { anyOf: [{ enum: ['$a'] }, { const: '$b' }, { pattern: '^\\$c$' }] } },
    { propertyNames: { anyOf: [{ enum: ['_a'] }, { const: '_b' }, { pattern: '^_c$' }] } },
  ],
  ['discriminator', { discriminator: { propertyName: '$a' } }, { discriminator: { propertyName: '_a' } }],
  ['propertyOrdering', { propertyOrdering: ['$a'] }, { propertyOrdering: ['_a'] }],
  [
    'values of the object',
    { default: { $a: { $b: 1 } }, examples: [{ $a: 1 }, 2], enum: [{ $b: 1 }] },
    { default: { _a: { $b: 1 } }, examples: [{ _a: 1 }, 2], enum: [{ _b: 1 }] },
  ],
  [
    'references to properties',
    { properties: { $a: {}, b: { items: { $ref: '#/properties/%24a/items' } } } },
    { properties: { _a: {}, b: { items: { $ref: '#/properties/_a/items' } } } },
  ],
  [
    'definitions that conditions of the object use, as copies',
    { properties: { $a: { $ref: '#/$defs/x' } }, if: { $ref: '#/$defs/x' }, $defs: { x: { required: ['$a'] } } },
    {
      properties: { _a: { $ref: '#/$defs/x' } },
      if: { $ref: '#/$defs/x_1' },
      $defs: { x: { required: ['$a'] }, x_1: { required: ['_a'] } },
    },
  ],
  ['what refers to itself', { not: { $ref: '#' } }, { not: { $ref: '#' } }],
  [
    'a definition that refers to itself',
    { if: { $ref: '#/$defs/x' }, $defs: { x: { required: ['$a'], not: { $ref: '#/$defs/x' } } } },
    {
      if: { $ref: '#/$defs/x_1' },
      $defs: { x: { required: ['$a'], not: { $ref: '#/$defs/x' } }, x_1: { required: ['_a'], not: { $ref: '#/$defs/x_1' } } },
    },
  ],
])('%s', (_, schema, expected) => {
  expect(renamed(schema)).toEqual(expected)
})

test('a name that only a condition mentions is kept, and no other takes it', () => {
  const { schema, names } = withPlainProperties({ type: 'object', properties: { 'a b': {} }, if: { required: ['a_b', 'c d'] } })
  expect(names.get('a b')).not.toBe('a_b')
  expect(schema.if).toEqual({ required: ['a_b', 'c d'] })
})

test('a value fits the renamed schema if, and only if, the value with the other names fits the schema', () => {
  const name = fc.constantFrom('$a', '$b', 'c')
  const names = fc.uniqueArray(name, { maxLength: 2 })
  const small = fc.record({ type: fc.constantFrom('string', 'integer') })
  const flat = {
    properties: fc.dictionary(name, small, { maxKeys: 2 }),
    required: names,
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
    propertyNames: fc.record({ enum: fc.uniqueArray(name, { minLength: 2 }) }),
    patternProperties: fc.dictionary(fc.constantFrom('^\\$a$', '^c$'), small, { maxKeys: 1 }),
  }
  const inner = fc.record(flat, { requiredKeys: [] })
  const nested = {
    ...flat,
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 1 }),
    ...{ if: inner, then: inner, not: inner },
    allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
  }
  const part = fc.record(nested, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>
  const value = fc.dictionary(name, fc.constantFrom<Json>('x', 1, null), { maxKeys: 3 })
  const fits = (schema: JsonObject, data: Json): boolean => new Ajv2020({ strict: false }).compile(schema)(data) === true
  fc.assert(
    fc.property(part, value, (schema, data) => {
      const other = Object.fromEntries(Object.entries(data).map(([key, each]) => [nameOf(key), each]))
      expect(fits(renamed(schema), other)).toBe(fits(schema, data))
    }),
    // Each run compiles two schemas.
    { numRuns: 30 },
  )
})
