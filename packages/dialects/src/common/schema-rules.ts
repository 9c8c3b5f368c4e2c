import type { SchemaRules } from '../protocol/schemas.ts'

// The subset of JSON Schema that each provider supports. Sources: the vendors' pages on structured output and function calling, 2026-11.

/** Keywords that every provider with schemas supports. */
export const commonKeywords = [
  'type',
  'description',
  'title',
  'enum',
  'items',
  'properties',
  'required',
  'anyOf',
  '$ref',
  '$defs',
  'additionalProperties',
]

/** Rules of Anthropic's models, directly and on Bedrock. */
export const strictSchemaRules: SchemaRules = {
  name: 'strict',
  keeps: new Set([...commonKeywords, 'const', 'default', 'format', 'minItems']),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
  closed: true,
  enums: new Set(['string', 'number', 'boolean', 'null']),
  maxMinItems: 1,
}

/** Annotation keywords. Removing them does not change which values are valid. */
export const annotations: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$comment',
  '$anchor',
  '$vocabulary',
  'title',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'xml',
  'externalDocs',
  'contentEncoding',
  'contentMediaType',
  'propertyOrdering',
])

/** Constraints that can be stated in the description, if the target cannot enforce them. */
export const describable: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
])
