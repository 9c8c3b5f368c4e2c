import { namelessCall } from '../common/answer-failures.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import { callIdFor } from '../common/ids.ts'
import {
  appendAnnotation,
  appendDelta,
  argumentsOf,
  assembledItem,
  assembledReasoning,
  bufferedText,
  createItemAssembler,
  emitEvent,
  emitItem,
  emptyMessage,
  finishItem,
  hasPart,
  type ItemAssembler,
  messageShell,
  noteUnmodeled,
  type PartialItem,
  partOf,
  reasoningShell,
  startItem,
} from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { FunctionCallItem, Item, ItemStatus } from '../protocol/item.ts'
import type { Outcome } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { annotationOf } from './citations.ts'
import { encodeReasoningState } from './reasoning-state.ts'
import { decodeUsage } from './wire.ts'

/** Turns content blocks into items: adjacent texts form one message; each reasoning block and each call is an item. */
export interface BlockAssembler extends ItemAssembler {
  readonly mapping: ResponseMapping
  readonly callIds: Set<string>
  message: OpenMessage | undefined
  /** Open items by block index, except plain-text messages. */
  readonly blocks: Map<number, OpenItem>
  /** Indexes of stopped blocks. Their items are complete once the next item starts. */
  readonly stopped: Set<number>
  /** Indexes of calls that the provider runs itself. */
  readonly hosted: Set<number>
  /** Makes the response fail, whatever its own outcome. */
  fault: Outcome | undefined
}

type OpenItem = OpenMessage | OpenReasoning | OpenCall

interface OpenMessage {
  readonly kind: 'message'
  readonly partial: PartialItem
  /** The index of the latest block, and the part that its text extends. */
  block: number
  part: number
  /** Whether its text is the arguments of the answer tool. */
  readonly isAnswer: boolean
  isStopped: boolean
}
interface OpenReasoning {
  readonly kind: 'reasoning'
  readonly partial: PartialItem
  signature: string
  redacted: string
  isStopped: boolean
}
interface OpenCall {
  readonly kind: 'call'
  readonly partial: PartialItem
  /** The id that the provider sent. */
  readonly sentId: string
  isStopped: boolean
}

/** Starts without id, model and time, which this dialect does not send. */
export const createBlockAssembler = (mapping: ResponseMapping = {}): BlockAssembler => ({
  ...createItemAssembler(),
  events: [{ type: 'started', id: '', model: '', created_at: 0 }],
  mapping,
  callIds: new Set(),
  message: undefined,
  blocks: new Map(),
  stopped: new Set(),
  hosted: new Set(),
  fault: undefined,
})

export function addText(assembler: BlockAssembler, index: number, text: string): void {
  if (text === '') return
  assembler.message ??= startMessage(assembler, index, false)
  const { message } = assembler
  if (assembler.mapping.citesDocuments && message.block !== index) {
    message.block = index
    message.part += 1
  }
  appendMessageText(assembler, message, text)
}

function startMessage(assembler: BlockAssembler, block: number, isAnswer: boolean): OpenMessage {
  finishCompleteItems(assembler)
  const partial = startItem(assembler, messageShell)
  // A message without text still has one part.
  partOf(partial, 'text', 0)
  return { kind: 'message', partial, block, part: 0, isAnswer, isStopped: false }
}

/** Adds a citation to the current part of the message. */
export function addCitation(assembler: BlockAssembler, citation: JsonObject): void {
  const { message } = assembler
  const annotation = message && annotationOf(citation, partOf(message.partial, 'text', message.part).text.length)
  if (annotation) appendAnnotation(assembler, message.partial, { kind: 'annotation', part: message.part, annotation })
  else noteUnmodeled(assembler, 'citation')
}

/** Fields of blocks, block starts and deltas that are handled elsewhere. */
const knownFields: ReadonlySet<string> = new Set(['text', 'toolUse', 'reasoningContent', 'citationsContent', 'citation', 'cachePoint'])

/** Handles other content: an image becomes an item, anything else is noted. */
export function addOther(assembler: BlockAssembler, block: JsonObject): void {
  for (const field in block) if (!knownFields.has(field)) addUnknown(assembler, field, block[field])
}

function addUnknown(assembler: BlockAssembler, field: string, content: Json | undefined): void {
  const { format, source } = field === 'image' && isObject(content) ? content : {}
  const item = imageItem(`data:image/${stringOf(format)};base64,${isObject(source) ? stringOf(source.bytes) : ''}`)
  if (!item) {
    noteUnmodeled(assembler, field)
    return
  }
  finishCompleteItems(assembler)
  emitItem(assembler, item, announcedImage)
}

const appendMessageText = (assembler: BlockAssembler, { partial, part }: OpenMessage, text: string): void => {
  appendDelta(assembler, partial, { kind: 'text', part, text })
}

const appendArguments = (assembler: BlockAssembler, { partial }: OpenCall, text: string): void => {
  appendDelta(assembler, partial, { kind: 'arguments', part: 0, text })
}

export interface CallStart {
  readonly id: string
  readonly name: string
  /** Whether the provider runs the call itself and sends its result. */
  readonly isHosted: boolean
}

export const callStart = ({ toolUseId, name, type }: JsonObject): CallStart => ({
  id: stringOf(toolUseId),
  name: stringOf(name),
  isHosted: type === 'server_tool_use',
})

