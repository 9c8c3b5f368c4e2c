import { readAllowedTools } from '../common/allowed-tools.ts'
import { schemaWarnings } from '../common/fit-schemas.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { cacheControl, type EncodeContext, warn, warnOmitted } from './encode-context.ts'
import type { EncodedFormat } from './encode-format.ts'
import { dialect, originalBody } from './wire.ts'

export interface ToolOptions {
  /** May add the tool whose arguments are the response text. */
  readonly format: EncodedFormat
  /** Whether the model supports forced tool calls. */
  readonly canForceCall: boolean
}

/** Encodes `tools` and `tool_choice`. */
export function encodeTools(prompt: Prompt, { format, canForceCall }: ToolOptions, context: EncodeContext): JsonObject {
  const allowed = readAllowedTools(prompt.tool_choice)
  const tools = (prompt.tools ?? []).flatMap((tool, at) => {
    const isAllowed = tool.type !== 'function' || !allowed || allowed.names.includes(tool.name)
    const encoded = isAllowed ? encodeTool(tool, pathOf(tool, `tools[${at}]`), context) : undefined
    return encoded ? [encoded] : []
  })
  if (format.tool)
    return { tools: [...tools, format.tool], tool_choice: { ...answerChoice(tools, prompt, format), disable_parallel_tool_use: true } }
  if (tools.length > 0) return { tools, ...encodeChoice(prompt, canForceCall, context) }
  if (isForcedChoice(prompt.tool_choice)) warn(context, 'tool_choice', '`tool_choice` was left out: no tool is left to choose.')
  return {}
}

/** Forces the answer tool. If there are other tools, the model may call those first. */
const answerChoice = (tools: readonly JsonObject[], { tool_choice }: Prompt, { answerTool = '' }: EncodedFormat): JsonObject =>
  tools.length > 0 && tool_choice !== 'none' ? { type: 'any' } : { type: 'tool', name: answerTool }

const isForcedChoice = (choice: ToolChoice | undefined): boolean => choice !== undefined && choice !== 'auto' && choice !== 'none'

function encodeTool(tool: Tool, param: string, context: EncodeContext): JsonObject | undefined {
  if (tool.type === 'native') {
    if (tool.dialect === dialect) return tool.body
    warnOmitted(context, param)
    return undefined
  }
  const original = originalBody(tool)
  const encoded = original ?? { ...encodeFunction(tool, param, context), ...cacheControl(tool.cache) }
  if (!tool.strict || !context.quirks.refuses?.includes('strict')) return encoded
  warn(context, `${param}.strict`, `\`${param}.strict\` is not supported by this provider and was left out.`)
  const { strict, ...rest } = encoded
  return rest
}

function encodeFunction({ name, description, parameters, strict }: FunctionTool, param: string, context: EncodeContext): JsonObject {
  const schema: JsonObject = { type: 'object', ...(parameters ?? { properties: {} }) }
  const isEnforced = strict === true && !context.quirks.refuses?.includes('strict')
  const fitted = isEnforced ? context.schemas.fit(schema, strictSchemaRules, parameters) : undefined
  if (fitted) context.warnings.push(...schemaWarnings(`${param}.parameters`, fitted))
  return {
    name: context.toolNames.sent(name),
    ...(description !== undefined && { description }),
    input_schema: fitted?.schema ?? schema,
    ...(strict === true && { strict }),
  }
}

const forcedTypes: ReadonlySet<Json | undefined> = new Set(['any', 'tool'])

function encodeChoice({ tool_choice, parallel_tool_calls }: Prompt, canForceCall: boolean, context: EncodeContext): JsonObject {
  const requested = tool_choice === undefined ? undefined : choiceOf(tool_choice, context)
  const isRefused = requested !== undefined && !canForceCall && forcedTypes.has(requested.type)
  if (isRefused)
    warn(
      context,
      'tool_choice',
      'This model does not support a required tool call, or not while thinking; the model decides whether to call a tool.',
    )
  const choice = isRefused ? { type: 'auto' } : requested
  if (parallel_tool_calls !== false || choice?.type === 'none') return choice ? { tool_choice: choice } : {}
  return { tool_choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } }
}

const choiceTypes: Readonly<Record<'auto' | 'none' | 'required', string>> = { auto: 'auto', none: 'none', required: 'any' }

function choiceOf(choice: ToolChoice, context: EncodeContext): JsonObject | undefined {
  if (typeof choice === 'string') return { type: choiceTypes[choice] }
  if (choice.type === 'function') return { type: 'tool', name: context.toolNames.sent(choice.name) }
  if (choice.dialect === dialect) return choice.body
  const allowed = readAllowedTools(choice)
  if (allowed) return { type: allowed.isForced ? 'any' : 'auto' }
  warnOmitted(context, 'tool_choice')
  return undefined
}
