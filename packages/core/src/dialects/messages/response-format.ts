import type { Prompt, TextFormat } from '../../protocol/request.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { schemaWarnings } from '../fit-schemas.ts'
import { safeName } from './tool-names.ts'
import { originalBody } from './wire.ts'
import { type Writing, warn } from './encode-context.ts'

// The form of the answer: held to a schema by the provider, by a tool that the model must call, or by words.

export interface WrittenFormat {
  /** For `output_config`. */
  readonly format?: JsonObject
  /** A tool whose arguments are the answer, and its name. */
  readonly tool?: JsonObject
  readonly answerTool?: string
  /** What the model must be told. */
  readonly instruction?: string
}

type Schema = Extract<TextFormat, { type: 'json_schema' }>

/** `canForce`: a tool call may be demanded. */
export function writeFormat({ text, tools = [], tool_choice }: Prompt, canForce: boolean, writing: Writing): WrittenFormat {
  const format = text?.format
  if (!text || !format || format.type === 'text') return {}
  if (format.type === 'json_object') return { instruction: 'Answer with one JSON object, and with nothing else.' }
  const { json_schema: way = 'native' } = writing.quirks
  const known = originalBody(text)
  if (way === 'native') return { format: known && isObject(known.format) ? known.format : native(format, writing) }
  const isCallDemanded = typeof tool_choice === 'object' && tool_choice.type === 'function'
  if (way === 'tool' && canForce && !isCallDemanded && (format.schema.type ?? 'object') === 'object') {
    warn(writing, 'text.format', 'This model cannot be held to a schema; it answers through a tool that takes one.')
    return byTool(format, new Set(tools.map(tool => (tool.type === 'function' ? safeName(tool.name) : tool.body.name))))
  }
  warn(writing, 'text.format', 'This model cannot be held to a schema; it was told of it in words.')
  return {
    instruction: `Answer with JSON that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`,
  }
}

function native({ schema, description }: Schema, writing: Writing): JsonObject {
  const fitted = writing.schemas.fit(schema, 'messages')
  writing.warnings.push(...schemaWarnings('text.format.schema', fitted))
  const told = description !== undefined && fitted.schema.description === undefined ? { description } : {}
  return { type: 'json_schema', schema: { ...fitted.schema, ...told } }
}

function byTool({ schema, description }: Schema, taken: ReadonlySet<unknown>): WrittenFormat {
  let name = 'answer'
  while (taken.has(name)) name += '_'
  const purpose = 'Takes your answer. Call it once, with all that you have to say.'
  return {
    answerTool: name,
    tool: {
      name,
      description: description === undefined ? purpose : `${purpose} ${description}`,
      input_schema: { type: 'object', ...schema },
    },
  }
}
