import type { FittedParameters } from '../protocol/schemas.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { fittedNames } from './fitted-names.ts'
import { propertyNamesIn, renameProperties } from './rename-properties.ts'
import { hashed, hashSuffixLength } from './tool-names.ts'

// Fits the names of a tool's properties for providers that restrict them, at the first level only: deeper ones are not checked. The names
// in the arguments of calls are put back.

const maxPropertyLength = 64
const plainPattern = /^[a-zA-Z0-9_.-]{1,64}$/

/** Client's name → name as sent, for properties whose names are not accepted. The same schema always gets the same names. */
export function plainPropertyNames(schema: JsonObject): ReadonlyMap<string, string> {
  const names = isObject(schema.properties) ? Object.keys(schema.properties) : []
  if (names.every(name => plainPattern.test(name))) return unchanged
  const declared = new Set(names)
  // Names that only conditions mention are sent as they are.
  const mentioned = propertyNamesIn(schema).filter(name => !declared.has(name))
  return new Map([...fittedNames(names, fit, mentioned).changed].map(([sent, name]) => [name, sent]))
}

const unchanged: ReadonlyMap<string, string> = new Map()

function fit(name: string, attempt: number): string {
  if (plainPattern.test(name)) return name
  const plain = name.replaceAll(/[^a-zA-Z0-9_.-]/g, '_') || '_'
  const isLong = plain.length > maxPropertyLength
  return attempt === 0 && !isLong ? plain : hashed(name, isLong ? attempt : attempt - 1, maxPropertyLength - hashSuffixLength)
}

/** The parameters of a tool with names that providers accept: the same schema if no name has to change. */
export function withPlainProperties(schema: JsonObject): FittedParameters {
  const names = plainPropertyNames(schema)
  return { schema: names.size > 0 ? renameProperties(schema, name => names.get(name) ?? name) : schema, changes: [], names }
}

/** Renames the keys of one JSON object whose text arrives in pieces. All other text is unchanged. */
export interface KeyRenamer {
  readonly names: ReadonlyMap<string, string>
  depth: number
  isObject: boolean
  /** Whether the next string at the first level is a key. */
  expectsKey: boolean
  inString: boolean
  isEscaped: boolean
  /** The text of an incomplete key, with its quotes. Undefined outside of keys. */
  key: string | undefined
}

export const startRenaming = (names: ReadonlyMap<string, string>): KeyRenamer => ({
  names,
  depth: 0,
  isObject: false,
  expectsKey: false,
  inString: false,
  isEscaped: false,
  key: undefined,
})

/** Reads the next piece and returns the text that is complete. */
export function renameKeysIn(renamer: KeyRenamer, text: string): string {
  let written = ''
  let start = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (renamer.inString) {
      if (!endsString(renamer, character)) continue
      if (renamer.key === undefined) continue
      written += renamedKey(renamer.key + text.slice(start, index + 1), renamer.names)
      renamer.key = undefined
      start = index + 1
    } else if (character === '"') {
      renamer.inString = true
      if (!renamer.expectsKey || renamer.depth !== 1) continue
      written += text.slice(start, index)
      start = index
      renamer.key = ''
    } else if (character !== undefined) readPunctuation(renamer, character)
  }
  const rest = text.slice(start)
  if (renamer.key === undefined) return written + rest
  renamer.key += rest
  return written
}

/** Returns the text that was held back, if the object ended within a key. */
export const endRenaming = ({ key = '' }: KeyRenamer): string => key

/** Renames the keys of a whole text. */
export function renameKeys(text: string, names: ReadonlyMap<string, string>): string {
  const renamer = startRenaming(names)
  return renameKeysIn(renamer, text) + endRenaming(renamer)
}

function endsString(renamer: KeyRenamer, character: string | undefined): boolean {
  if (renamer.isEscaped) renamer.isEscaped = false
  else if (character === '\\') renamer.isEscaped = true
  else if (character === '"') renamer.inString = false
  return !renamer.inString
}

function readPunctuation(renamer: KeyRenamer, character: string): void {
  if (character === '{' || character === '[') {
    if (renamer.depth === 0) renamer.isObject = character === '{'
    renamer.depth += 1
    renamer.expectsKey = renamer.depth === 1 && renamer.isObject
  } else if (character === '}' || character === ']') renamer.depth -= 1
  else if (character === ',' && renamer.depth === 1) renamer.expectsKey = renamer.isObject
  else if (character === ':' && renamer.depth === 1) renamer.expectsKey = false
}

/** The key in quotes under its other name, if it has one. */
function renamedKey(key: string, names: ReadonlyMap<string, string>): string {
  try {
    const name = names.get(JSON.parse(key) as string)
    return name === undefined ? key : JSON.stringify(name)
  } catch {
    return key
  }
}
