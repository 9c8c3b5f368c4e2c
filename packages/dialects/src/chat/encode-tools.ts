import { type AllowedTools, readAllowedTools } from '../common/allowed-tools.ts'
import type { BodyDraft } from '../common/body-draft.ts'
import { isCustomTool } from '../common/custom-tools.ts'
import { stringOf } from '../common/json.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { dialect, originalBody } from './wire.ts'

/** Sets `tools`, `tool_choice` and `parallel_tool_calls`. Some hosts reject the last two without tools. */
export function encodeTools({ tools = [], tool_choice: choice, parallel_tool_calls }: Prompt, draft: BodyDraft): void {
  const choices = allowedTools(choice)
  const allowed = choices && !draft.quirks.allowedTools && new Set(choices.names)
  const encoded = tools.flatMap((tool, index): readonly JsonObject[] => {
    const param = pathOf(tool, `tools[${index}]`)
    if (tool.type === 'native' && tool.dialect !== dialect) {
      draft.omit(param, `(${stringOf(tool.body.type)}) is not supported by this provider and was left out.`)
      return []
    }
    if (allowed && !allowed.has(toolName(tool))) return []
    return [tool.type === 'native' ? tool.body : encodeTool(tool, param, draft)]
  })
  if (encoded.length > 0) {
    draft.set('tools', encoded)
    if (choice !== undefined) draft.set('tool_choice', encodeChoice(choice, tools, draft))
    draft.set('parallel_tool_calls', parallel_tool_calls)
  } else if (choice !== undefined && choice !== 'auto' && choice !== 'none')
    draft.warn('tool_choice', '`tool_choice` was left out: no tool is left to choose.')
}

/** The name of a tool. Unknown tools have it one level down. */
function toolName(tool: Tool): string {
  if (tool.type === 'function') return tool.name
  const inner = own(tool.body, stringOf(tool.body.type))
  return isObject(inner) ? stringOf(inner.name) : ''
}

function encodeTool(tool: FunctionTool, param: string, draft: BodyDraft): JsonObject {
  const { name, description, parameters = { type: 'object', properties: {} } } = tool
  const isStrict = draft.isStrict(tool, param)
  const original = originalBody(tool)
  if (!original) return { type: 'function', function: { name, description, parameters, strict: isStrict || undefined } }
  if (!tool.strict || isStrict || !isObject(original.function)) return original
  const { strict, ...rest } = original.function
  return { ...original, function: rest }
}

/** An `allowed_tools` choice is applied by leaving out the other tools where the host does not know it. */
const allowedTools = (choice: ToolChoice | undefined): AllowedTools | undefined =>
  typeof choice === 'object' && choice.type === 'native' && choice.dialect === dialect ? undefined : readAllowedTools(choice)

function encodeChoice(choice: ToolChoice, tools: readonly Tool[], draft: BodyDraft): Json | undefined {
  const { requiredToolChoice: required = 'required', allowedTools: takesLists, noForcedTools } = draft.quirks
  // Custom tools have their own type of tool choice.
  const reference = (name: string): JsonObject =>
    isCustomTool(tools, name) ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
  const allowed = allowedTools(choice)
  let sent: Json | undefined
  if (typeof choice === 'string') sent = choice === 'required' ? required : choice
  else if (choice.type === 'function') sent = reference(choice.name)
  else if (choice.dialect === dialect) sent = choice.body
  else if (allowed && takesLists) {
    const among = { mode: allowed.isForced ? 'required' : 'auto', tools: allowed.names.map(reference) }
    sent = originalBody(choice) ?? { type: 'allowed_tools', allowed_tools: among }
  } else if (allowed) sent = allowed.isForced ? required : 'auto'
  else draft.omit('tool_choice', `(${stringOf(choice.body.type)}) is not supported by this provider and was left out.`)
  if (!noForcedTools || sent === undefined || sent === 'auto' || sent === 'none') return sent
  draft.warn('tool_choice', 'This provider does not support a required tool call; `tool_choice` was sent as `auto`.')
  return 'auto'
}
