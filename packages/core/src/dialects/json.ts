import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Readers of what providers send. They never throw: what does not fit counts as absent.

export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
