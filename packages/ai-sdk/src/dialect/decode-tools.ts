import {
  anyText,
  arrayOf,
  booleanValue,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  type Read,
  required,
} from '@signalbox/dialects/common'
import { type FunctionTool, type JsonObject, type Prompt, remember, type ToolChoice } from '@signalbox/dialects/protocol'
import { cachePointOf, type LostOptions, noteLost, noteLostOptions } from './provider-options.ts'
import { dialect } from './wire.ts'

/** Decodes the tools of a call, and which of them may be called. Provider-run tools are unknown to the gateway, and recorded as lost. */
export function decodeTools(options: JsonObject, lost: LostOptions): Pick<Prompt, 'tools' | 'tool_choice'> {
  const place = { body: options, path: '' }
  const tools = optional(place, 'tools', arrayOf(decodeTool(lost)))?.filter(tool => tool !== undefined)
  const tool_choice = optional(place, 'toolChoice', decodeToolChoice)
  if (!tools || tools.length === 0) return {}
  if (tool_choice === undefined) return { tools }
  // Choosing a tool that was left out would be rejected.
  if (typeof tool_choice === 'string' || tools.some(({ name }) => 'name' in tool_choice && tool_choice.name === name))
    return { tools, tool_choice }
  noteLost(lost, 'toolChoice')
  return { tools }
}

const decodeTool =
  (lost: LostOptions): Read<FunctionTool | undefined> =>
  (value, path) => {
    const body = objectValue(value, path)
    const place = { body, path }
    if (required(place, 'type', literalOf('function', 'provider')) === 'provider') {
      noteLost(lost, `${path} (${required(place, 'id', nonEmptyText).slice(0, 100)})`)
      return undefined
    }
    noteLostOptions(body, `tools[*]`, lost)
    if (Array.isArray(body.inputExamples) && body.inputExamples.length > 0) noteLost(lost, `${path}.inputExamples`)
    const description = optional(place, 'description', anyText)
    const strict = optional(place, 'strict', booleanValue) ?? false
    const cache = cachePointOf(body)
    const tool: FunctionTool = {
      type: 'function',
      name: required(place, 'name', nonEmptyText),
      parameters: required(place, 'inputSchema', objectValue),
      ...(description !== undefined && { description }),
      strict,
      ...(cache && { cache }),
    }
    return remember(tool, { dialect, body, path })
  }

const decodeToolChoice: Read<ToolChoice> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('auto', 'none', 'required', 'tool'))
  return type === 'tool' ? { type: 'function', name: required({ body, path }, 'toolName', nonEmptyText) } : type
}
