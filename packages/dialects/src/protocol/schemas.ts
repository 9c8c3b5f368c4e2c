import type { JsonObject } from './wire.ts'

/** A JSON schema adapted to a provider. */
export interface FittedSchema {
  readonly schema: JsonObject
  /** Descriptions of the changes, each with its location in the schema. Empty: no change affects the response. */
  readonly changes: readonly string[]
}

/** The parameters of a tool with other names for properties. */
export interface FittedParameters extends FittedSchema {
  /** Client's name → name as sent, for those that differ. */
  readonly names: ReadonlyMap<string, string>
}

/** The subset of JSON Schema that a provider supports. */
export interface SchemaRules {
  /** Unique among all rules: fitted schemas are cached by it. */
  readonly name: string
  /** Keywords that are kept. */
  readonly keeps: ReadonlySet<string>
  /** Supported `format` names. Default: all. */
  readonly formats?: ReadonlySet<string>
  /** Whether every object must set `additionalProperties: false`. */
  readonly closed: boolean
  /** Types that an enum may contain. */
  readonly enums: ReadonlySet<string>
  /** The largest supported `minItems`. Default: any. */
  readonly maxMinItems?: number
}

/** Fits the JSON schemas of one request within one budget for all attempts. */
export interface SchemaFitter {
  /** Makes the root of a tool's parameters an object without unions and references. */
  root(schema: JsonObject): FittedSchema
  /** Renames properties whose names some providers refuse. */
  withPlainNames(schema: JsonObject): FittedParameters
  /** `source`: the object that the schema was made from. Results are cached by it and the rules. */
  fit(schema: JsonObject, rules: SchemaRules, source?: JsonObject): FittedSchema
}
