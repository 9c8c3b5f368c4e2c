import { hasWords } from '../common/dropped-reasoning.ts'
import { objects, stringOf } from '../common/json.ts'
import { closingText, closingWarning, openingText, openingWarning } from '../common/opening-turn.ts'
import { readFrame } from '../common/parse-frame.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, ReasoningItem } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { cacheControl, type EncodeContext, loseContent, warn } from './encode-context.ts'
import { encodeParts } from './encode-parts.ts'
import { decodeReasoningState } from './reasoning-state.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes items as messages. Roles alternate: a message holds all adjacent items of its role. Content that came in this dialect is passed
// through unchanged.

export interface Conversation {
  /** Absent if there is no system prompt. */
  readonly system?: Json
  readonly messages: readonly JsonObject[]
}

/** `instruction`: text that the gateway adds to the system prompt. */
export function encodeConversation({ instructions, input }: Prompt, instruction: string | undefined, context: EncodeContext): Conversation {
  const firstTurn = input.findIndex(item => !isSystemItem(item))
  const systemEnd = firstTurn === -1 ? input.length : firstTurn
  const system = [
    ...textBlock(instructions),
    ...input.slice(0, systemEnd).flatMap((item, at) => (isSystemItem(item) ? messageBlocks(item, itemPath(item, at), context) : [])),
    ...textBlock(instruction),
  ]
  const turns: Turn[] = []
  for (const { item, at } of orderToolResults(input.slice(systemEnd)))
    addToTurns(turns, encodeItem(item, itemPath(item, systemEnd + at), context))
  const messages = turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  // Without any message, the system prompt is sent as the user's message, because a request needs one.
  if (messages.length === 0 && system.length > 0) return { messages: [{ role: 'user', content: system }] }
  // System blocks from a client of this dialect stay blocks, as in a body that is passed through, because prompt caches match prefixes.
  const isOwn = input.slice(0, systemEnd).some(item => originalBody(item) !== undefined)
  return {
    ...(system.length > 0 && { system: isOwn ? system : shortestSystem(system) }),
    messages: closedByUser(openedByUser(trimPrefill(messages), input, context), input, context),
  }
}

const itemPath = (item: Item, at: number): string => pathOf(item, `input[${at}]`)

const isSystemItem = (item: Item): item is MessageItem => item.type === 'message' && isInstruction(item)
const isInstruction = ({ role }: MessageItem): boolean => role === 'system' || role === 'developer'

const textBlock = (text: string | undefined): readonly JsonObject[] =>
  text === undefined || text.trim() === '' ? [] : [{ type: 'text', text }]

/** A single text becomes a string, which every server of this dialect accepts. */
function shortestSystem(blocks: readonly JsonObject[]): Json {
  const [first] = blocks
  const isPlain = blocks.length === 1 && first && Object.keys(first).every(field => field === 'type' || field === 'text')
  return isPlain ? stringOf(first.text) : blocks
}

/** The blocks that one item adds to the conversation. */
interface EncodedItem {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly JsonObject[]
  readonly isResult?: boolean
}

