import { GatewayError } from '@signalbox/dialects/errors'
import {
  bodyCaps,
  capsByField,
  defaultFieldCaps,
  type FieldCaps,
  identifiers,
  isObject,
  type Json,
  type JsonObject,
} from '@signalbox/dialects/protocol'

const invalidBodyError = (message: string, param: string): GatewayError =>
  new GatewayError('invalid_request', { message, param: param || undefined })

interface BodyPlace {
  readonly value: JsonObject | readonly Json[]
  readonly key: string | number
  readonly parent: BodyPlace | undefined
  readonly depth: number
  readonly room: FieldCaps
}

export interface Suspect {
  /** A key may be `__proto__` or the like, or hold broken text. */
  readonly keys: boolean
  /** A text may hold broken characters. */
  readonly texts: boolean
}

interface Walk extends Suspect {
  readonly open: BodyPlace[]
  fields: number
  values: number
  schemaObjects: number
  definitions: number
}

/**
 * Checks what no request decoder looks at: the number of values (body-caps.ts), depth, keys that reach for prototypes, broken text and
 * values that JSON cannot represent. It is one pass with an explicit stack, because recursion would overflow at a few thousand levels.
 *
 * @throws `invalid_request`, with the path in `param`
 */
export function checkBody(root: JsonObject, suspect: Suspect): void {
  const open: BodyPlace[] = [{ value: root, key: '', parent: undefined, depth: 1, room: defaultFieldCaps }]
  const walk: Walk = { ...suspect, open, fields: 0, values: 0, schemaObjects: 0, definitions: 0 }
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, room } = place
    if (place.depth > room.depth)
      throw invalidBodyError(`The request body is nested deeper than ${room.depth} levels.`, pathTo(place.parent))
    if (isObject(value)) visitObject(value, place, walk)
    else {
      checkEntries(value.length, place, walk)
      const at = { place, walk }
      for (let index = 0; index < value.length; index++) visit(value[index], index, at)
    }
  }
}

function visitObject(value: JsonObject, place: BodyPlace, walk: Walk): void {
  const keys = Object.keys(value)
  const at = { place, walk }
  checkFields(keys.length, place, walk)
  for (const key of keys) {
    if (key.length > bodyCaps.fieldName) throw tooLongError('The name of a field', pathTo(place), bodyCaps.fieldName)
    if (walk.keys) checkKey(key, place)
    visit(value[key], key, at)
  }
}

function checkFields(count: number, place: BodyPlace, walk: Walk): void {
  const { room, key, depth } = place
  const cap = depth === 2 ? room.fields : bodyCaps.fieldsOfObject
  if (count > cap) throw tooManyError(place, `${count} fields`, cap)
  walk.fields += count
  walk.values += count
  if (walk.fields > bodyCaps.fields) throw tooManyInAllError(place, 'fields', bodyCaps.fields)
  if (walk.values > bodyCaps.values) throw tooManyInAllError(place, 'values', bodyCaps.values)
  if (!room.hasSchemas) return
  walk.schemaObjects += 1
  if (walk.schemaObjects > bodyCaps.schemaObjects) throw tooManyInAllError(place, 'objects in its schemas', bodyCaps.schemaObjects)
  if (key !== '$defs' && key !== 'definitions') return
  walk.definitions += count
  if (walk.definitions > bodyCaps.definitions) throw tooManyInAllError(place, 'definitions in its schemas', bodyCaps.definitions)
}

function checkEntries(count: number, place: BodyPlace, walk: Walk): void {
  const { room, key, depth } = place
  const cap = depth === 2 ? room.entries : room.hasMessages && key === 'content' ? bodyCaps.parts : bodyCaps.entries
  if (count > cap) throw tooManyError(place, `${count} entries`, cap)
  walk.values += count
  if (walk.values > bodyCaps.values) throw tooManyInAllError(place, 'values', bodyCaps.values)
}

const tooManyError = (place: BodyPlace, what: string, cap: number): GatewayError => {
  const path = pathTo(place)
  return invalidBodyError(`\`${path === '' ? 'The request body' : path}\` has ${what}; the limit is ${cap}. Send fewer.`, path)
}

const tooLongError = (what: string, path: string, cap: number): GatewayError =>
  invalidBodyError(`${what}${path === '' ? '' : ` at \`${path}\``} is longer than ${cap} characters.`, path)

/** Names the body field that was being read when the limit was reached, which usually is the one with the most values. */
function tooManyInAllError(place: BodyPlace, what: string, cap: number): GatewayError {
  let top = place
  while (top.parent?.parent) top = top.parent
  const field = pathTo(top)
  const where = field === '' ? '' : ` The limit was reached in \`${field}\`.`
  return invalidBodyError(`The request body has more than ${cap} ${what} in total.${where} Send fewer.`, field)
}

function visit(value: Json | undefined, key: string | number, at: { readonly place: BodyPlace; readonly walk: Walk }): void {
  const { place, walk } = at
  if (typeof value === 'string') {
    if (value.length > bodyCaps.identifier && identifiers.has(typeof key === 'string' ? key : `${place.key}`))
      throw tooLongError('The text', pathTo(place, key), bodyCaps.identifier)
    if (walk.texts && !value.isWellFormed()) throw invalidBodyError('The string contains a lone surrogate.', pathTo(place, key))
  } else if (typeof value === 'bigint') {
    throw invalidBodyError('JSON does not support BigInt.', pathTo(place, key))
  } else if (typeof value === 'object' && value !== null) {
    const room = place.parent === undefined ? (capsByField.get(key) ?? defaultFieldCaps) : place.room
    walk.open.push({ value, key, parent: place, depth: place.depth + 1, room })
  }
}

function checkKey(key: string, place: BodyPlace): void {
  if (key === '__proto__') throw invalidBodyError('The key "__proto__" is not allowed.', pathTo(place, key))
  if (!key.isWellFormed()) throw invalidBodyError('A key contains a lone surrogate.', pathTo(place))
}

/** The path of a place, as in `input[0].content`. Long paths are shortened in the middle. */
function pathTo(place: BodyPlace | undefined, last?: string | number): string {
  const steps: (string | number)[] = last === undefined ? [] : [last]
  for (let at = place; at?.parent !== undefined; at = at.parent) steps.push(at.key)
  const path = steps.reverse().map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
  const shown = path.length > 12 ? [...path.slice(0, 8), '…', ...path.slice(-4)] : path
  return shown.join('').slice(0, 200)
}
