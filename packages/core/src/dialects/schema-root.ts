import type { FittedSchema } from '../protocol/schemas.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { definitionsOf } from './schema-definitions.ts'

// The root of a tool's parameters has rules of its own, also for tools that are not strict: it is an object, without `$ref`, `anyOf`,
// `oneOf` and `allOf`. Anthropic: 400 "input_schema does not support oneOf, allOf, or anyOf at the top level" (RooCodeInc/Roo-Code#10726).
// Converse: "inputSchema.json.type must be one of the following: object". OpenAI: "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level". Gemini: "parameters schema should be of type OBJECT", and other fields beside
// `anyOf` are refused (spring-projects/spring-ai#1373).

const unions = ['anyOf', 'oneOf'] as const
const maxRootDepth = 16

/** Whether every provider accepts the root. */
export const isPlainRoot = (schema: JsonObject): boolean =>
  schema.type === 'object' &&
  schema.$ref === undefined &&
  schema.anyOf === undefined &&
  schema.oneOf === undefined &&
  schema.allOf === undefined

interface RootState {
  readonly definitions: ReadonlyMap<string, Json>
  /** Followed references. Each is followed once, so that the work is linear in the schema. */
  readonly followed: Set<string>
  readonly changes: string[]
}

/**
 * Makes the root an object: references are followed, and the branches of a union become one object, which allows what any of them allows.
 *
 * @example plainRoot({ anyOf: [{ properties: { id: {} } }, { properties: { name: {} } }] }).schema
 * // { type: 'object', properties: { id: {}, name: {} } }
 */
export function plainRoot(schema: JsonObject): FittedSchema {
  if (isPlainRoot(schema)) return { schema, changes: [] }
  const state: RootState = { definitions: definitionsOf(schema), followed: new Set(['#']), changes: [] }
  const { type, ...rest } = flattened(schema, state, 0)
  if (typeof type === 'string' && type !== 'object') state.changes.push(`the type "${type.slice(0, 20)}" of the root became "object"`)
  const { $defs, definitions } = schema
  const held = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) }
  return { schema: { type: 'object', ...rest, ...held }, changes: state.changes }
}

/** The node without references and unions at its root. */
function flattened(node: JsonObject, state: RootState, depth: number): JsonObject {
  const { $ref: reference, anyOf, oneOf, allOf, ...own } = node
  if (depth > maxRootDepth) return own
  let merged: JsonObject = own
  if (typeof reference === 'string') merged = both(merged, targetOf(reference, state, depth))
  if (allOf !== undefined) {
    state.changes.push('`allOf` at the root became one object')
    for (const part of branchesIn(allOf, state, depth)) merged = both(merged, part)
  }
  for (const [name, branches] of [anyOf, oneOf].entries()) {
    if (branches === undefined) continue
    state.changes.push(`\`${unions[name]}\` at the root became one object with the properties of all branches`)
    merged = both(merged, anyOfThem(branchesIn(branches, state, depth)))
  }
  return merged
}

function targetOf(reference: string, state: RootState, depth: number): JsonObject {
  const target = state.followed.has(reference) ? undefined : state.definitions.get(reference)
  state.followed.add(reference)
  if (isObject(target)) return flattened(target, state, depth + 1)
  state.changes.push(`${reference.slice(0, 100)} at the root allows anything`)
  return {}
}

/** The branches that an object can match. A reference that was followed before adds nothing. */
const branchesIn = (branches: Json, state: RootState, depth: number): readonly JsonObject[] =>
  Array.isArray(branches)
    ? (branches as readonly Json[]).flatMap(branch => {
        if (!isObject(branch) || (typeof branch.$ref === 'string' && state.followed.has(branch.$ref))) return []
        const flat = flattened(branch, state, depth + 1)
        return mayBeObject(flat) ? [flat] : []
      })
    : []

const mayBeObject = ({ type }: JsonObject): boolean =>
  typeof type !== 'string' && !Array.isArray(type) ? true : type === 'object' || (Array.isArray(type) && type.includes('object'))

/** What both require. In a conflict, the first one wins. */
function both(first: JsonObject, second: JsonObject): JsonObject {
  const names = new Map<string, Json>(propertiesOf(second))
  for (const [name, schema] of propertiesOf(first)) names.set(name, mergedProperty(schema, names.get(name)))
  const required = [...new Set([...textsIn(first.required), ...textsIn(second.required)])]
  return {
    ...second,
    ...first,
    ...(names.size > 0 && { properties: Object.fromEntries(names) }),
    ...(required.length > 0 && { required }),
  }
}

/** A property of an object and of the branches of its union: each may say something about it. */
const mergedProperty = (own: Json, other: Json | undefined): Json => (isObject(own) && isObject(other) ? { ...other, ...own } : own)

/** What any of the branches allows. */
function anyOfThem(branches: readonly JsonObject[]): JsonObject {
  const schemas = new Map<string, Map<string, Json>>()
  for (const branch of branches) {
    for (const [name, schema] of propertiesOf(branch)) {
      const known = schemas.get(name) ?? new Map<string, Json>()
      schemas.set(name, known.set(JSON.stringify(schema), schema))
    }
  }
  const [first, ...others] = branches.map(({ required }) => new Set(textsIn(required)))
  const required = first ? [...first].filter(name => others.every(other => other.has(name))) : []
  const isClosed = branches.length > 0 && branches.every(branch => branch.additionalProperties === false)
  return {
    ...(schemas.size > 0 && {
      properties: Object.fromEntries([...schemas].map(([name, known]) => [name, oneSchema([...known.values()])])),
    }),
    ...(required.length > 0 && { required }),
    ...(isClosed && { additionalProperties: false }),
  }
}

/** One schema for a property that the branches describe in different ways: an enum of their constants, or a union. */
function oneSchema(schemas: readonly Json[]): Json {
  const [only] = schemas
  if (only !== undefined && schemas.length === 1) return only
  const values = schemas.map(constantsOf)
  if (!values.every(each => each !== undefined)) return { anyOf: schemas }
  const types = new Set(schemas.map(schema => (isObject(schema) ? schema.type : undefined)))
  const [type] = types
  return { ...(types.size === 1 && type !== undefined && { type }), enum: [...new Set(values.flat())] }
}

/** The values of a constant or an enum; undefined for any other schema. */
function constantsOf(schema: Json): readonly Json[] | undefined {
  if (!isObject(schema)) return undefined
  if (schema.const !== undefined) return [schema.const]
  return Array.isArray(schema.enum) ? (schema.enum as readonly Json[]) : undefined
}

const propertiesOf = ({ properties }: JsonObject): readonly (readonly [string, Json])[] =>
  isObject(properties) ? Object.entries(properties).flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const])) : []

const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => typeof each === 'string') : []
