import { readAllowedTools } from '../common/allowed-tools.ts'
import type { BodyDraft } from '../common/body-draft.ts'
import { FreeNames } from '../common/fitted-names.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import { toolNamesIn } from '../common/tool-names.ts'
import { isPlainParameters } from '../common/tool-parameters.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { cacheControl } from './items.ts'
import { dialect, originalBody } from './wire.ts'

// The response format, which may be a tool that the model must call, and tools.

const notInThisApi = 'is not supported by the API of this provider and was left out.'

export interface EncodedFormat {
  /** `format` for `output_config`. */
  readonly format?: JsonObject
  /** A tool whose arguments are the response text, and its name. */
  readonly tool?: JsonObject
  readonly answerTool?: string
  /** Text to add to the system prompt. */
  readonly instruction?: string
}

/**
 * Encodes the response format: a schema that the provider enforces, a tool that the model must call, or an instruction. `canForceCall`:
 * whether the model supports forced tool calls.
 */
export function encodeFormat(prompt: Prompt, canForceCall: boolean, draft: BodyDraft): EncodedFormat {
  const { text, tool_choice } = prompt
  const format = text?.format
  if (!text || !format || format.type === 'text') return {}
  if (format.type === 'json_object') return { instruction: 'Answer with one JSON object, and with nothing else.' }
  const { name, schema, description } = format
  const { jsonSchema: support = 'native' } = draft.quirks
  if (support === 'native') {
    const original = originalBody(text)?.format
    if (isObject(original)) return { format: original }
    const fitted = draft.fitSchema('text.format.schema', schema, strictSchemaRules)
    const described = description !== undefined && fitted.description === undefined ? { ...fitted, description } : fitted
    return { format: { type: 'json_schema', schema: described } }
  }
  const isCallForced = typeof tool_choice === 'object' && tool_choice.type === 'function'
  if (support === 'tool' && canForceCall && !isCallForced && isPlainParameters({ type: 'object', ...schema })) {
    draft.warn('text.format', 'This model cannot enforce a schema; its response was requested as a tool call with that schema.')
    const answerTool = new FreeNames(toolNamesIn(prompt).map(draft.toolNames.sent)).take(attempt => `answer${'_'.repeat(attempt)}`)
    const purpose = 'Takes your answer. Call it once, with all that you have to say.'
    const described = description === undefined ? purpose : `${purpose} ${description}`
    return { answerTool, tool: { name: answerTool, description: described, input_schema: { type: 'object', ...schema } } }
  }
  draft.warn('text.format', 'This model cannot enforce a schema; it was added to the prompt instead.')
  return { instruction: `Answer with JSON that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}` }
}

/** Encodes `tools` and `tool_choice`. */
export function encodeTools(prompt: Prompt, format: EncodedFormat, canForceCall: boolean, draft: BodyDraft): void {
  const { tool_choice: choice, parallel_tool_calls } = prompt
  const allowed = readAllowedTools(choice)
  const tools: JsonObject[] = []
  for (const [at, tool] of (prompt.tools ?? []).entries()) {
    const param = pathOf(tool, `tools[${at}]`)
    if (tool.type === 'function') {
      if (!allowed || allowed.names.includes(tool.name)) tools.push(encodeTool(tool, param, draft))
    } else if (tool.dialect === dialect) tools.push(tool.body)
    else draft.omit(param, notInThisApi)
  }
  if (format.tool) {
    // If there are other tools, the model may call those first.
    const forced = tools.length > 0 && choice !== 'none' ? { type: 'any' } : { type: 'tool', name: format.answerTool }
    draft.set('tools', [...tools, format.tool])
    draft.set('tool_choice', { ...forced, disable_parallel_tool_use: true })
  } else if (tools.length > 0) {
    const encoded = choice === undefined ? undefined : encodeChoice(choice, canForceCall, draft)
    const isSequential = parallel_tool_calls === false && encoded?.type !== 'none'
    draft.set('tools', tools)
    draft.set('tool_choice', isSequential ? { ...(encoded ?? { type: 'auto' }), disable_parallel_tool_use: true } : encoded)
  } else if (choice !== undefined && choice !== 'auto' && choice !== 'none')
    draft.warn('tool_choice', '`tool_choice` was left out: no tool is left to choose.')
}

function encodeTool(tool: FunctionTool, param: string, draft: BodyDraft): JsonObject {
  const { name, description, parameters, cache } = tool
  const isStrict = draft.isStrict(tool, param)
  const original = originalBody(tool)
  if (original) {
    const { strict, ...rest } = original
    return tool.strict && !isStrict ? rest : original
  }
  const schema: JsonObject = { type: 'object', ...(parameters ?? { properties: {} }) }
  return {
    name: draft.toolNames.sent(name),
    description,
    input_schema: isStrict ? draft.fitSchema(`${param}.parameters`, schema, strictSchemaRules, parameters) : schema,
    strict: isStrict || undefined,
    cache_control: cacheControl(cache),
  }
}

const choiceTypes: Readonly<Record<'auto' | 'none' | 'required', string>> = { auto: 'auto', none: 'none', required: 'any' }

function encodeChoice(choice: ToolChoice, canForceCall: boolean, draft: BodyDraft): JsonObject | undefined {
  const allowed = readAllowedTools(choice)
  let encoded: JsonObject | undefined
  if (typeof choice === 'string') encoded = { type: choiceTypes[choice] }
  else if (choice.type === 'function') encoded = { type: 'tool', name: draft.toolNames.sent(choice.name) }
  else if (choice.dialect === dialect) encoded = choice.body
  else if (allowed) encoded = { type: allowed.isForced ? 'any' : 'auto' }
  else draft.omit('tool_choice', notInThisApi)
  if (canForceCall || (encoded?.type !== 'any' && encoded?.type !== 'tool')) return encoded
  draft.warn(
    'tool_choice',
    'This model does not support a required tool call, or not while thinking; the model decides whether to call a tool.',
  )
  return { type: 'auto' }
}
