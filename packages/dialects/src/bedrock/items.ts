import { contentLost, unsupported } from '../common/apply-quirks.ts'
import { droppedReasoning, hasWords } from '../common/dropped-reasoning.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { callIdsIn } from '../common/ids.ts'
import { objectIn, stringOf } from '../common/json.ts'
import { movedMediaNote, movedMediaText } from '../common/moved-media.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { Warning } from '../protocol/response.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cachePointAfter } from './cache-points.ts'
import { createDocumentNames, type DocumentNames, encodePart, isBlank } from './encode-parts.ts'
import { decodeReasoningState } from './reasoning-state.ts'
import { safeCallId } from './tool-names.ts'

// Encodes items as messages. Roles alternate: a message holds all adjacent items of its role, tool results first.

export interface Conversation {
  /** System messages before the first turn. */
  readonly system: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
  /** Names of called tools, as the client knows them. */
  readonly calledTools: ReadonlySet<string>
  /** Whether it contains calls or results, so that tools must be declared. */
  readonly hasTools: boolean
  /** Whether the latest tool results belong to calls that lack the reasoning before them. */
  readonly lacksThinkingBeforeCalls: boolean
  readonly warnings: readonly Warning[]
}

interface EncoderState {
  readonly quirks: Quirks
  readonly toolNames: FittedNames
  readonly callIds: FittedNames
  readonly documents: DocumentNames
  readonly system: JsonObject[]
  readonly turns: Turn[]
  readonly calledTools: Set<string>
  readonly warnings: Warning[]
  hasTools: boolean
  /** Paths of reasoning that was left out. */
  readonly droppedReasoning: string[]
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly results: JsonObject[]
  /** Images and files of results that cannot hold them. */
  readonly media: JsonObject[]
  readonly blocks: JsonObject[]
}

interface EncodedBlock {
  readonly block: JsonObject
  readonly cache?: CachePoint | undefined
}

export function encodeConversation(input: readonly Item[], quirks: Quirks, toolNames: FittedNames): Conversation {
  const items = withUniqueCallIds(input)
  const state: EncoderState = {
    quirks,
    toolNames,
    callIds: fittedNames(callIdsIn(items), safeCallId),
    documents: createDocumentNames(quirks.anthropicFields === true),
    system: [],
    turns: [],
    calledTools: new Set(),
    warnings: [],
    hasTools: false,
    droppedReasoning: [],
  }
  for (const { item, at } of orderToolResults(items)) encodeItem(state, item, pathOf(item, `input[${at}]`))
  const { system, turns, calledTools, hasTools } = state
  const warnings = [...state.warnings, ...droppedReasoning(state.droppedReasoning)]
  const lacksThinkingBeforeCalls = endsWithoutThinking(turns)
  return { system, messages: turns.map(encodeTurn), calledTools, hasTools, lacksThinkingBeforeCalls, warnings }
}

function encodeItem(state: EncoderState, item: Item, param: string): void {
  if (item.type === 'message') encodeMessage(state, item, param)
  else if (item.type === 'function_call') encodeCall(state, item, param)
  else if (item.type === 'function_call_output') encodeResult(state, item, param)
  else if (item.type === 'reasoning') writeReasoning(state, item, param)
  else loseContent(state, param)
}

function turnOf({ turns }: EncoderState, role: Turn['role']): Turn {
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, results: [], media: [], blocks: [] }
  turns.push(turn)
  return turn
}

function addBlocks(target: JsonObject[], encoded: readonly EncodedBlock[]): void {
  for (const { block, cache } of encoded) target.push(block, ...cachePointAfter(cache))
}

function loseContent({ warnings }: EncoderState, param: string): void {
  warnings.push(contentLost(param, `\`${param}\` is not supported by this provider.`))
}

function loseState({ warnings }: EncoderState, param: string): void {
  warnings.push(unsupported(param, `\`${param}\` is not supported by this provider and was left out.`))
}

interface PartList {
  readonly parts: readonly Part[]
  readonly param: string
  /** Whether only text is allowed. */
  readonly isText: boolean
}

const encodePartList = (state: EncoderState, { parts, param, isText }: PartList): readonly EncodedBlock[] =>
  parts.flatMap((part, at): readonly EncodedBlock[] => {
    const isRefused = isText && part.type !== 'text' && part.type !== 'refusal'
    const block = isRefused ? undefined : encodePart(part, state.documents)
    if (!block) loseContent(state, pathOf(part, `${param}[${at}]`))
    return block && !isBlank(block) ? [{ block, cache: 'cache' in part ? part.cache : undefined }] : []
  })