interface Turn {
  readonly role: EncodedItem['role']
  /** Tool results, which come first: nothing may separate a call from its result. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

function addToTurns(turns: Turn[], { role, blocks, isResult }: EncodedItem): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  const turn = last?.role === role && role !== 'system' ? last : { role, results: [], blocks: [] }
  if (turn !== last) turns.push(turn)
  const target = isResult ? turn.results : turn.blocks
  for (const block of blocks) target.push(block)
}

function encodeItem(item: Item, path: string, context: EncodeContext): EncodedItem {
  if (item.type === 'message') return encodeMessage(item, path, context)
  if (item.type === 'function_call') return { role: 'assistant', blocks: [encodeCall(item, path, context)] }
  if (item.type === 'function_call_output') return { role: 'user', blocks: [encodeResult(item, path, context)], isResult: true }
  if (item.type === 'reasoning') {
    const blocks = thinkingBlocks(item)
    if (blocks.length === 0 && hasWords(item)) context.droppedReasoning.push(path)
    return { role: 'assistant', blocks }
  }
  if (item.dialect === dialect) return { role: 'assistant', blocks: [item.body] }
  loseContent(context, path)
  return { role: 'assistant', blocks: [] }
}

/** Encodes a message. A later system message keeps its position: unchanged if it came in this dialect, otherwise as tagged user text. */
function encodeMessage(item: MessageItem, path: string, context: EncodeContext): EncodedItem {
  const blocks = messageBlocks(item, path, context)
  if (!isInstruction(item)) return { role: item.role === 'assistant' ? 'assistant' : 'user', blocks }
  return originalBody(item) ? { role: 'system', blocks } : { role: 'user', blocks: blocks.map(tagSystemText) }
}

const tagSystemText = (block: JsonObject): JsonObject => ({ ...block, text: `<system>${stringOf(block.text)}</system>` })

function messageBlocks(item: MessageItem, path: string, context: EncodeContext): readonly JsonObject[] {
  const original = originalBody(item)
  if (!original) return encodeParts({ parts: item.content, path: `${path}.content`, allowsMedia: item.role === 'user' }, context)
  if (typeof original.content === 'string') return textBlock(original.content)
  return objects(original.content)
}

function encodeCall(item: FunctionCallItem, path: string, context: EncodeContext): JsonObject {
  const id = context.callIds.sent(item.call_id)
  const original = originalBody(item)
  if (original) return { ...original, id }
  const input = parseInput(item.arguments)
  if (!input)
    warn(context, `${path}.arguments`, `\`${path}.arguments\` is not a JSON object; the text was sent as the field \`_raw\` of an object.`)
  return {
    type: 'tool_use',
    id,
    name: context.toolNames.sent(item.name),
    input: input ?? { _raw: item.arguments },
    ...cacheControl(item.cache),
  }
}

function parseInput(written: string): JsonObject | undefined {
  if (written.trim() === '') return {}
  const input = readFrame({ data: written })
  return isObject(input) ? input : undefined
}

function encodeResult(item: FunctionCallOutputItem, path: string, context: EncodeContext): JsonObject {
  const tool_use_id = context.callIds.sent(item.call_id)
  const original = originalBody(item)
  if (original) return { ...original, tool_use_id }
  const { output, is_error, cache } = item
  const content = typeof output === 'string' ? output : encodeParts({ parts: output, path: `${path}.output`, allowsMedia: true }, context)
  return {
    type: 'tool_result',
    tool_use_id,
    content,
    ...(is_error && { is_error }),
    ...cacheControl(cache),
  }
}

/** Encodes thinking. None without a signature, because text of another model's thinking is rejected. */
function thinkingBlocks(item: ReasoningItem): readonly JsonObject[] {
  if (!item.encrypted_content) return []
  const block = originalBody(item) ?? decodeReasoningState(item.encrypted_content)
  return block ? [block] : []
}

/** Ensures that the conversation starts with the user. A conversation that came in this dialect is unchanged. */
function openedByUser(messages: readonly JsonObject[], input: readonly Item[], context: EncodeContext): readonly JsonObject[] {
  if (messages[0]?.role !== 'assistant' || input.some(item => originalBody(item))) return messages
  context.warnings.push(openingWarning)
  return [{ role: 'user', content: [{ type: 'text', text: openingText }] }, ...messages]
}

/**
 * Ensures that the conversation ends with the user, for models that do not continue an assistant message. A call of a hosted tool at the
 * end is a paused response, which every model continues.
 */
function closedByUser(messages: readonly JsonObject[], input: readonly Item[], context: EncodeContext): readonly JsonObject[] {
  const isPaused = input.at(-1)?.type === 'native'
  if (!context.quirks.noPrefill || messages.at(-1)?.role !== 'assistant' || isPaused) return messages
  context.warnings.push(closingWarning)
  return [...messages, { role: 'user', content: [{ type: 'text', text: closingText }] }]
}

/** Trims the end of a final assistant message: the model continues it, and it must not end in whitespace. */
function trimPrefill(messages: readonly JsonObject[]): readonly JsonObject[] {
  const last = messages.at(-1)
  const block = objects(last?.content).at(-1)
  const text = stringOf(block?.text)
  if (last?.role !== 'assistant' || block?.type !== 'text' || text === text.trimEnd()) return messages
  const content = objects(last.content).slice(0, -1)
  return [...messages.slice(0, -1), { ...last, content: [...content, { ...block, text: text.trimEnd() }] }]
}

/** Whether the conversation ends with tool results whose turn does not begin with restorable thinking. */
export function lacksThinkingBeforeCalls(input: readonly Item[]): boolean {
  const end = input.findLastIndex(item => !endsTurn(item))
  if (!input.slice(end + 1).some(({ type }) => type === 'function_call_output')) return false
  const first = input[input.slice(0, end).findLastIndex(endsTurn) + 1]
  return first?.type !== 'reasoning' || thinkingBlocks(first).length === 0
}

const endsTurn = (item: Item): boolean => item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant')
