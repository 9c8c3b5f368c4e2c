import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { readAllowedTools } from './allowed-tools.ts'
import { type FittedNames, fittedNames } from './fitted-names.ts'
import { hashedCallId } from './ids.ts'

// Fits tool names for providers that only allow letters, digits, `_` and `-`, up to a length. An unsuitable name gets a hash of itself, so
// that a name is the same in every request.

const plainPattern = /^[a-zA-Z0-9_-]+$/
/** The length of `_` and a hash. */
export const hashSuffixLength = 22

/** The name itself if it is suitable, otherwise its readable part with a hash, which differs by attempt. */
export const plainName = (name: string, attempt: number, maxLength: number): string =>
  plainPattern.test(name) && name.length <= maxLength ? name : hashed(name, attempt, maxLength - hashSuffixLength)

/** Up to `maxLength` readable characters plus a hash, which differs by attempt. */
export const hashed = (text: string, attempt: number, maxLength: number): string =>
  `${text.slice(0, maxLength).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${hashedCallId(text, attempt).slice('call_'.length)}`

/** All names of tools that a prompt sends: of its tools, its calls and its choice. */
export function toolNamesIn({ tools = [], input, tool_choice }: Prompt): readonly string[] {
  const names: string[] = []
  for (const tool of tools) {
    if (tool.type === 'function') names.push(tool.name)
    else if (typeof tool.body.name === 'string') names.push(tool.body.name)
  }
  for (const item of input) if (item.type === 'function_call') names.push(item.name)
  if (typeof tool_choice === 'object')
    names.push(...(tool_choice.type === 'function' ? [tool_choice.name] : (readAllowedTools(tool_choice)?.names ?? [])))
  return names
}

/** The names of a prompt's tools for providers that allow this many characters. */
export const fittedToolNames = (prompt: Prompt, maxLength: number): FittedNames =>
  fittedNames(toolNamesIn(prompt), (name, attempt) => plainName(name, attempt, maxLength))

/** How a dialect renames a tool and a call that came in that dialect. */
export interface ToolRenames {
  readonly dialect: string
  readonly maxLength: number
  readonly tool: (body: JsonObject, name: string) => JsonObject
  readonly call: (body: JsonObject, name: string) => JsonObject
}

export interface Renamed {
  /** The same prompt object if no name had to change. */
  readonly prompt: Prompt
  /** Name as sent → client's name, for those that differ. */
  readonly toolNames?: ReadonlyMap<string, string>
}

/** The prompt with tool names that the provider accepts, everywhere in it. */
export function withPlainNames(prompt: Prompt, renaming: ToolRenames): Renamed {
  const { tools, input, tool_choice } = prompt
  const { sent: nameOf, changed } = fittedToolNames(prompt, renaming.maxLength)
  if (changed.size === 0) return { prompt }
  return {
    prompt: {
      ...prompt,
      input: input.map((item): Item => (item.type === 'function_call' ? renamed(item, nameOf(item.name), renaming) : item)),
      tools: tools?.map((tool): Tool => (tool.type === 'function' ? renamed(tool, nameOf(tool.name), renaming) : tool)),
      tool_choice: tool_choice && chosen(tool_choice, nameOf),
    },
    toolNames: changed,
  }
}

function renamed<T extends FunctionTool | FunctionCallItem>(known: T, name: string, { dialect, tool, call }: ToolRenames): T {
  if (name === known.name) return known
  const original = originalOf(known)
  const write = known.type === 'function' ? tool : call
  return remember({ ...known, name }, original?.dialect === dialect ? { ...original, body: write(original.body, name) } : original)
}

function chosen(choice: ToolChoice, nameOf: (name: string) => string): ToolChoice {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return { ...choice, name: nameOf(choice.name) }
  const { tools } = choice.body
  if (choice.body.type !== 'allowed_tools' || !Array.isArray(tools)) return choice
  const allowed = (tools as readonly Json[]).map(tool =>
    isObject(tool) && typeof tool.name === 'string' ? { ...tool, name: nameOf(tool.name) } : tool,
  )
  return { ...choice, body: { ...choice.body, tools: allowed } }
}
