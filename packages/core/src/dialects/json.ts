import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { isTooDeep } from './frame.ts'

// Readers of what providers send. They never throw: what does not fit counts as absent.

export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const none: readonly JsonObject[] = []

/** The objects of a list. The very list where it holds nothing else: these are read with every token. */
export function objects(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return none
  const list: readonly Json[] = value
  return areObjects(list) ? list : list.filter(isObject)
}

function areObjects(list: readonly Json[]): list is readonly JsonObject[] {
  for (const each of list) if (!isObject(each)) return false
  return true
}

/** The object that a text holds: none where it is something else, or nested deeper than can be written out again. */
export function objectIn(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) && !isTooDeep(text) ? value : undefined
  } catch {
    return undefined
  }
}
