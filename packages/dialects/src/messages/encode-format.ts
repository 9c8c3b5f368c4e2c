import { schemaWarnings } from '../common/fit-schemas.ts'
import { FreeNames } from '../common/fitted-names.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import { toolNamesIn } from '../common/tool-names.ts'
import { isPlainParameters } from '../common/tool-parameters.ts'
import type { Prompt, TextFormat } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { type EncodeContext, warn } from './encode-context.ts'
import { originalBody } from './wire.ts'

// The response format: a schema that the provider enforces, a tool that the model must call, or an instruction.

export interface EncodedFormat {
  /** `format` for `output_config`. */
  readonly format?: JsonObject
  /** A tool whose arguments are the response text, and its name. */
  readonly tool?: JsonObject
  readonly answerTool?: string
  /** Text to add to the system prompt. */
  readonly instruction?: string
}

type SchemaFormat = Extract<TextFormat, { type: 'json_schema' }>

/** `canForceCall`: whether the model supports forced tool calls. */
export function encodeFormat(prompt: Prompt, canForceCall: boolean, context: EncodeContext): EncodedFormat {
  const { text, tool_choice } = prompt
  const format = text?.format
  if (!text || !format || format.type === 'text') return {}
  if (format.type === 'json_object') return { instruction: 'Answer with one JSON object, and with nothing else.' }
  const { jsonSchema: support = 'native' } = context.quirks
  const original = originalBody(text)
  if (support === 'native') return { format: original && isObject(original.format) ? original.format : enforcedFormat(format, context) }
  const isCallForced = typeof tool_choice === 'object' && tool_choice.type === 'function'
  if (support === 'tool' && canForceCall && !isCallForced && isPlainParameters({ type: 'object', ...format.schema })) {
    warn(context, 'text.format', 'This model cannot enforce a schema; its response was requested as a tool call with that schema.')
    return toolFormat(format, toolNamesIn(prompt).map(context.toolNames.sent))
  }
  warn(context, 'text.format', 'This model cannot enforce a schema; it was added to the prompt instead.')
  return {
    instruction: `Answer with JSON that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`,
  }
}

function enforcedFormat({ schema, description }: SchemaFormat, context: EncodeContext): JsonObject {
  const fitted = context.schemas.fit(schema, strictSchemaRules)
  context.warnings.push(...schemaWarnings('text.format.schema', fitted))
  const described = description !== undefined && fitted.schema.description === undefined ? { description } : {}
  return { type: 'json_schema', schema: { ...fitted.schema, ...described } }
}

function toolFormat({ schema, description }: SchemaFormat, takenNames: readonly string[]): EncodedFormat {
  const name = new FreeNames(takenNames).take(attempt => `answer${'_'.repeat(attempt)}`)
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
