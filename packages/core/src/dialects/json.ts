import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { isTooDeep } from './frame.ts'

// Readers of what providers send. They never throw: what does not fit counts as absent.

export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []

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
