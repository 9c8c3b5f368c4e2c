/** Any JSON value, as parsed. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** One server-sent event, before anyone has read meaning into it. */
export interface Frame {
  readonly event?: string
  readonly data: string
}

/** The languages spoken on either side. Open: an outsider may add one. */
export type DialectName = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock' | (string & {})

/** What an object itself holds under a name, never what all objects inherit: for every name that is not written in our code. */
export const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