function encodeMessage(state: EncoderState, { role, content }: MessageItem, param: string): void {
  const encoded = encodePartList(state, { parts: content, param: `${param}.content`, isText: role !== 'user' })
  if (encoded.length === 0) return
  if (role === 'user' || role === 'assistant') addBlocks(turnOf(state, role).blocks, encoded)
  else if (state.turns.length === 0) addBlocks(state.system, encoded)
  // A later system message keeps its position: moving it to the front would change its meaning and invalidate the prompt cache.
  else addBlocks(turnOf(state, 'user').blocks, encoded.map(tagSystemText))
}

const tagSystemText = ({ block, cache }: EncodedBlock): EncodedBlock => ({
  block: { text: `<system>\n${stringOf(block.text)}\n</system>` },
  cache,
})

function encodeCall(state: EncoderState, { call_id, name, arguments: written, cache }: FunctionCallItem, param: string): void {
  const input = written.trim() === '' ? {} : objectIn(written)
  if (!input) {
    const message = `\`${param}.arguments\` is not a JSON object; the text was sent as the field \`_raw\` of an object.`
    state.warnings.push(unsupported(`${param}.arguments`, message))
  }
  state.calledTools.add(name)
  state.hasTools = true
  const block = { toolUse: { toolUseId: state.callIds.sent(call_id), name: state.toolNames.sent(name), input: input ?? { _raw: written } } }
  addBlocks(turnOf(state, 'assistant').blocks, [{ block, cache }])
}

function encodeResult(state: EncoderState, { call_id, output, is_error, cache }: FunctionCallOutputItem, param: string): void {
  const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
  const encoded = encodePartList(state, { parts, param: `${param}.output`, isText: false })
  const isMoved = ({ block }: EncodedBlock): boolean => state.quirks.textOnlyResults === true && block.text === undefined
  const moved = encoded.filter(isMoved).map(({ block }) => block)
  const content = encoded.filter(each => !isMoved(each)).map(({ block }) => block)
  const { results, media } = turnOf(state, 'user')
  state.hasTools = true
  const toolUseId = state.callIds.sent(call_id)
  const toolResult = {
    toolUseId,
    content: content.length > 0 ? content : [{ text: moved.length > 0 ? movedMediaText : '(empty)' }],
    ...(is_error && { status: 'error' }),
  }
  // A result has no room for a cache point of its parts, which comes after it.
  addBlocks(results, [{ block: { toolResult }, cache: cache ?? encoded.findLast(each => each.cache)?.cache }])
  if (moved.length > 0) media.push({ text: movedMediaNote(toolUseId) }, ...moved)
}

/** Encodes reasoning. Only reasoning with state is sent, because a model accepts only its own. */
function writeReasoning(state: EncoderState, item: ReasoningItem, param: string): void {
  const { encrypted_content } = item
  if (encrypted_content === undefined) {
    if (hasWords(item)) state.droppedReasoning.push(param)
    return
  }
  const block = decodeReasoningState(encrypted_content)
  if (block) addBlocks(turnOf(state, 'assistant').blocks, [{ block: { reasoningContent: block } }])
  else loseState(state, `${param}.encrypted_content`)
}

function endsWithoutThinking(turns: readonly Turn[]): boolean {
  const [before, last] = turns.slice(-2)
  return last !== undefined && last.results.length > 0 && before?.blocks[0]?.reasoningContent === undefined
}

function encodeTurn({ role, results, media, blocks }: Turn, at: number, turns: readonly Turn[]): JsonObject {
  const content = [...results, ...withTextBesideDocuments([...media, ...blocks])]
  return { role, content: role === 'assistant' && at === turns.length - 1 ? trimPrefill(content) : content }
}

/** Adds text to a message with documents, which requires some. */
const withTextBesideDocuments = (blocks: readonly JsonObject[]): readonly JsonObject[] =>
  blocks.some(({ document }) => document) && !blocks.some(({ text }) => text) ? [{ text: 'The document:' }, ...blocks] : blocks

/** Trims the end of a final assistant message: the model continues it, and it must not end in whitespace. */
function trimPrefill(content: readonly JsonObject[]): readonly JsonObject[] {
  const last = content.at(-1)
  return typeof last?.text === 'string' ? [...content.slice(0, -1), { text: last.text.trimEnd() }] : content
}
