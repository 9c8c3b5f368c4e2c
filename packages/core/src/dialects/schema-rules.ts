import type { SchemaTarget } from '../protocol/schemas.ts'

// The part of JSON Schema that each target supports. Sources: the vendors' pages on structured output and function calling, as of 2026-11.

export interface SchemaRules {
  /** Keywords that may stay as they are. */
  readonly keeps: ReadonlySet<string>
  /** `format` names that may stay; absent: any. */
  readonly formats?: ReadonlySet<string>
  /** Every object must set `additionalProperties: false`. */
  readonly closed: boolean
  /** What an enum may hold. */
  readonly enums: ReadonlySet<string>
  /** The largest supported `minItems`; absent: any. */
  readonly maxMinItems?: number
}

const common = ['type', 'description', 'title', 'enum', 'items', 'properties', 'required', 'anyOf', '$ref', '$defs', 'additionalProperties']

const strict: SchemaRules = {
  keeps: new Set([...common, 'const', 'default', 'format', 'minItems']),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
  closed: true,
  enums: new Set(['string', 'number', 'boolean', 'null']),
  maxMinItems: 1,
}

export const schemaRules: Readonly<Record<SchemaTarget, SchemaRules>> = {
  messages: strict,
  bedrock: strict,
  gemini: {
    keeps: new Set([...common, 'format', 'minItems', 'maxItems', 'minimum', 'maximum', 'prefixItems', 'propertyOrdering']),
    closed: false,
    enums: new Set(['string', 'number']),
  },
}

/** Keywords that only annotate: without them every value that was valid still is, and no other. */
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

/** Limits that can go into the description, if the target cannot enforce them. */
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