export function addCall(assembler: BlockAssembler, index: number, call: CallStart): void {
  const { blocks, mapping } = assembler
  if (call.isHosted) {
    assembler.hosted.add(index)
    noteUnmodeled(assembler, 'server_tool_use')
    return
  }
  if (call.name === '') {
    assembler.fault = namelessCall
    return
  }
  const known = blocks.get(index)
  const isRepeated = known?.kind === 'call' && known.sentId === call.id && call.id !== ''
  if (isRepeated) return
  finishAt(assembler, index)
  blocks.set(index, call.name === mapping.answerTool ? startMessage(assembler, index, true) : startCall(assembler, call))
}

function startCall(assembler: BlockAssembler, { id, name }: CallStart): OpenCall {
  finishCompleteItems(assembler)
  const call_id = callIdFor(assembler.callIds, id, [id, name, assembler.count])
  const sentName = assembler.mapping.toolNames?.get(name) ?? name
  const item: FunctionCallItem = { type: 'function_call', call_id, name: sentName, arguments: '', status: 'in_progress' }
  return { kind: 'call', partial: startItem(assembler, item), sentId: id, isStopped: false }
}

/** Appends a piece of a call's arguments. */
export function addInput(assembler: BlockAssembler, index: number, text: string): void {
  if (text === '' || assembler.hosted.has(index)) return
  const open = assembler.blocks.get(index)
  if (open?.kind === 'call') appendArguments(assembler, open, text)
  else if (open?.kind === 'message') appendMessageText(assembler, open, text)
  else assembler.fault = namelessCall
}

export function addThinking(assembler: BlockAssembler, index: number, text: string): void {
  if (text === '') return
  appendDelta(assembler, reasoningAt(assembler, index, false).partial, { kind: 'summary', part: 0, text })
}

export function addSignature(assembler: BlockAssembler, index: number, signature: string): void {
  if (signature !== '') reasoningAt(assembler, index, false).signature += signature
}

export function addRedacted(assembler: BlockAssembler, index: number, redacted: string): void {
  if (redacted !== '') reasoningAt(assembler, index, true).redacted += redacted
}

/** The open reasoning item at this index. Readable and redacted content become separate items. */
function reasoningAt(assembler: BlockAssembler, index: number, isRedacted: boolean): OpenReasoning {
  const known = assembler.blocks.get(index)
  if (known?.kind === 'reasoning' && !known.isStopped && (isRedacted ? !isReadable(known) : known.redacted === '')) return known
  finishAt(assembler, index)
  finishCompleteItems(assembler)
  const partial = startItem(assembler, reasoningShell)
  const reasoning: OpenReasoning = { kind: 'reasoning', partial, signature: '', redacted: '', isStopped: false }
  assembler.blocks.set(index, reasoning)
  return reasoning
}

const isReadable = ({ partial, signature }: OpenReasoning): boolean => signature !== '' || hasPart(partial, 'summary', 0)

/** Marks a block as stopped. A block cut off by the token limit is stopped too, so its item stays open until the next item starts or the response ends. */
export function stopBlock(assembler: BlockAssembler, index: number): void {
  assembler.hosted.delete(index)
  const open = assembler.blocks.get(index)
  if (!open) return
  open.isStopped = true
  assembler.stopped.add(index)
}

/** Called when another item starts: the items before it are complete. */
function finishCompleteItems(assembler: BlockAssembler): void {
  if (assembler.message) finishOpenItem(assembler, assembler.message, 'completed')
  assembler.message = undefined
  for (const index of assembler.stopped) finishAt(assembler, index)
}

function finishAt(assembler: BlockAssembler, index: number): void {
  const open = assembler.blocks.get(index)
  if (open) finishOpenItem(assembler, open, 'completed')
  assembler.blocks.delete(index)
  assembler.stopped.delete(index)
}

function finishOpenItem(assembler: BlockAssembler, open: OpenItem, status: ItemStatus): void {
  const { kind, partial } = open
  if (status === 'completed') {
    if (kind === 'call' && argumentsOf(partial) === '') appendArguments(assembler, open, '{}')
    if (kind === 'message' && open.isAnswer && bufferedText(partOf(partial, 'text', 0).text) === '')
      appendMessageText(assembler, open, '{}')
  }
  finishItem(assembler, partial, kind === 'reasoning' ? reasoningItem(open) : assembledItem(partial, status))
}

function reasoningItem({ partial, signature, redacted }: OpenReasoning): Item {
  const { summary } = assembledReasoning(partial)
  const state = encodeReasoningState({ text: summary.join(''), signature, redacted })
  return {
    type: 'reasoning',
    summary,
    ...(state !== undefined && { encrypted_content: state }),
    ...(redacted !== '' && { redacted: true }),
  }
}

/** Finishes all items and the response. `metadata`: the final event, with the usage. */
export function finishAnswer(assembler: BlockAssembler, ending: Outcome, metadata: JsonObject): void {
  const outcome = assembler.fault && ending.status !== 'failed' ? assembler.fault : ending
  const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
  if (assembler.message) finishOpenItem(assembler, assembler.message, status)
  for (const open of assembler.blocks.values()) finishOpenItem(assembler, open, isCompleteCall(open) ? 'completed' : status)
  if (assembler.count === 0 && status === 'completed') emitItem(assembler, emptyMessage, messageShell)
  const counts = decodeUsage(metadata, assembler.count > 0)
  const { unmodeled } = assembler
  emitEvent(assembler, { type: 'finished', outcome, ...(counts && { usage: counts }), ...(unmodeled && { unmodeled: [...unmodeled] }) })
}

/** Whether a call is complete although the response is not. */
function isCompleteCall(open: OpenItem): boolean {
  if (open.kind !== 'call' || !open.isStopped) return false
  try {
    JSON.parse(argumentsOf(open.partial))
    return true
  } catch {
    return false
  }
}
