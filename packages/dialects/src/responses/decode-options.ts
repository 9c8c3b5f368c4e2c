import { customTool } from '../common/decode-custom-tool.ts'
import {
  anyText,
  arrayOf,
  booleanValue,
  literalOf,
  missing,
  nonEmptyText,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
  wrongType,
} from '../common/field-readers.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { toolSearchName } from './decode-client-calls.ts'
import { dialect } from './wire.ts'

// Decodes tools, tool choice, response format and reasoning.

export const decodeTool: Read<Tool> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', nonEmptyText)
  if (type === 'custom') return remember(customTool({ body, path }), { dialect, body })
  if (type === 'namespace') return { type: 'native', dialect, body, tools: decodeGroup(body, path) }
  if (type === 'tool_search' && body.execution === 'client') return { type: 'native', dialect, body, tools: [toolSearch(body, path)] }
  if (type !== 'function') return { type: 'native', dialect, body }
  if (isObject(body.function))
    return missing(`${path}.name`, 'In the Responses API, the fields of a function are next to `type`, not inside `function`.')
  const tool: FunctionTool = {
    type: 'function',
    name: required({ body, path }, 'name', nonEmptyText),
    ...optionalFields({ body, path }, { description: anyText, parameters: objectValue }),
    strict: body.strict === null ? null : optional({ body, path }, 'strict', booleanValue),
  }
  return remember(tool, { dialect, body })
}

/** A tool search that the client runs, as the function that other dialects get. */
function toolSearch(body: JsonObject, path: string): FunctionTool {
  const fields = optionalFields({ body, path }, { description: anyText, parameters: objectValue })
  return remember<FunctionTool>(
    { type: 'function', name: toolSearchName, strict: false, isToolSearch: true, ...fields },
    { dialect, body, path },
  )
}

/** The tools of a `namespace`. */
function decodeGroup(body: JsonObject, path: string): readonly Tool[] {
  const namespace = required({ body, path }, 'name', nonEmptyText)
  const tools = optional({ body, path }, 'tools', arrayOf(decodePlaced)) ?? []
  return tools.map(tool => (tool.type === 'function' ? remember({ ...tool, namespace }, originalOf(tool)) : tool))
}

/** Decodes a tool that remembers its path. */
const decodePlaced: Read<Tool> = (value, path) => {
  const tool = decodeTool(value, path)
  return remember<Tool>({ ...tool }, { dialect, body: objectValue(value, path), path })
}

/** The tools of an item that adds some. */
export const decodeToolsOf = (body: JsonObject, path: string): readonly Tool[] =>
  optional({ body, path }, 'tools', arrayOf(decodePlaced)) ?? []

export const decodeToolChoice: Read<ToolChoice> = (value, path) => {
  if (typeof value === 'string') return literalOf('auto', 'none', 'required')(value, path)
  if (!isObject(value)) return wrongType(path, 'a string or an object', value)
  const type = required({ body: value, path }, 'type', nonEmptyText)
  if (type !== 'function' && type !== 'custom') return { type: 'native', dialect, body: value }
  return remember<ToolChoice & object>(
    { type: 'function', name: required({ body: value, path }, 'name', nonEmptyText) },
    { dialect, body: value },
  )
}

const decodeFormat: Read<TextFormat> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('text', 'json_object', 'json_schema'))
  if (type !== 'json_schema') return { type }
  return {
    type,
    name: required({ body, path }, 'name', nonEmptyText),
    schema: required({ body, path }, 'schema', objectValue),
    ...optionalFields({ body, path }, { strict: booleanValue, description: anyText }),
  }
}

export const decodeTextOptions: Read<NonNullable<Prompt['text']>> = (value, path) => {
  const body = objectValue(value, path)
  return remember(optionalFields({ body, path }, { format: decodeFormat, verbosity: anyText }), { dialect, body })
}

const efforts = literalOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off')
const summaries = literalOf('auto', 'concise', 'detailed')

export const decodeReasoningOptions: Read<NonNullable<Prompt['reasoning']>> = (value, path) => {
  const body = objectValue(value, path)
  const effort = optional({ body, path }, 'effort', efforts)
  const old = optional({ body, path }, 'generate_summary', summaries)
  const summary = optional({ body, path }, 'summary', summaries) ?? old
  return remember({ effort: effort === 'off' ? 'none' : effort, summary }, { dialect, body })
}
