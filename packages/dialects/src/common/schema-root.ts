import type { FittedSchema } from '../protocol/schemas.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { maxSchemaNodes, type SchemaBudget } from './schema.ts'
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
  schema.allOf === undefined &&
  schema.enum === undefined &&
  schema.not === undefined

interface RootState {
  readonly definitions: ReadonlyMap<string, Json>
  /** Followed references. Each is followed once, so that the work is linear in the schema. */
  readonly followed: Set<string>
  readonly changes: string[]
  readonly budget: SchemaBudget
  /** Whether a part was left out because the budget was used up. */
  isCut: boolean
}

const maxChanges = 100

const noteChange = ({ changes }: RootState, change: string): void => {
  if (changes.length < maxChanges) changes.push(change)
}

/**
 * Makes the root an object: references are followed, and the branches of a union become one object, which allows what any of them allows.
 * The work is linear in the schema, and reduces the budget; a part beyond it allows anything.
 *
 * @example plainRoot({ anyOf: [{ properties: { id: {} } }, { properties: { name: {} } }] }).schema
 * // { type: 'object', properties: { id: {}, name: {} } }
 */
export function plainRoot(
  schema: JsonObject,
  budget: SchemaBudget = { nodes: maxSchemaNodes, characters: maxSchemaNodes * 100 },
): FittedSchema {
  if (isPlainRoot(schema)) return { schema, changes: [] }
  const state: RootState = { definitions: definitionsOf(schema), followed: new Set(['#']), changes: [], budget, isCut: false }
  const { type, enum: values, not, ...rest } = flattened(schema, state, 0)
  if (values !== undefined) noteChange(state, '`enum` at the root was left out')
  if (not !== undefined) noteChange(state, '`not` at the root was left out')
  if (typeof type === 'string' && type !== 'object') noteChange(state, `the type "${type.slice(0, 20)}" of the root became "object"`)
  const { $defs, definitions } = schema
  const held = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) }
  const cut = state.isCut ? ['what exceeds the largest size of a schema at the root allows anything'] : []
  return { schema: { type: 'object', ...rest, ...held }, changes: [...cut, ...state.changes] }
}

/** The node without references and unions at its root. */
function flattened(node: JsonObject, state: RootState, depth: number): JsonObject {
  const { $ref: reference, anyOf, oneOf, allOf, ...own } = node
  if (depth > 0 && !canAfford(own, state)) return {}
  if (depth > maxRootDepth) return own
  const parts: JsonObject[] = [own]
  if (typeof reference === 'string') parts.push(targetOf(reference, state, depth))
  if (allOf !== undefined) {
    noteChange(state, '`allOf` at the root became one object')
    for (const part of branchesIn(allOf, state, depth)) parts.push(part)
  }
  for (const [name, branches] of [anyOf, oneOf].entries()) {
    if (branches === undefined) continue
    noteChange(state, `\`${unions[name]}\` at the root became one object with the properties of all branches`)
    parts.push(anyOfThem(branchesIn(branches, state, depth)))
  }
  return parts.length === 1 ? own : allOfThem(parts)
}

/** Charges a part of the root to the budget. */
function canAfford(part: JsonObject, state: RootState): boolean {
  const { budget } = state
  if (!isSpent(budget)) {
    budget.nodes -= 1 + entriesOf(part.properties).length + textsIn(part.required).length
    budget.characters -= JSON.stringify(part).length
  }
  state.isCut ||= isSpent(budget)
  return !isSpent(budget)
}

const isSpent = ({ nodes, characters }: SchemaBudget): boolean => nodes < 0 || characters < 0

function targetOf(reference: string, state: RootState, depth: number): JsonObject {
  const target = state.followed.has(reference) ? undefined : state.definitions.get(reference)
  state.followed.add(reference)
  if (isObject(target)) return flattened(target, state, depth + 1)
  noteChange(state, `${reference.slice(0, 100)} at the root allows anything`)
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

/** What all parts require. In a conflict, the first one wins. */
function allOfThem(parts: readonly JsonObject[]): JsonObject {
  const fields = new Map<string, Json>()
  const properties = new Map<string, Json[]>()
  for (const part of parts.toReversed()) {
    for (const [name, value] of entriesOf(part)) fields.set(name, value)
    for (const [name, schema] of entriesOf(part.properties)) addTo(properties, name, schema)
  }
  if (properties.size > 0)
    fields.set('properties', Object.fromEntries([...properties].map(([name, schemas]) => [name, mergedProperty(schemas)])))
  const required = [...new Set(parts.flatMap(part => textsIn(part.required)))]
  if (required.length > 0) fields.set('required', required)
  return Object.fromEntries(fields)
}

function addTo(found: Map<string, Json[]>, name: string, schema: Json): void {
  const known = found.get(name)
  if (known) known.push(schema)
  else found.set(name, [schema])
}

/** One schema for a property that several parts describe. The last one wins in a conflict. */
function mergedProperty(schemas: readonly Json[]): Json {
  const last = schemas.at(-1)
  if (schemas.length === 1 || !isObject(last)) return last ?? {}
  return Object.fromEntries(schemas.flatMap(schema => entriesOf(schema)))
}

/** What any of the branches allows. */
function anyOfThem(branches: readonly JsonObject[]): JsonObject {
  const schemas = new Map<string, Map<string, Json>>()
  const requiredIn = new Map<string, number>()
  for (const branch of branches) {
    for (const [name, schema] of entriesOf(branch.properties)) {
      const known = schemas.get(name) ?? new Map<string, Json>()
      schemas.set(name, known.set(JSON.stringify(schema), schema))
    }
    for (const name of new Set(textsIn(branch.required))) requiredIn.set(name, (requiredIn.get(name) ?? 0) + 1)
  }
  const required = [...requiredIn].flatMap(([name, count]) => (count === branches.length ? [name] : []))
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

const entriesOf = (value: Json | undefined): readonly (readonly [string, Json])[] =>
  isObject(value) ? Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const])) : []

const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => typeof each === 'string') : []
