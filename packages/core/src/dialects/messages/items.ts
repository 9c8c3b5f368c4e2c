import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, ReasoningItem } from '../../protocol/item.ts'
import { pathOf } from '../../protocol/original.ts'
import type { Prompt } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { readFrame } from '../frame.ts'
import { objects, stringOf } from '../json.ts'
import { orderToolResults } from '../tool-result-order.ts'
import { safeId } from './tool-names.ts'
import { writeParts } from './parts.ts'
import { readState } from './reasoning-state.ts'
import { dialect, originalBody } from './wire.ts'
import { lose, mark, marked, nameOf, type Writing, warn } from './encode-context.ts'

// Items → messages. There two roles take turns, and one message holds all that its role does in a row. What the caller wrote
// in this very language is written as it was.

export interface Conversation {
  /** Absent where nothing is to be said to the model beforehand. */
  readonly system?: Json
  readonly messages: readonly JsonObject[]
}

/** `instruction`: what else the model must be told in words. */
export function writeConversation({ instructions, input }: Prompt, instruction: string | undefined, writing: Writing): Conversation {
  const start = input.findIndex(item => !isSystem(item))
  const front = start === -1 ? input.length : start
  const system = [
    ...textBlock(instructions),
    ...input.slice(0, front).flatMap((item, at) => (isSystem(item) ? writeSpeech(item, pathAt(item, at), writing) : [])),
    ...textBlock(instruction),
  ]
  const turns: Turn[] = []
  for (const { item, at } of orderToolResults(input.slice(front))) take(turns, writeItem(item, pathAt(item, front + at), writing))
  const messages = turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  // Where nobody but the system speaks, the user says it: there must be something to answer.
  if (messages.length === 0 && system.length > 0) return { messages: [{ role: 'user', content: system }] }
  return { ...(system.length > 0 && { system: shortest(system) }), messages: withoutTrail(messages) }
}

const pathAt = (item: Item, at: number): string => pathOf(item, `input[${at}]`)

const isSystem = (item: Item): item is MessageItem => item.type === 'message' && isInstruction(item)
const isInstruction = ({ role }: MessageItem): boolean => role === 'system' || role === 'developer'

const textBlock = (text: string | undefined): readonly JsonObject[] =>
  text === undefined || text.trim() === '' ? [] : [{ type: 'text', text }]

/** A single text is a string, which every server of this language takes. */
function shortest(blocks: readonly JsonObject[]): Json {
  const [first] = blocks
  const isBare = blocks.length === 1 && first && Object.keys(first).every(field => field === 'type' || field === 'text')
  return isBare ? stringOf(first.text) : blocks
}

/** What one item adds to the conversation. */
interface Said {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly JsonObject[]
  readonly isResult?: boolean
}

interface Turn {
  readonly role: Said['role']
  /** They come first: nothing may stand between a call and its result. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

function take(turns: Turn[], { role, blocks, isResult }: Said): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  const turn = last?.role === role && role !== 'system' ? last : { role, results: [], blocks: [] }
  if (turn !== last) turns.push(turn)
  const list = isResult ? turn.results : turn.blocks
  for (const block of blocks) list.push(block)
}

function writeItem(item: Item, path: string, writing: Writing): Said {
  if (item.type === 'message') return writeMessage(item, path, writing)
  if (item.type === 'function_call') return { role: 'assistant', blocks: [writeCall(item, path, writing)] }
  if (item.type === 'function_call_output') return { role: 'user', blocks: [writeResult(item, path, writing)], isResult: true }
  if (item.type === 'reasoning') return { role: 'assistant', blocks: writeThought(item) }
  if (item.dialect === dialect) return { role: 'assistant', blocks: [marked(item.body, path, writing)] }
  lose(writing, path)
  return { role: 'assistant', blocks: [] }
}

/** A caller of this language may interpose a system message; anyone else's is marked text of the user, and stays in its place. */
function writeMessage(item: MessageItem, path: string, writing: Writing): Said {
  const blocks = writeSpeech(item, path, writing)
  if (!isInstruction(item)) return { role: item.role === 'assistant' ? 'assistant' : 'user', blocks }
  return originalBody(item) ? { role: 'system', blocks } : { role: 'user', blocks: blocks.map(tagged) }
}

const tagged = (block: JsonObject): JsonObject => ({ ...block, text: `<system>${stringOf(block.text)}</system>` })

function writeSpeech(item: MessageItem, path: string, writing: Writing): readonly JsonObject[] {
  const known = originalBody(item)
  if (!known) return writeParts({ parts: item.content, path: `${path}.content`, media: item.role === 'user' }, writing)
  if (typeof known.content === 'string') return textBlock(known.content)
  return objects(known.content).map((block, at) => marked(block, pathOf(item.content[at] ?? item, path), writing))
}

function writeCall(item: FunctionCallItem, path: string, writing: Writing): JsonObject {
  const id = safeId(item.call_id)
  const known = originalBody(item)
  if (known) return { ...marked(known, path, writing), id }
  const input = inputOf(item.arguments)
  if (!input) warn(writing, `${path}.arguments`, `\`${path}.arguments\` is not a JSON object; it was sent as the text \`_raw\` of one.`)
  return {
    type: 'tool_use',
    id,
    name: nameOf(item.name, writing),
    input: input ?? { _raw: item.arguments },
    ...mark(item.cache, path, writing),
  }
}

function inputOf(written: string): JsonObject | undefined {
  if (written.trim() === '') return {}
  const input = readFrame({ data: written })
  return isObject(input) ? input : undefined
}

function writeResult(item: FunctionCallOutputItem, path: string, writing: Writing): JsonObject {
  const tool_use_id = safeId(item.call_id)
  const known = originalBody(item)
  if (known) return { ...marked(known, path, writing), tool_use_id }
  const { output, is_error, cache } = item
  const content = typeof output === 'string' ? output : writeParts({ parts: output, path: `${path}.output`, media: true }, writing)
  return {
    type: 'tool_result',
    tool_use_id,
    content,
    ...(is_error && { is_error }),
    ...mark(cache, path, writing),
  }
}

/** A thought without its signature is another model's text, and refused. */
function writeThought(item: ReasoningItem): readonly JsonObject[] {
  if (!item.encrypted_content) return []
  const block = originalBody(item) ?? readState(item.encrypted_content)
  return block ? [block] : []
}

/** What stands last is gone on with where the assistant said it, and may not end in white space. */
function withoutTrail(messages: readonly JsonObject[]): readonly JsonObject[] {
  const last = messages.at(-1)
  const block = objects(last?.content).at(-1)
  const text = stringOf(block?.text)
  if (last?.role !== 'assistant' || block?.type !== 'text' || text === text.trimEnd()) return messages
  const content = objects(last.content).slice(0, -1)
  return [...messages.slice(0, -1), { ...last, content: [...content, { ...block, text: text.trimEnd() }] }]
}

/** A tool has answered the assistant's last turn, and no thought that could be restored stands first in it. */
export function isUnthoughtLoop(input: readonly Item[]): boolean {
  const end = input.findLastIndex(item => !isTurnOver(item))
  if (!input.slice(end + 1).some(({ type }) => type === 'function_call_output')) return false
  const first = input[input.slice(0, end).findLastIndex(isTurnOver) + 1]
  return first?.type !== 'reasoning' || writeThought(first).length === 0
}

const isTurnOver = (item: Item): boolean => item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant')
