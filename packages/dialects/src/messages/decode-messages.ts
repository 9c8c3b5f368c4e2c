import { earlierItem } from '../common/earlier-answers.ts'
import {
  anyText,
  arrayOf,
  booleanValue,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  type Read,
  refuse,
  required,
  wrongType,
} from '../common/field-readers.ts'
import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cachePointOf, isPartType, readPart, withoutInventedCitations } from './decode-parts.ts'
import { dialect } from './wire.ts'

// Decodes messages into items. A message may contain blocks of all kinds: adjacent parts become one message item, in the same order.

export const readMessages: Read<readonly Item[]> = (value, path) => {
  const items = arrayOf(readMessage)(value, path).flat()
  return items.length > 0 ? items : refuse('invalid_parameter_value', `\`${path}\` must hold at least one message.`, path)
}

interface MessageSource {
  readonly role: 'user' | 'assistant' | 'system'
  /** The wire message, or the part of it that becomes the item. */
  readonly body: JsonObject
  readonly path: string
}

const readMessage: Read<readonly Item[]> = (value, path) => {
  const body = objectValue(value, path)
  const role = required({ body, path }, 'role', literalOf('user', 'assistant', 'system'))
  const content = required({ body, path }, 'content', readContent)
  if (typeof content === 'string') return [messageItem({ role, body, path }, [{ type: 'text', text: content }])]
  return splitMessage({ role, body, path }, content)
}

const readContent: Read<string | readonly JsonObject[]> = (value, path) => {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? arrayOf(objectValue)(value, path) : wrongType(path, 'a string or an array of content blocks', value)
}

/** Decodes `system`. A string becomes `instructions`; blocks become one item, so that each keeps its position in the prompt cache. */
export const readSystem: Read<string | Item | undefined> = (value, path) => {
  const content = readContent(value, path)
  if (typeof content === 'string') return content
  if (content.length === 0) return undefined
  return messageItem({ role: 'system', body: { role: 'system', content }, path }, arrayOf(readPart)(content, path))
}

const messageItem = ({ role, body, path }: MessageSource, content: readonly Part[]): MessageItem =>
  remember<MessageItem>({ type: 'message', role, content }, { dialect, body, path })

function splitMessage(source: MessageSource, content: readonly JsonObject[]): readonly Item[] {
  const blocks = content.map(withoutInventedCitations)
  const body = blocks.every((block, index) => block === content[index]) ? source.body : { ...source.body, content: blocks }
  if (blocks.length === 0) return [messageItem(source, [])]
  const items: Item[] = []
  let parts: Part[] = []
  const closeMessage = (end: number): void => {
    if (parts.length === 0) return
    const slice = parts.length === blocks.length ? body : { ...body, content: blocks.slice(end - parts.length, end) }
    items.push(messageItem({ ...source, body: slice }, parts))
    parts = []
  }
  for (const [at, block] of blocks.entries()) {
    const path = `${source.path}.content[${at}]`
    const item = readItem(block, path, source.role)
    if (item) {
      closeMessage(at)
      items.push(item)
    } else parts.push(readPart(block, path))
  }
  closeMessage(blocks.length)
  return items
}

/** The item of a block, or undefined if the block is part of a message. */
function readItem(body: JsonObject, path: string, role: MessageSource['role']): Item | undefined {
  const type = required({ body, path }, 'type', anyText)
  const reader = itemReaders.get(type)
  if (reader && reader.role !== role) {
    refuse('invalid_parameter_value', `A \`${type}\` block is only allowed in a message with the role "${reader.role}".`, path)
  }
  if (reader) return remember(reader.read(body, path), { dialect, body, path })
  // An unknown assistant block is an item, as in a response.
  return role === 'assistant' && !isPartType(type) ? remember<Item>(earlierItem(dialect, body), { dialect, body, path }) : undefined
}

const readCall = (body: JsonObject, path: string): FunctionCallItem => ({
  type: 'function_call',
  call_id: required({ body, path }, 'id', nonEmptyText),
  name: required({ body, path }, 'name', nonEmptyText),
  arguments: JSON.stringify(optional({ body, path }, 'input', objectValue) ?? {}),
  cache: cachePointOf(body, path),
})

const readToolResult = (body: JsonObject, path: string): FunctionCallOutputItem => ({
  type: 'function_call_output',
  call_id: required({ body, path }, 'tool_use_id', nonEmptyText),
  output: optional({ body, path }, 'content', readOutput) ?? '',
  is_error: optional({ body, path }, 'is_error', booleanValue) || undefined,
  cache: cachePointOf(body, path),
})

const readOutput: Read<string | readonly Part[]> = (value, path) => {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? arrayOf(readPart)(value, path) : wrongType(path, 'a string or an array of content blocks', value)
}

const readThinking = (body: JsonObject, path: string): ReasoningItem => {
  const thinking = optional({ body, path }, 'thinking', anyText)
  const signature = optional({ body, path }, 'signature', anyText)
  return { type: 'reasoning', summary: thinking ? [thinking] : [], encrypted_content: signature || undefined }
}

const readRedactedThinking = (body: JsonObject, path: string): ReasoningItem => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: required({ body, path }, 'data', nonEmptyText),
  redacted: true,
})

interface ItemReader {
  /** The only role whose messages may contain the block. */
  readonly role: MessageSource['role']
  readonly read: (body: JsonObject, path: string) => Item
}

const itemReaders: ReadonlyMap<string, ItemReader> = new Map<string, ItemReader>([
  ['tool_use', { role: 'assistant', read: readCall }],
  ['tool_result', { role: 'user', read: readToolResult }],
  ['thinking', { role: 'assistant', read: readThinking }],
  ['redacted_thinking', { role: 'assistant', read: readRedactedThinking }],
])
