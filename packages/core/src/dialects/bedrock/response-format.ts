import type { Quirks } from '../../protocol/model.ts'
import type { Prompt, TextFormat } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { schemaWarnings } from '../fit-schemas.ts'
import { nameOf } from './wire.ts'

// The shape of the answer: a schema that the host enforces, a tool that the model must call with it, or words.

export interface WrittenFormat {
  readonly fields: JsonObject
  /** What the model is told in words. */
  readonly instruction?: string
  /** The tool whose arguments are the answer. */
  readonly answer?: { readonly name: string; readonly spec: JsonObject }
  readonly warnings: readonly Warning[]
}

type JsonSchema = Extract<TextFormat, { type: 'json_schema' }>

interface FormatContext {
  /** A tool call can be demanded of the model. */
  readonly canDemand: boolean
  readonly schemas: SchemaFitter
}

export function writeFormat({ text, tools = [] }: Prompt, quirks: Quirks, { canDemand, schemas }: FormatContext): WrittenFormat {
  const format = text?.format
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  if (format.type === 'json_object') return { fields: {}, instruction: 'Answer with one JSON object, and with nothing else.', warnings: [] }
  const { json_schema: way = 'tool', json_schema_without_tools: alone } = quirks
  const isBeside = alone === true && tools.some(({ type }) => type === 'function')
  if (way === 'native' && !isBeside) return enforced(format, schemas)
  const names = new Set(tools.map(tool => (tool.type === 'function' ? nameOf(tool.name) : '')))
  return way === 'tool' && canDemand && format.schema.type === 'object' ? byTool(format, names) : inWords(format)
}

function enforced({ name, schema, description }: JsonSchema, schemas: SchemaFitter): WrittenFormat {
  const fit = schemas.fit(schema, 'bedrock')
  const jsonSchema = { schema: JSON.stringify(fit.schema), name: nameOf(name), ...(description && { description }) }
  return {
    fields: { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } },
    warnings: schemaWarnings('text.format.schema', fit),
  }
}

function byTool({ schema, description }: JsonSchema, taken: ReadonlySet<string>): WrittenFormat {
  let name = 'answer'
  while (taken.has(name)) name += '_'
  const spec = { name, description: description || 'Gives the answer. Call it once, with the whole answer.', inputSchema: { json: schema } }
  return {
    fields: {},
    answer: { name, spec },
    warnings: [unsupported('text.format', 'The schema is not enforced here; the model was made to call a tool with it.')],
  }
}

const inWords = ({ name, schema }: JsonSchema): WrittenFormat => ({
  fields: {},
  instruction: `Answer with one JSON object that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}`,
  warnings: [unsupported('text.format', 'The schema cannot be enforced here; the model was told of it in words.')],
})
