import type { JsonObject } from './wire.ts'

/** A JSON schema as a provider takes it. */
export interface FittedSchema {
  readonly schema: JsonObject
  /** What was changed, in words, each with its place in the schema. Empty: nothing that matters to an answer. */
  readonly changes: readonly string[]
}

/** The provider languages that take only a part of JSON Schema. */
export type SchemaTarget = 'messages' | 'gemini' | 'bedrock'

/** Fits the JSON schemas of one request, all attempts included, within one budget. */
export interface SchemaFitter {
  /** `source`: the object that the schema was made from. A second call with it and the same target does no work. */
  fit(schema: JsonObject, target: SchemaTarget, source?: JsonObject): FittedSchema
}
