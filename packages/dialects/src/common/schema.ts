import type { FittedSchema, SchemaRules } from '../protocol/schemas.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { stringOf } from './json.ts'
import { definitionName, definitionsOf, loopsIn } from './schema-definitions.ts'
import { annotations, describable } from './schema-rules.ts'

// Adapts clients' JSON schemas to what a provider supports. A constraint that the target does not support is stated in the description,
// where the model still reads it.

/** Maximum depth in levels, including references. */
const maxDepth = 64
/** Maximum nodes of one schema after expansion. */
export const maxSchemaNodes = 20_000
const maxChanges = 100
/** How often a recursive definition is expanded; below that, anything is allowed. */
const maxUnrolled = 2

/** The remaining size of expanded schemas: nodes, and characters of their texts. */
export interface SchemaBudget {
  nodes: number
  characters: number
}

interface FitState {
  readonly rules: SchemaRules
  /** The definitions of the root, by their `$ref` address. */
  readonly definitions: ReadonlyMap<string, Json>
  /** Addresses of recursive schemas, which no target supports. */
  readonly looping: ReadonlySet<string>
  /** How often each of them is being expanded at the moment. */
  readonly unrolled: Map<string, number>
  readonly changes: string[]
  readonly budget: SchemaBudget
  depth: number
  /** Whether a node was cut short because the budget was used up. */
  isCut: boolean
}

/**
 * Fits any JSON object to the rules, so that the target accepts the result. The work is linear in the schema and in the budget, which is
 * reduced; nodes beyond it allow anything (`isCut`).
 *
 * @example fitSchema({ type: 'string', minLength: 3 }, strictSchemaRules).changes // ['minLength at # is stated in the description']
 */
export function fitSchema(
  schema: JsonObject,
  rules: SchemaRules,
  budget: SchemaBudget = { nodes: maxSchemaNodes, characters: maxSchemaNodes * 100 },
): FittedSchema & { readonly isCut: boolean } {
  const definitions = definitionsOf(schema)
  const fitting: FitState = {
    rules,
    definitions,
    looping: loopsIn(definitions),
    unrolled: new Map(),
    changes: [],
    budget,
    depth: 0,
    isCut: false,
  }
  const fitted = fit(schema, '#', fitting)
  // A schema that exceeds the budget keeps its type.
  const root =
    fitting.isCut && fitted.type === undefined && typeof schema.type === 'string'
      ? finished({ type: schema.type.toLowerCase(), ...fitted }, [], { at: '#', fitting })
      : fitted
  const defs = [...definitions].flatMap(([address, each]): [string, JsonObject][] =>
    address === '#' || fitting.looping.has(address) ? [] : [[definitionName(address), fit(each, address, fitting)]],
  )
  const { changes, isCut } = fitting
  return { schema: defs.length > 0 ? { ...root, $defs: Object.fromEntries(defs) } : root, changes, isCut }
}

const noteChange = ({ changes }: FitState, change: string): void => {
  if (changes.length < maxChanges) changes.push(change.slice(0, 200))
}

function fit(value: Json | undefined, at: string, fitting: FitState): JsonObject {
  const { budget } = fitting
  budget.nodes -= 1
  if (value === true || value === undefined) return {}
  const isSpent = budget.nodes < 0 || budget.characters < 0
  fitting.isCut ||= isSpent
  if (!isObject(value) || isSpent || fitting.depth >= maxDepth) {
    noteChange(fitting, `what stands at ${at} cannot be said and allows anything`)
    return {}
  }
  fitting.depth += 1
  const fitted =
    typeof value.$ref === 'string' ? fitReference(value, value.$ref, { at, fitting }) : fitNode(merged(value, at, fitting), at, fitting)
  fitting.depth -= 1
  return fitted
}

function fitReference(
  node: JsonObject,
  reference: string,
  { at, fitting }: { readonly at: string; readonly fitting: FitState },
): JsonObject {
  const description = typeof node.description === 'string' ? { description: node.description } : {}
  fitting.budget.characters -= reference.length + (description.description?.length ?? 0)
  if (fitting.definitions.has(reference) && !fitting.looping.has(reference))
    return { $ref: `#/$defs/${definitionName(reference)}`, ...description }
  const target = fitting.definitions.get(reference)
  const depth = fitting.unrolled.get(reference) ?? 0
  if (target === undefined || depth >= maxUnrolled) {
    noteChange(
      fitting,
      `${reference.slice(0, 100)} at ${at} ${target === undefined ? 'leads nowhere' : 'is recursive'} and allows anything`,
    )
    return description
  }
  fitting.unrolled.set(reference, depth + 1)
  const written = fit(target, at, fitting)
  fitting.unrolled.set(reference, depth)
  return { ...written, ...description }
}

