import { commonKeywords } from '../common/schema-rules.ts'
import type { SchemaRules } from '../protocol/schemas.ts'

export const schemaRules: SchemaRules = {
  name: 'gemini',
  keeps: new Set([...commonKeywords, 'format', 'minItems', 'maxItems', 'minimum', 'maximum', 'prefixItems', 'propertyOrdering']),
  closed: false,
  enums: new Set(['string', 'number']),
}
