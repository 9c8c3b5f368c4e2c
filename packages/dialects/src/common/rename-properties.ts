import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { FreeNames } from './fitted-names.ts'
import { definitionsOf } from './schema-definitions.ts'

// Renames the properties of the object that a schema describes, wherever the schema names them: also in the schemas that apply to the same
// object, such as its conditions. Properties of other objects within it keep their names.

interface NameChange {
  readonly nameOf: (name: string) => string
  /** The reference to use for one that applies to the same object. */
  readonly refer: (reference: string) => string
}

type Keyword = (value: Json, change: NameChange) => Json

const listOf =
  (one: Keyword): Keyword =>
  (value, change) =>
    Array.isArray(value) ? (value as readonly Json[]).map(each => one(each, change)) : value

/** An object whose keys are names. */
const keyed =
  (one: Keyword): Keyword =>
  (value, change) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [change.nameOf(name), one(each as Json, change)]))
      : value

const asItIs: Keyword = value => value
const nameIn: Keyword = (value, { nameOf }) => (typeof value === 'string' ? nameOf(value) : value)
const instance = keyed(asItIs)
const schemaOfSame: Keyword = (value, change) => (isObject(value) ? renamedIn(value, sameObject, change) : value)

/** A pattern that matches one name only, as a pattern for its other name. Others are not changed: they would have to be run. */
const pattern: Keyword = (value, { nameOf }) => {
  const body = typeof value === 'string' ? /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^a-zA-Z0-9])+)\$$/su.exec(value)?.[1] : undefined
  if (body === undefined) return value
  const name = body.replaceAll(/\\(.)/gsu, '$1')
  const renamed = nameOf(name)
  return renamed === name ? value : `^${renamed.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
}

const patterns: Keyword = (value, change) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([each, schema]) => [pattern(each, change) as string, schema])) : value

type Keywords = Readonly<Record<string, Keyword>>

/** Keywords of a schema for names. */
const ofNames: Keywords = {
  const: nameIn,
  enum: listOf(nameIn),
  pattern,
  not: (value, change) => nameSchema(value, change),
  allOf: listOf((value, change) => nameSchema(value, change)),
  anyOf: listOf((value, change) => nameSchema(value, change)),
  oneOf: listOf((value, change) => nameSchema(value, change)),
}
const nameSchema: Keyword = (value, change) => (isObject(value) ? renamedIn(value, ofNames, change) : value)

/** Every keyword that names properties of the object, or holds a schema or values of the same object. */
const sameObject: Keywords = {
  properties: keyed(asItIs),
  required: listOf(nameIn),
  // Gemini's and OpenAPI's.
  propertyOrdering: listOf(nameIn),
  discriminator: (value, change) => (isObject(value) ? renamedIn(value, { propertyName: nameIn }, change) : value),
  patternProperties: patterns,
  propertyNames: nameSchema,
  dependentRequired: keyed(listOf(nameIn)),
  dependentSchemas: keyed(schemaOfSame),
  // Of draft 7: each is a list of names or a schema.
  dependencies: keyed((value, change) => (Array.isArray(value) ? listOf(nameIn) : schemaOfSame)(value, change)),
  ...Object.fromEntries(['if', 'then', 'else', 'not'].map(name => [name, schemaOfSame])),
  ...Object.fromEntries(['allOf', 'anyOf', 'oneOf'].map(name => [name, listOf(schemaOfSame)])),
  const: instance,
  default: instance,
  enum: listOf(instance),
  examples: listOf(instance),
  $ref: (value, { refer }) => (typeof value === 'string' ? refer(value) : value),
}

const renamedIn = (schema: JsonObject, keywords: Keywords, change: NameChange): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      const rename = value !== undefined && Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined
      return [keyword, rename ? rename(value as Json, change) : value]
    }),
  )

/**
 * The schema of an object with other names for its properties. A definition that applies to the same object, as in `{ if: { $ref } }`, is
 * copied, because it may describe other objects too. The work is linear in the schema.
 *
 * @example renameProperties({ properties: { $top: {} }, dependentRequired: { $top: ['$skip'] } }, name => name.replace('$', '_'))
 * // { properties: { _top: {} }, dependentRequired: { _top: ['_skip'] } }
 */
export function renameProperties(schema: JsonObject, nameOf: (name: string) => string): JsonObject {
  const definitions = definitionsOf(schema)
  const references = new FreeNames(definitions.keys())
  const copied = new Map<string, string>([['#', '#']])
  const copies = new Map<string, Json>()
  const refer = (reference: string): string => {
    const known = copied.get(reference)
    const target = definitions.get(reference)
    if (known !== undefined || !isObject(target)) return known ?? reference
    const name = references.take(attempt => `${reference}_${attempt + 1}`)
    copied.set(reference, name)
    copies.set(name, renamedIn(target, sameObject, { nameOf, refer }))
    return name
  }
  const { $defs, definitions: older, ...renamed } = renamedIn(schema, sameObject, { nameOf, refer })
  const held = { $defs: withCopies($defs, copies, '#/$defs/'), definitions: withCopies(older, copies, '#/definitions/') }
  const whole = { ...renamed, ...Object.fromEntries(Object.entries(held).filter(([, value]) => value !== undefined)) }
  return withPointers(whole, nameOf)
}

function withCopies(held: Json | undefined, copies: ReadonlyMap<string, Json>, start: string): Json | undefined {
  if (!isObject(held)) return held
  const mine = [...copies].flatMap(([address, copy]) =>
    address.startsWith(start) ? [[address.slice(start.length).replaceAll('~1', '/').replaceAll('~0', '~'), copy] as const] : [],
  )
  return mine.length > 0 ? { ...held, ...Object.fromEntries(mine) } : held
}

const pointerStart = '#/properties/'

/** References to the properties, from wherever in the schema, lead to them under their other names. */
function withPointers(schema: JsonObject, nameOf: (name: string) => string): JsonObject {
  const text = JSON.stringify(schema)
  if (!text.includes(`"${pointerStart}`)) return schema
  return JSON.parse(text, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(pointerStart) ? pointerTo(value, nameOf) : value,
  )
}

function pointerTo(reference: string, nameOf: (name: string) => string): string {
  const [written = '', ...rest] = reference.slice(pointerStart.length).split('/')
  const name = unescaped(written)
  const renamed = nameOf(name)
  return renamed === name ? reference : [`${pointerStart}${renamed}`, ...rest].join('/')
}

function unescaped(written: string): string {
  try {
    return decodeURIComponent(written).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return written
  }
}

/** The names of properties that a schema mentions for its object. */
export function propertyNamesIn(schema: JsonObject): readonly string[] {
  const names = new Set<string>()
  renameProperties(schema, name => {
    names.add(name)
    return name
  })
  return [...names]
}
