import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { filled, flag, list, object, oneOf, optional, type Read, refuse, required, text, wrong } from '../field-readers.ts'
import { cacheOf, isPart, readPart, withoutMadeUp } from './request-parts.ts'
import { dialect } from './wire.ts'

// Messages → items. A message holds blocks of all kinds; here those that belong together are one item, in the same order.

export const readMessages: Read<readonly Item[]> = (value, path) => {
  const items = list(readMessage)(value, path).flat()
  return items.length > 0 ? items : refuse('invalid_parameter_value', `\`${path}\` must hold at least one message.`, path)
}

interface Speech {
  readonly role: 'user' | 'assistant' | 'system'
  /** The message, or as much of it as is said here. */
  readonly body: JsonObject
  readonly path: string
}

const readMessage: Read<readonly Item[]> = (value, path) => {
  const body = object(value, path)
  const role = required({ body, path }, 'role', oneOf('user', 'assistant', 'system'))
  const content = required({ body, path }, 'content', readContent)
  if (typeof content === 'string') return [messageOf({ role, body, path }, [{ type: 'text', text: content }])]
  return sort({ role, body, path }, content)
}

const readContent: Read<string | readonly JsonObject[]> = (value, path) => {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? list(object)(value, path) : wrong(path, 'a string or an array of content blocks', value)
}

/** A string is `instructions`; blocks are one item, so that each keeps its own place in the prompt cache. */
export const readSystem: Read<string | Item | undefined> = (value, path) => {
  const content = readContent(value, path)
  if (typeof content === 'string') return content
  if (content.length === 0) return undefined
  return messageOf({ role: 'system', body: { role: 'system', content }, path }, list(readPart)(content, path))
}

const messageOf = ({ role, body, path }: Speech, content: readonly Part[]): MessageItem =>
  remember<MessageItem>({ type: 'message', role, content }, { dialect, body, path })

function sort(speech: Speech, content: readonly JsonObject[]): readonly Item[] {
  const blocks = content.map(withoutMadeUp)
  const body = blocks.every((block, at) => block === content[at]) ? speech.body : { ...speech.body, content: blocks }
  if (blocks.length === 0) return [messageOf(speech, [])]
  const items: Item[] = []
  let parts: Part[] = []
  const close = (to: number): void => {
    if (parts.length === 0) return
    const own = parts.length === blocks.length ? body : { ...body, content: blocks.slice(to - parts.length, to) }
    items.push(messageOf({ ...speech, body: own }, parts))
    parts = []
  }
  for (const [at, block] of blocks.entries()) {
    const path = `${speech.path}.content[${at}]`
    const item = readItem(block, path, speech.role)
    if (item) {
      close(at)
      items.push(item)
    } else parts.push(readPart(block, path))
  }
  close(blocks.length)
  return items
}

/** Nothing where the block is a part of what is said. */
function readItem(body: JsonObject, path: string, role: Speech['role']): Item | undefined {
  const type = required({ body, path }, 'type', text)
  const known = readers.get(type)
  if (known && known.role !== role) {
    refuse('invalid_parameter_value', `A \`${type}\` block can stand in a message of the role "${known.role}" only.`, path)
  }
  if (known) return remember(known.read(body, path), { dialect, body, path })
  // What the assistant did in a way of its own is an item, as it is in an answer.
  return role === 'assistant' && !isPart(type) ? remember<Item>({ type: 'native', dialect, body }, { dialect, body, path }) : undefined
}

const readCall = (body: JsonObject, path: string): FunctionCallItem => ({
  type: 'function_call',
  call_id: required({ body, path }, 'id', filled),
  name: required({ body, path }, 'name', filled),
  arguments: JSON.stringify(optional({ body, path }, 'input', object) ?? {}),
  ...cacheOf(body, path),
})

const readResult = (body: JsonObject, path: string): FunctionCallOutputItem => ({
  type: 'function_call_output',
  call_id: required({ body, path }, 'tool_use_id', filled),
  output: optional({ body, path }, 'content', readOutput) ?? '',
  ...(optional({ body, path }, 'is_error', flag) && { is_error: true }),
  ...cacheOf(body, path),
})

const readOutput: Read<string | readonly Part[]> = (value, path) => {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? list(readPart)(value, path) : wrong(path, 'a string or an array of content blocks', value)
}

const readThinking = (body: JsonObject, path: string): ReasoningItem => {
  const thought = optional({ body, path }, 'thinking', text)
  const signature = optional({ body, path }, 'signature', text)
  return { type: 'reasoning', summary: thought ? [thought] : [], ...(signature && { encrypted_content: signature }) }
}

const readRedacted = (body: JsonObject, path: string): ReasoningItem => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: required({ body, path }, 'data', filled),
  redacted: true,
})

interface Reader {
  readonly role: Speech['role']
  readonly read: (body: JsonObject, path: string) => Item
}

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['tool_use', { role: 'assistant', read: readCall }],
  ['tool_result', { role: 'user', read: readResult }],
  ['thinking', { role: 'assistant', read: readThinking }],
  ['redacted_thinking', { role: 'assistant', read: readRedacted }],
])
