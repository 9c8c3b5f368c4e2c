import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { FunctionTool, Prompt, Tool, ToolChoice } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { deriveCallId } from './ids.ts'

// Fits tool names for providers that only allow letters, digits, `_` and `-`, up to a length. An unsuitable name gets a hash of itself, so
// that different names stay different and the same name is always encoded in the same way.

const plainPattern = /^[a-zA-Z0-9_-]+$/
const hashLength = 21
/** What a hash looks like. A name of this form is hashed too: else a client could choose a name that another one is sent as. */
const hashPattern = /_[0-9a-z]{21}$/

export const plainName = (name: string, maxLength: number): string =>
  plainPattern.test(name) && !hashPattern.test(name) && name.length <= maxLength ? name : hashed(name, maxLength - hashLength - 1)

/** Up to `maxLength` readable characters plus a hash. `taken`: names that the result must differ from. */
export function hashed(text: string, maxLength: number, taken: ReadonlySet<string> = new Set()): string {
  const readable = text.slice(0, maxLength).replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  const nameOf = (...seed: readonly (string | number)[]): string => `${readable}_${deriveCallId(...seed).slice('call_'.length)}`
  let name = nameOf(text)
  for (let attempt = 1; taken.has(name); attempt += 1) name = nameOf(attempt, text)
  return name
}

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
  const { tools = [], input, tool_choice } = prompt
  const named = [...tools, ...input].flatMap(each => (each.type === 'function' || each.type === 'function_call' ? [each.name] : []))
  const sent = new Map(
    named.flatMap(name => {
      const plain = plainName(name, renaming.maxLength)
      return plain === name ? [] : [[name, plain] as const]
    }),
  )
  if (sent.size === 0) return { prompt }
  const nameOf = (name: string): string => sent.get(name) ?? name
  return {
    prompt: {
      ...prompt,
      input: input.map((item): Item => (item.type === 'function_call' ? renamed(item, nameOf(item.name), renaming) : item)),
      ...(prompt.tools && {
        tools: tools.map((tool): Tool => (tool.type === 'function' ? renamed(tool, nameOf(tool.name), renaming) : tool)),
      }),
      ...(tool_choice !== undefined && { tool_choice: chosen(tool_choice, nameOf) }),
    },
    toolNames: new Map([...sent].map(([name, plain]) => [plain, name])),
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
