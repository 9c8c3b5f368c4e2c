import type { ErrorCode } from '../errors/codes.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Readers for fields of a client's body. Written by hand, because a schema library costs several times as much as decoding a small request.

/** Returns a typed value of the client's body, or throws a 400 that names its path. */
export type Read<T> = (value: Json, path: string) => T

/** Throws an error about a field. @throws the given code */
export function refuse(code: ErrorCode, message: string, param: string): never {
  throw new GatewayError(code, { message, param })
}

/** Throws a type error. The message omits the value, which may be megabytes, or a secret. */
export const wrongType = (path: string, expected: string, value: Json): never =>
  refuse('invalid_parameter_value', `\`${path}\` must be ${expected}, got ${kindOf(value)}.`, path)

const kindOf = (value: Json): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return `${value}`
  return `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`
}

/** Reads a string. */
export const anyText: Read<string> = (value, path) => (typeof value === 'string' ? value : wrongType(path, 'a string', value))

/** Reads a string of at least one character. */
export const nonEmptyText: Read<string> = (value, path) => {
  if (typeof value !== 'string') return wrongType(path, 'a string', value)
  return value === '' ? refuse('invalid_parameter_value', `\`${path}\` must not be empty.`, path) : value
}

/** Reads a boolean. */
export const booleanValue: Read<boolean> = (value, path) => (typeof value === 'boolean' ? value : wrongType(path, 'a boolean', value))

/** Reads an object. */
export const objectValue: Read<JsonObject> = (value, path) => (isObject(value) ? value : wrongType(path, 'an object', value))

/** Reads a finite number within an inclusive range. */
export const numberBetween =
  (min = -Infinity, max = Infinity): Read<number> =>
  (value, path) =>
    typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max
      ? value
      : wrongType(path, `a number${rangeText(min, max)}`, value)

/** Reads an integer within an inclusive range. */
export const integerBetween =
  (min = -Infinity, max = Infinity): Read<number> =>
  (value, path) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
      ? value
      : wrongType(path, `an integer${rangeText(min, max)}`, value)

const rangeText = (min: number, max: number): string => {
  if (min === -Infinity) return ''
  return max === Infinity ? ` of at least ${min}` : ` from ${min} to ${max}`
}

/** Reads one of these strings. */
export const literalOf =
  <const T extends string>(...values: readonly T[]): Read<T> =>
  (value, path) =>
    values.find(known => known === value) ??
    refuse('invalid_parameter_value', `\`${path}\` must be one of ${values.map(known => `"${known}"`).join(', ')}.`, path)

/** Reads an array, each element with the same reader. */
export const arrayOf =
  <T>(each: Read<T>): Read<readonly T[]> =>
  (value, path) =>
    Array.isArray(value) ? value.map((entry: Json, index) => each(entry, `${path}[${index}]`)) : wrongType(path, 'an array', value)

/** Reads a string of at most so many characters. */
export const textUpTo =
  (longest: number): Read<string> =>
  (value, path) => {
    const text = anyText(value, path)
    if (text.length <= longest) return text
    return refuse('invalid_parameter_value', `\`${path}\` may have ${longest} characters at most, got ${text.length}.`, path)
  }

/** The largest map of strings: its entries, and characters of a name and of a value. */
export interface MapCaps {
  readonly entries?: number
  readonly name?: number
  readonly value?: number
}

/** Reads a map of strings. Returns the object itself, because copying a key such as `__proto__` would be harmful. */
export const stringMap = ({
  entries = Infinity,
  name: longestName = Infinity,
  value: longest = Infinity,
}: MapCaps = {}): Read<Readonly<Record<string, string>>> => {
  const readValue = textUpTo(longest)
  return (value, path) => {
    const map = objectValue(value, path)
    const keys = Object.keys(map)
    if (keys.length > entries)
      refuse('invalid_parameter_value', `\`${path}\` may hold ${entries} entries at most, got ${keys.length}.`, path)
    for (const key of keys) {
      if (key.length > longestName)
        refuse('invalid_parameter_value', `A name in \`${path}\` may have ${longestName} characters at most, got ${key.length}.`, path)
      readValue(map[key] ?? null, joinPath(path, key))
    }
    return map as Readonly<Record<string, string>>
  }
}

/** An object of the body and its path. */
export interface ObjectAtPath {
  readonly body: JsonObject
  readonly path: string
}

/** Reads an optional field. Null counts as absent, because SDKs send null for omitted fields. */
export function optional<T>({ body, path }: ObjectAtPath, key: string, read: Read<T>): T | undefined {
  const value = body[key]
  return value === undefined || value === null ? undefined : read(value, joinPath(path, key))
}

/** Reads the fields that an object has, each with its reader. */
export function optionalFields<T extends object>(
  place: ObjectAtPath,
  readers: { readonly [Key in keyof T]: Read<T[Key]> },
): { readonly [Key in keyof T]?: T[Key] } {
  const fields: { [Key in keyof T]?: T[Key] } = {}
  for (const key in readers) {
    const value = optional(place, key, readers[key])
    if (value !== undefined) fields[key] = value
  }
  return fields
}

/**
 * Reads a field.
 *
 * @throws `missing_required_parameter` (400)
 */
export function required<T>({ body, path }: ObjectAtPath, key: string, read: Read<T>): T {
  const value = body[key]
  return value === undefined || value === null ? missing(joinPath(path, key)) : read(value, joinPath(path, key))
}

export function missing(param: string, suggestion?: string): never {
  throw new GatewayError('missing_required_parameter', {
    message: `\`${param}\` is required.`,
    param,
    suggestion,
  })
}

/** Keys are truncated, because a client may send one of any length. */
const joinPath = (path: string, key: string): string => (path === '' ? key.slice(0, 200) : `${path}.${key.slice(0, 200)}`)

/** Reads an object of the gateway's own API, which must not have other fields: a misspelled one would be silently ignored. */
export function exact(body: JsonObject, path: string, fields: ReadonlyMap<string, Read<unknown>>): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const key of Object.keys(body)) {
    const field = fields.get(key)
    if (!field)
      return refuse(
        'unknown_field',
        `\`${joinPath(path, key)}\` is not a known field. Known: ${[...fields.keys()].join(', ')}.`,
        joinPath(path, key),
      )
    const value = optional({ body, path }, key, field)
    if (value !== undefined) read[key] = value
  }
  return read
}
