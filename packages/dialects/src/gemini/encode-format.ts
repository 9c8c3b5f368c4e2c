import { unsupported } from '../common/apply-quirks.ts'
import { schemaWarnings } from '../common/fit-schemas.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt, TextFormat } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter } from '../protocol/schemas.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { schemaRules } from './schema-rules.ts'

// The response format: a schema that the provider enforces, or an instruction.

export interface EncodedFormat {
  /** Fields for `generationConfig`. */
  readonly fields: JsonObject
  /** Text to add to the system prompt. */
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

const jsonOutput = { responseMimeType: 'application/json' }

export function encodeFormat({ text, tools = [] }: Prompt, quirks: Quirks, schemas: SchemaFitter): EncodedFormat {
  const format = text?.format
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  const isRefusedBesideTools = quirks.jsonSchemaWithoutTools === true && tools.some(({ type }) => type === 'function')
  const isUnsupported = quirks.jsonSchema !== undefined && quirks.jsonSchema !== 'native'
  if (isRefusedBesideTools || isUnsupported)
    return { fields: {}, instruction: instructionFor(format), warnings: [isRefusedBesideTools ? notBesideTools : notEnforced] }
  if (format.type === 'json_object') return { fields: jsonOutput, warnings: [] }
  const fit = schemas.fit(format.schema, schemaRules)
  return { fields: { ...jsonOutput, responseJsonSchema: fit.schema }, warnings: schemaWarnings('text.format.schema', fit) }
}

const notEnforced = unsupported('text.format', 'This model cannot enforce a response format; it was added to the prompt instead.')
const notBesideTools = unsupported(
  'text.format',
  'This model does not support a response format together with tools; it was added to the prompt instead.',
)

const instructionFor = (format: Exclude<TextFormat, { type: 'text' }>): string =>
  format.type === 'json_object'
    ? 'Answer with one JSON object, and with nothing else.'
    : `Answer with one JSON object that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`
