import { unsupported } from '../common/apply-quirks.ts'
import { schemaWarnings } from '../common/fit-schemas.ts'
import { type FittedNames, FreeNames } from '../common/fitted-names.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import { plainName, toolNamesIn } from '../common/tool-names.ts'
import { isPlainParameters } from '../common/tool-parameters.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt, TextFormat } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter } from '../protocol/schemas.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { maxNameLength } from './tool-names.ts'

// The response format: a schema that the provider enforces, a tool that the model must call, or an instruction.

export interface EncodedFormat {
  readonly fields: JsonObject
  /** Text to add to the system prompt. */
  readonly instruction?: string
  /** The tool whose arguments are the response text. */
  readonly answerTool?: { readonly name: string; readonly spec: JsonObject }
  readonly warnings: readonly Warning[]
}

type SchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

interface FormatContext {
  /** Whether the model supports forced tool calls. */
  readonly canForceCall: boolean
  readonly schemas: SchemaFitter
  readonly toolNames: FittedNames
}

export function encodeFormat(prompt: Prompt, quirks: Quirks, { canForceCall, schemas, toolNames }: FormatContext): EncodedFormat {
  const { text, tools = [] } = prompt
  const format = text?.format
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  if (format.type === 'json_object') return { fields: {}, instruction: 'Answer with one JSON object, and with nothing else.', warnings: [] }
  const { jsonSchema: support = 'tool', jsonSchemaWithoutTools } = quirks
  const isBesideTools = jsonSchemaWithoutTools === true && tools.some(({ type }) => type === 'function')
  if (support === 'native' && !isBesideTools) return enforcedFormat(format, schemas)
  return support === 'tool' && canForceCall && isPlainParameters(format.schema)
    ? toolFormat(format, toolNamesIn(prompt).map(toolNames.sent))
    : instructionFormat(format)
}

function enforcedFormat({ name, schema, description }: SchemaFormat, schemas: SchemaFitter): EncodedFormat {
  const fit = schemas.fit(schema, strictSchemaRules)
  const jsonSchema = { schema: JSON.stringify(fit.schema), name: plainName(name, 0, maxNameLength), ...(description && { description }) }
  return {
    fields: { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } },
    warnings: schemaWarnings('text.format.schema', fit),
  }
}

function toolFormat({ schema, description }: SchemaFormat, takenNames: readonly string[]): EncodedFormat {
  const name = new FreeNames(takenNames).take(attempt => `answer${'_'.repeat(attempt)}`)
  const spec = { name, description: description || 'Gives the answer. Call it once, with the whole answer.', inputSchema: { json: schema } }
  return {
    fields: {},
    answerTool: { name, spec },
    warnings: [
      unsupported('text.format', 'This provider does not enforce schemas; the model was required to call a tool with the schema.'),
    ],
  }
}

const instructionFormat = ({ name, schema }: SchemaFormat): EncodedFormat => ({
  fields: {},
  instruction: `Answer with one JSON object that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}`,
  warnings: [unsupported('text.format', 'This provider cannot enforce the schema; it was added to the prompt instead.')],
})
