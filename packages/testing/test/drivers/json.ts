import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'

/** The value at a path of field names and indexes. */
export const at = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, key) => (isObject(inner) || Array.isArray(inner) ? Reflect.get(inner, key) : undefined), value)

export const textAt = (value: Json | undefined, ...path: readonly string[]): string => {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

export const objectsAt = (value: Json | undefined, ...path: readonly string[]): readonly JsonObject[] => {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as readonly Json[]).filter(isObject) : []
}

export const bodyOf = ({ data }: Frame): Json => JSON.parse(data)
