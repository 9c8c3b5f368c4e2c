import { readAllowedTools } from '../common/allowed-tools.ts'
import { FreeNames } from '../common/fitted-names.ts'
import { stringOf } from '../common/json.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import { plainName, toolNamesIn } from '../common/tool-names.ts'
import { isPlainParameters } from '../common/tool-parameters.ts'
import type { Prompt } from '../protocol/request.ts'
import type { FunctionTool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cachePointAfter } from './cache-points.ts'
import type { BedrockDraft } from './draft.ts'
import type { Conversation } from './items.ts'
import { maxNameLength } from './tool-names.ts'

// The response format, which may be a tool that the model must call, and tools. A conversation with tool calls must declare tools, and there
// is no tool choice "none", so an instruction replaces it.

interface EncodedFormat {
  /** Text to add to the system prompt. */
  readonly instruction?: string
  /** The tool whose arguments are the response text. */
  readonly answerTool?: { readonly name: string; readonly spec: JsonObject }
}

/** `canForceCall`: whether the model supports forced tool calls. */
export function encodeFormat(prompt: Prompt, canForceCall: boolean, draft: BedrockDraft): EncodedFormat {
  const { text, tools = [] } = prompt
  const format = text?.format
  if (!format || format.type === 'text') return {}
  if (format.type === 'json_object') return { instruction: 'Answer with one JSON object, and with nothing else.' }
  const { name, schema, description } = format
  const { jsonSchema: support = 'tool', jsonSchemaWithoutTools } = draft.quirks
  const isBesideTools = jsonSchemaWithoutTools === true && tools.some(({ type }) => type === 'function')
  if (support === 'native' && !isBesideTools) {
    const fitted = JSON.stringify(draft.fitSchema('text.format.schema', schema, strictSchemaRules))
    const jsonSchema = { schema: fitted, name: plainName(name, 0, maxNameLength), description: description || undefined }
    draft.set('outputConfig', { textFormat: { type: 'json_schema', structure: { jsonSchema } } })
    return {}
  }
  if (support === 'tool' && canForceCall && isPlainParameters(schema)) {
    draft.warn('text.format', 'This provider does not enforce schemas; the model was required to call a tool with the schema.')
    const toolName = new FreeNames(toolNamesIn(prompt).map(draft.toolNames.sent)).take(attempt => `answer${'_'.repeat(attempt)}`)
    const purpose = description || 'Gives the answer. Call it once, with the whole answer.'
    return { answerTool: { name: toolName, spec: { name: toolName, description: purpose, inputSchema: { json: schema } } } }
  }
  draft.warn('text.format', 'This provider cannot enforce the schema; it was added to the prompt instead.')
  return {
    instruction: `Answer with one JSON object that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}`,
  }
}

interface ToolOptions extends Pick<EncodedFormat, 'answerTool'> {
  /** Whether the model supports forced tool calls. */
  readonly canForceCall: boolean
}

/** Sets `toolConfig`. Returns text to add to the system prompt. */
export function encodeTools(
  prompt: Prompt,
  conversation: Conversation,
  { answerTool, canForceCall }: ToolOptions,
  draft: BedrockDraft,
): string | undefined {
  const { tool_choice: choice, parallel_tool_calls } = prompt
  const specs = encodeSpecs(prompt, draft)
  const canCall = specs.length > 0 && choice !== 'none'
  if (answerTool) {
    const named = typeof choice === 'object' && choice.type === 'function' ? draft.toolNames.sent(choice.name) : undefined
    // If there are other tools, the model may call those first.
    const toolChoice = !canCall ? { tool: { name: answerTool.name } } : named === undefined ? { any: {} } : { tool: { name: named } }
    draft.set('toolConfig', { tools: [...(canCall ? specs : []), { toolSpec: answerTool.spec }], toolChoice })
  } else if (canCall) {
    const { type, name } = encodeChoice(prompt, canForceCall, draft)
    if (parallel_tool_calls === false && draft.quirks.anthropicFields) {
      // Anthropic's own `tool_choice` cannot be combined with `toolChoice`.
      draft.set('toolConfig', { tools: specs })
      draft.model.set('tool_choice', { type, name, disable_parallel_tool_use: true })
      return undefined
    }
    draft.set('toolConfig', { tools: specs, toolChoice: choice === undefined ? undefined : { [type]: { name } } })
  }
  if (canCall && parallel_tool_calls === false)
    draft.warn(
      'parallel_tool_calls',
      'This provider does not support `parallel_tool_calls: false`; the model may make several tool calls at once.',
    )
  if (canCall || answerTool) return undefined
  if (choice !== undefined && choice !== 'auto' && choice !== 'none')
    draft.warn('tool_choice', '`tool_choice` was left out: no tool is left to choose.')
  const { hasTools, calledTools } = conversation
  if (!hasTools) return undefined
  draft.warn(
    choice === 'none' ? 'tool_choice' : 'tools',
    'The conversation holds tool calls, so this provider requires tool definitions; the prompt asks the model not to call them.',
  )
  // Tools that were called but not declared.
  const inferred = [...(calledTools.size > 0 ? calledTools : ['tool'])].map(name => ({
    toolSpec: { name: draft.toolNames.sent(name), inputSchema: { json: { type: 'object' } } },
  }))
  draft.set('toolConfig', { tools: specs.length > 0 ? specs : inferred })
  return 'Do not call any tool. Answer in words.'
}

function encodeSpecs({ tools = [], tool_choice }: Prompt, draft: BedrockDraft): readonly JsonObject[] {
  const allowed = readAllowedTools(tool_choice)
  return tools.flatMap((tool, index): readonly JsonObject[] => {
    const param = `tools[${index}]`
    if (tool.type === 'function') {
      return allowed && !allowed.names.includes(tool.name) ? [] : [encodeSpec(tool, param, draft), ...cachePointAfter(tool.cache)]
    }
    draft.omit(param, `(${stringOf(tool.body.type)}) is not supported by this provider and was left out.`)
    return []
  })
}

function encodeSpec(tool: FunctionTool, param: string, draft: BedrockDraft): JsonObject {
  const { name, description = '', parameters } = tool
  const schema: JsonObject = parameters ? { ...parameters, type: 'object' } : { type: 'object', properties: {} }
  const isStrict = draft.isStrict(tool, param)
  const json = isStrict ? draft.fitSchema(`${param}.parameters`, schema, strictSchemaRules, parameters) : schema
  return {
    toolSpec: {
      name: draft.toolNames.sent(name),
      description: description.trim() === '' ? undefined : description,
      inputSchema: { json },
      strict: isStrict || undefined,
    },
  }
}

interface EncodedChoice {
  readonly type: 'auto' | 'any' | 'tool'
  readonly name?: string
}

function encodeChoice({ tool_choice: choice }: Prompt, canForceCall: boolean, draft: BedrockDraft): EncodedChoice {
  const allowed = readAllowedTools(choice)
  if (choice === undefined || choice === 'auto' || choice === 'none' || allowed?.isForced === false) return { type: 'auto' }
  if (choice !== 'required' && choice.type === 'native' && !allowed) draft.omit('tool_choice')
  else if (!canForceCall)
    draft.warn('tool_choice', 'This provider does not support a required tool call; the model decides whether to call a tool.')
  else if (choice !== 'required' && choice.type === 'function') return { type: 'tool', name: draft.toolNames.sent(choice.name) }
  else return { type: 'any' }
  return { type: 'auto' }
}