/** Merges `allOf` into one schema. In a conflict, the first schema wins. */
function merged({ allOf, ...node }: JsonObject, at: string, fitting: FitState): JsonObject {
  if (!Array.isArray(allOf)) return node
  const parts = (allOf as readonly Json[])
    .slice(0, 100)
    .map(part => followed(part, fitting))
    .filter(isObject)
  noteChange(fitting, `allOf at ${at} became one schema`)
  // Charged to the budget, because the same definition may be copied into many schemas.
  for (const part of parts) fitting.budget.nodes -= sizeOfPart(part)
  if (fitting.budget.nodes < 0) return node
  const required = [node, ...parts].flatMap(part => listIn(part.required))
  return {
    // In reverse order, so that the first schema with a keyword wins.
    ...Object.fromEntries([node, ...parts].reverse().flatMap(part => Object.entries(part))),
    ...([node, ...parts].some(part => isObject(part.properties)) && {
      properties: joinMaps(...parts.map(part => part.properties), node.properties),
    }),
    ...(required.length > 0 && { required }),
  }
}

const sizeOfPart = ({ properties, required, ...rest }: JsonObject): number =>
  1 + Object.keys(rest).length + (isObject(properties) ? Object.keys(properties).length : 0) + listIn(required).length

const followed = (part: Json, { definitions }: FitState): Json | undefined =>
  isObject(part) && typeof part.$ref === 'string' ? definitions.get(part.$ref) : part

/** By entries, so that a property called `__proto__` stays a property. */
const joinMaps = (...maps: readonly (Json | undefined)[]): JsonObject =>
  Object.fromEntries(maps.flatMap(map => (isObject(map) ? Object.entries(map) : [])))

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])

function fitNode(node: JsonObject, at: string, fitting: FitState): JsonObject {
  const descriptions: string[] = []
  const entries = Object.entries(withImpliedType(withoutTuples(node, at, fitting))).flatMap(
    ([key, value]): readonly (readonly [string, Json | undefined])[] => {
      const reader = keywords.get(key)
      if (!inner.has(key)) fitting.budget.characters -= key.length + lengthOf(value)
      if (reader) return reader(value, `${at}/${key}`, fitting)
      if (keptAsIs(key, value, fitting)) return [[key, value]]
      if (annotations.has(key)) return []
      if (describable.has(key)) descriptions.push(`${key}: ${JSON.stringify(value)}`)
      noteChange(
        fitting,
        describable.has(key) ? `${key} at ${at} is stated in the description` : `${key.slice(0, 100)} at ${at} was left out`,
      )
      return []
    },
  )
  return finished(Object.fromEntries(entries), descriptions, { at, fitting })
}

/** Keywords that contain schemas, each of which is charged where it is fitted. */
const inner: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'additionalProperties',
  '$defs',
  'definitions',
])

/** Characters of a value that is copied unchanged. */
const lengthOf = (value: Json | undefined): number => {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0
}

function keptAsIs(key: string, value: Json | undefined, { rules }: FitState): boolean {
  if (!rules.keeps.has(key)) return false
  if (key === 'format') return rules.formats === undefined || (typeof value === 'string' && rules.formats.has(value))
  return key !== 'minItems' || rules.maxMinItems === undefined || (typeof value === 'number' && value <= rules.maxMinItems)
}

/** Turns a tuple, in the syntax of either draft, into a list of any of its types, for targets without tuples. */
function withoutTuples(node: JsonObject, at: string, fitting: FitState): JsonObject {
  const { prefixItems, ...rest } = node
  const isOld = Array.isArray(node.items)
  if (!isOld && (prefixItems === undefined || fitting.rules.keeps.has('prefixItems'))) return node
  const kinds = [...listIn(isOld ? node.items : prefixItems), ...(isObject(node.items) ? [node.items] : [])]
  noteChange(fitting, `the tuple at ${at} became a list of any of its kinds`)
  return { ...rest, items: kinds.length > 0 ? { anyOf: kinds } : {} }
}

