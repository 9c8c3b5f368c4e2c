import { type AllowedTools, readAllowedTools } from '../common/allowed-tools.ts'
import { unsupported } from '../common/apply-quirks.ts'
import { isCustomTool } from '../common/custom-tools.ts'
import { stringOf } from '../common/json.ts'
import type { Quirks } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { dialect, originalBody, without } from './wire.ts'

// Encodes tools, tool choice and response format.

export interface EncodedTools {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** Some hosts reject `tool_choice` and `parallel_tool_calls` without tools. */
export function encodeTools({ tools = [], tool_choice, parallel_tool_calls }: Prompt, quirks: Quirks): EncodedTools {
  const warnings: Warning[] = []
  const choices = allowedTools(tool_choice)
  const allowed = choices && !quirks.allowedTools && new Set(choices.names)
  const encoded = tools.flatMap((tool, at): readonly JsonObject[] => {
    const param = pathOf(tool, `tools[${at}]`)
    if (tool.type === 'native' && tool.dialect !== dialect) {
      warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) is not supported by this provider and was left out.`))
      return []
    }
    if (allowed && !allowed.has(nativeToolName(tool))) return []
    if (tool.type === 'native') return [tool.body]
    const body = originalBody(tool) ?? encodeTool(tool)
    if (!tool.strict || !quirks.refuses?.includes('strict')) return [body]
    warnings.push(unsupported(`${param}.strict`, `\`${param}.strict\` is not supported by this provider and was left out.`))
    return [withoutStrict(body)]
  })
  if (encoded.length === 0) return { fields: {}, warnings: [...warnings, ...withoutTools(tool_choice)] }
  const choice = tool_choice === undefined ? undefined : encodeChoice(named(tool_choice, tools, quirks), quirks, warnings)
  return {
    fields: {
      tools: encoded,
      ...(choice !== undefined && { tool_choice: choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    },
    warnings,
  }
}

/** The name of a tool. Unknown tools have it one level down. */
function nativeToolName(tool: Tool): string {
  if (tool.type === 'function') return tool.name
  const inner = own(tool.body, stringOf(tool.body.type))
  return isObject(inner) ? stringOf(inner.name) : ''
}

const encodeTool = ({ name, description, parameters, strict }: FunctionTool): JsonObject => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(strict === true && { strict }),
  },
})

const strict: ReadonlySet<string> = new Set(['strict'])
const withoutStrict = (tool: JsonObject): JsonObject => ({
  ...tool,
  ...(isObject(tool.function) && { function: without(tool.function, strict) }),
})

/** Without tools, dropping the choice is a loss only if a call was forced. */
const withoutTools = (choice: ToolChoice | undefined): readonly Warning[] =>
  choice === undefined || choice === 'auto' || choice === 'none'
    ? []
    : [unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.')]

/** An `allowed_tools` choice is applied by leaving out the other tools where the host does not know it. */
const allowedTools = (choice: ToolChoice | undefined): AllowedTools | undefined =>
  typeof choice === 'object' && choice.type === 'native' && choice.dialect === dialect ? undefined : readAllowedTools(choice)

/** Custom tools have their own type of tool choice, and so has a choice among some tools. */
function named(choice: ToolChoice, tools: readonly Tool[], quirks: Quirks): ToolChoice {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return isCustomTool(tools, choice.name) ? native(reference(tools, choice.name)) : choice
  const allowed = quirks.allowedTools ? allowedTools(choice) : undefined
  if (!allowed) return choice
  const known = originalBody(choice)
  if (known) return native(known)
  const among = { mode: allowed.isForced ? 'required' : 'auto', tools: allowed.names.map(name => reference(tools, name)) }
  return native({ type: 'allowed_tools', allowed_tools: among })
}

const native = (body: JsonObject): ToolChoice => ({ type: 'native', dialect, body })

const reference = (tools: readonly Tool[], name: string): JsonObject =>
  isCustomTool(tools, name) ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }

function encodeChoice(choice: ToolChoice, quirks: Quirks, warnings: Warning[]): Json | undefined {
  const field = choiceField(choice, quirks, warnings)
  if (!quirks.noForcedTools || field === undefined || field === 'auto' || field === 'none') return field
  warnings.push(unsupported('tool_choice', 'This provider does not support a required tool call; `tool_choice` was sent as `auto`.'))
  return 'auto'
}

function choiceField(choice: ToolChoice, quirks: Quirks, warnings: Warning[]): Json | undefined {
  const required = quirks.requiredToolChoice ?? 'required'
  if (typeof choice === 'string') return choice === 'required' ? required : choice
  if (choice.type === 'function') return { type: 'function', function: { name: choice.name } }
  if (choice.dialect === dialect) return choice.body
  const allowed = allowedTools(choice)
  if (allowed) return allowed.isForced ? required : 'auto'
  warnings.push(
    unsupported('tool_choice', `\`tool_choice\` (${stringOf(choice.body.type)}) is not supported by this provider and was left out.`),
  )
  return undefined
}

export interface EncodedFormat {
  readonly fields: JsonObject
  /** Instruction for the model, if the host cannot enforce a schema. */
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

export function encodeFormat(format: TextFormat | undefined, quirks: Quirks): EncodedFormat {
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  if (format.type === 'json_object') return { fields: { response_format: { type: 'json_object' } }, warnings: [] }
  const { name, schema, strict, description } = format
  if (needsInstruction(quirks)) {
    return {
      fields: { response_format: { type: 'json_object' } },
      instruction: `Answer with one JSON object that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}`,
      warnings: [unsupported('text.format', 'This provider cannot enforce a schema; it was added to the prompt instead.')],
    }
  }
  const known = originalBody(format)
  if (known) return { fields: { response_format: known }, warnings: [] }
  const json_schema = { name, schema, ...(typeof strict === 'boolean' && { strict }), ...(description !== undefined && { description }) }
  return { fields: { response_format: { type: 'json_schema', json_schema } }, warnings: [] }
}

/** There are two quirks because `json_schema` was added later. Hosts without schemas cannot force a tool either. */
const needsInstruction = ({ jsonSchema, noJsonSchema = false }: Quirks): boolean =>
  jsonSchema === undefined ? noJsonSchema : jsonSchema !== 'native'
