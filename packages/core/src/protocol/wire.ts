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

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