/** Adds a type that the keywords imply, and turns `nullable` into a type. */
function withImpliedType({ nullable, ...node }: JsonObject): JsonObject {
  const implied = isObject(node.properties) ? 'object' : node.items === undefined && node.prefixItems === undefined ? undefined : 'array'
  const type = node.type ?? implied
  if (type === undefined) return node
  return { ...node, type: nullable === true && typeof type === 'string' ? [type.toLowerCase(), 'null'] : lower(type) }
}

const lower = (type: Json): Json => {
  if (typeof type === 'string') return type.toLowerCase()
  return Array.isArray(type) ? (type as readonly Json[]).filter(each => typeof each === 'string') : 'string'
}

type Keyword = (value: Json | undefined, at: string, fitting: FitState) => readonly (readonly [string, Json])[]

const alternatives: Keyword = (value, at, fitting) => {
  const options = listIn(value).map((option, index) => fit(option, `${at}/${index}`, fitting))
  return options.length > 0 ? [['anyOf', options]] : []
}

const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['properties', (value, at, fitting) => (isObject(value) ? [['properties', fitProperties(value, at, fitting)]] : [])],
  ['items', (value, at, fitting) => [['items', fit(value, at, fitting)]]],
  ['prefixItems', (value, at, fitting) => [['prefixItems', listIn(value).map((each, index) => fit(each, `${at}/${index}`, fitting))]]],
  ['anyOf', alternatives],
  [
    'oneOf',
    (value, at, fitting) => {
      noteChange(fitting, `oneOf at ${at.slice(0, -'/oneOf'.length)} became anyOf`)
      return alternatives(value, at, fitting)
    },
  ],
  ['enum', (value, at, fitting) => fitEnum(listIn(value), at, fitting)],
  [
    'const',
    (value, at, fitting) =>
      fitting.rules.keeps.has('const') && !isObject(value) && !Array.isArray(value)
        ? [['const', value ?? null]]
        : fitEnum([value ?? null], at, fitting),
  ],
  ['required', value => [['required', [...new Set(listIn(value).filter(name => typeof name === 'string'))]]]],
  [
    'additionalProperties',
    (value, at, fitting) => {
      if (value === false) return [['additionalProperties', false]]
      if (!fitting.rules.closed) return [['additionalProperties', value === true ? true : fit(value, at, fitting)]]
      noteChange(fitting, `${at} allows no further properties`)
      return []
    },
  ],
  ['description', value => (typeof value === 'string' ? [['description', value]] : [])],
  // Hoisted to the root.
  ['$defs', () => []],
  ['definitions', () => []],
])

const fitProperties = (value: JsonObject, at: string, fitting: FitState): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      fitting.budget.characters -= name.length
      return [name, fit(each, `${at}/${name.slice(0, 60)}`, fitting)]
    }),
  )

/** Keeps the values of supported types. If none is left, the enum is removed and the change is reported. */
function fitEnum(values: readonly Json[], at: string, fitting: FitState): readonly (readonly [string, Json])[] {
  const kept = values.filter(value => fitting.rules.enums.has(value === null ? 'null' : typeof value))
  if (kept.length < values.length) noteChange(fitting, `${values.length - kept.length} values of ${at} cannot be said`)
  return kept.length > 0 ? [['enum', kept]] : []
}

function finished(
  node: JsonObject,
  descriptions: readonly string[],
  { at, fitting }: { readonly at: string; readonly fitting: FitState },
): JsonObject {
  const description = [stringOf(node.description), descriptions.join(', ')].filter(words => words !== '').join('. ')
  const names = isObject(node.properties) ? node.properties : {}
  const required = listIn(node.required).filter(name => typeof name === 'string' && Object.hasOwn(names, name))
  if (required.length < listIn(node.required).length && isObject(node.properties))
    noteChange(fitting, `${at} requires properties that it does not have`)
  const { required: _, ...rest } = node
  return {
    ...rest,
    ...(description !== '' && { description }),
    ...(required.length > 0 && { required }),
    ...(isKind(node, 'array') && node.items === undefined && node.prefixItems === undefined && { items: {} }),
    ...(fitting.rules.closed && isKind(node, 'object') && { additionalProperties: false }),
  }
}

const isKind = ({ type }: JsonObject, kind: string): boolean => type === kind || (Array.isArray(type) && type.includes(kind))
