import type { Quirks } from '../../protocol/model.ts'
import { pathOf } from '../../protocol/original.ts'
import type { FunctionTool, Prompt, TextFormat, Tool, ToolChoice } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject, own } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { objects, stringOf } from '../json.ts'
import { dialect, originalBody, without } from './wire.ts'

// Tools, the choice among them, and the shape of the answer.

export interface WrittenTools {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** `tool_choice` and `parallel_tool_calls` are refused by hosts where no tool stands beside them. */
export function writeTools({ tools = [], tool_choice, parallel_tool_calls }: Prompt, quirks: Quirks): WrittenTools {
  const warnings: Warning[] = []
  const allowed = allowedNames(tool_choice)
  const written = tools.flatMap((tool, at): readonly JsonObject[] => {
    const param = pathOf(tool, `tools[${at}]`)
    if (tool.type === 'native' && tool.dialect !== dialect) {
      warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) needs a provider of another kind and was left out.`))
      return []
    }
    if (allowed && !allowed.has(nameOf(tool))) return []
    if (tool.type === 'native') return [tool.body]
    const written = originalBody(tool) ?? writeTool(tool)
    if (!tool.strict || !quirks.refuses?.includes('strict')) return [written]
    warnings.push(unsupported(`${param}.strict`, `\`${param}.strict\` is not supported here and was left out.`))
    return [withoutStrict(written)]
  })
  if (written.length === 0) return { fields: {}, warnings: [...warnings, ...withoutTools(tool_choice)] }
  const choice = tool_choice === undefined ? undefined : writeChoice(tool_choice, quirks, warnings)
  return {
    fields: {
      tools: written,
      ...(choice !== undefined && { tool_choice: choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    },
    warnings,
  }
}

/** Tools that we do not model have their name one level down. */
function nameOf(tool: Tool): string {
  if (tool.type === 'function') return tool.name
  const inner = own(tool.body, stringOf(tool.body.type))
  return isObject(inner) ? stringOf(inner.name) : ''
}

const writeTool = ({ name, description, parameters, strict }: FunctionTool): JsonObject => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' && { strict }),
  },
})

const strict: ReadonlySet<string> = new Set(['strict'])
const withoutStrict = (written: JsonObject): JsonObject => ({
  ...written,
  ...(isObject(written.function) && { function: without(written.function, strict) }),
})

/** Without tools there is nothing to choose, which matters only to who demanded a call. */
const withoutTools = (choice: ToolChoice | undefined): readonly Warning[] =>
  choice === undefined || choice === 'auto' || choice === 'none'
    ? []
    : [unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.')]

/** `allowed_tools` is a list of this request's tools; elsewhere the same is said by not offering the others. */
function allowedNames(choice: ToolChoice | undefined): ReadonlySet<string> | undefined {
  const allowed = allowedTools(choice)
  return allowed && new Set(objects(allowed.tools).map(tool => stringOf(tool.name)))
}

const allowedTools = (choice: ToolChoice | undefined): JsonObject | undefined =>
  typeof choice === 'object' && choice.type === 'native' && choice.dialect !== dialect && choice.body.type === 'allowed_tools'
    ? choice.body
    : undefined

function writeChoice(choice: ToolChoice, quirks: Quirks, warnings: Warning[]): Json | undefined {
  const said = spellChoice(choice, quirks, warnings)
  if (!quirks.no_forced_tools || said === undefined || said === 'auto' || said === 'none') return said
  warnings.push(unsupported('tool_choice', 'A tool call cannot be demanded here; `tool_choice` was sent as `auto`.'))
  return 'auto'
}

function spellChoice(choice: ToolChoice, quirks: Quirks, warnings: Warning[]): Json | undefined {
  const required = quirks.required_tool_choice ?? 'required'
  if (typeof choice === 'string') return choice === 'required' ? required : choice
  if (choice.type === 'function') return { type: 'function', function: { name: choice.name } }
  if (choice.dialect === dialect) return choice.body
  const allowed = allowedTools(choice)
  if (allowed) return allowed.mode === 'required' ? required : 'auto'
  warnings.push(
    unsupported('tool_choice', `\`tool_choice\` (${stringOf(choice.body.type)}) needs a provider of another kind and was left out.`),
  )
  return undefined
}

export interface WrittenFormat {
  readonly fields: JsonObject
  /** What the model must be told in words, where the host cannot hold it to a schema. */
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

export function writeFormat(format: TextFormat | undefined, quirks: Quirks): WrittenFormat {
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  if (format.type === 'json_object') return { fields: { response_format: { type: 'json_object' } }, warnings: [] }
  const { name, schema, strict, description } = format
  if (wordsOnly(quirks)) {
    return {
      fields: { response_format: { type: 'json_object' } },
      instruction: `Answer with one JSON object that fits this JSON schema (${name}), and with nothing else:\n${JSON.stringify(schema)}`,
      warnings: [unsupported('text.format', 'This provider cannot enforce a schema; the model was told of it in words.')],
    }
  }
  const known = originalBody(format)
  if (known) return { fields: { response_format: known }, warnings: [] }
  const json_schema = { name, schema, ...(typeof strict === 'boolean' && { strict }), ...(description !== undefined && { description }) }
  return { fields: { response_format: { type: 'json_schema', json_schema } }, warnings: [] }
}

/** Said twice, since `json_schema` came later. A forced tool is no way here: hosts without schemas are the ones that force none. */
const wordsOnly = ({ json_schema, no_json_schema = false }: Quirks): boolean =>
  json_schema === undefined ? no_json_schema : json_schema !== 'native'
