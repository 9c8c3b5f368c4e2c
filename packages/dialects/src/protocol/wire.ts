/** Any JSON value, as parsed. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** A JSON object, as parsed. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** An undecoded server-sent event. */
export interface Frame {
  readonly event?: string
  readonly data: string
}

/** The name of a dialect. Names other than the built-in ones are allowed. */
export type DialectName = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock' | (string & {})

/**
 * The dialect whose names the internal items, events and prompt fields use (the Responses API). Only its originals have the same field
 * names as items, and the API has error codes for requests that only this dialect can express.
 */
export const innerDialect = 'responses'

/** Looks up an own property, never an inherited one. For every name that is not a literal in our code. */
export const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** Whether a value is an object that is neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The list with one more value, for lists that only this function extends. A first value gets a list of its own size, because a list grown
 * by `push` has room for 17.
 */
export function append<List extends readonly unknown[]>(list: List, value: List[number]): List {
  if (list.length === 0) return [value] as readonly unknown[] as List
  ;(list as unknown as List[number][]).push(value)
  return list
}
