import { answerLimits } from '../protocol/answer-limits.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { parseBounded } from './parse-frame.ts'

// Readers for JSON of providers. They never throw: a value of another type counts as absent.

export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const noObjects: readonly JsonObject[] = []

/** The objects in a list. Returns the same list if it contains nothing else, because lists are read with every token. */
export function objects(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return noObjects
  const list: readonly Json[] = value
  return areObjects(list) ? list : list.filter(isObject)
}

function areObjects(list: readonly Json[]): list is readonly JsonObject[] {
  for (let at = 0; at < list.length; at += 1) if (!isObject(list[at])) return false
  return true
}

/** The object in a text. Undefined if it is something else, or exceeds the limits of a response. */
export function objectIn(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  const value = parseBounded(text)
  return isObject(value) ? value : undefined
}

/** An object whose fields arrive in pieces. */
export interface GatheredFields {
  fields: JsonObject
  isFull: boolean
}

export const gatherFields = (initial: JsonObject): GatheredFields => ({ fields: initial, isFull: isLarge(initial) })

/** Adds no more once there are `answerLimits.fieldsInPieces`, because each addition copies the object. */
export function addFields(gathered: GatheredFields, more: JsonObject): void {
  if (gathered.isFull) return
  gathered.fields = { ...gathered.fields, ...more }
  gathered.isFull = isLarge(gathered.fields)
}

const isLarge = (fields: JsonObject): boolean => Object.keys(fields).length > answerLimits.fieldsInPieces
