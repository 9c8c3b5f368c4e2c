import { namelessCall } from '../common/answer-failures.ts'
import { callIdFor } from '../common/ids.ts'
import {
  announceItem,
  appendAnnotation,
  appendDelta,
  appendText,
  createItemAssembler,
  emitEvent,
  finishItem,
  type ItemAssembler,
  noteUnmodeled,
} from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { ItemStatus, Part } from '../protocol/item.ts'
import type { Outcome } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { type BlockKind, blockKind, isLink, isMessagePart } from './decode-blocks.ts'
import {
  announcedItem,
  type BlockItem,
  completeBlock,
  createBlock,
  createItem,
  finalText,
  finishedItem,
  initialText,
  type PartialBlock,
  partOfBlock,
  textDeltas,
} from './partial-blocks.ts'
import { dialect, refusalText } from './wire.ts'

/**
 * Turns blocks into items: adjacent message parts form one message; any other block is an item. An item is finished when the next one
 * starts or the response ends, because only then is it known whether it was cut off.
 */
export interface BlockAssembler extends ItemAssembler {
  readonly mapping: ResponseMapping
  readonly callIds: Set<string>
  /** The response id, from which missing call ids are derived. */
  answerId: string
  /** Complete blocks, as in a whole response. */
  content: JsonObject[]
  /** Unfinished items in order. */
  items: Set<BlockItem>
  lastItem: BlockItem | undefined
  /** Makes the response fail, whatever its own outcome. */
  fault: Outcome | undefined
}

export const createBlockAssembler = (mapping: ResponseMapping): BlockAssembler => ({
  ...createItemAssembler(),
  mapping,
  callIds: new Set(),
  answerId: '',
  content: [],
  items: new Set(),
  lastItem: undefined,
  fault: undefined,
})

/** Starts a block; undefined for a call without a name, which makes the response fail. */
export function startBlock(assembler: BlockAssembler, wire: JsonObject): PartialBlock | undefined {
  const kind = blockKind(wire, assembler.mapping)
  const sentName = stringOf(wire.name)
  const name = assembler.mapping.toolNames?.get(sentName) ?? sentName
  if (kind === 'call' && name === '') {
    assembler.fault ??= namelessCall
    return undefined
  }
  const block = createBlock(itemFor(assembler, kind, { name, id: stringOf(wire.id) }), kind, wire)
  appendToBlock(assembler, block, initialText(block))
  return block
}

function itemFor(assembler: BlockAssembler, kind: BlockKind, { name, id }: { readonly name: string; readonly id: string }): BlockItem {
  const { lastItem, callIds, answerId } = assembler
  if (lastItem && isMessagePart(lastItem.kind) && isMessagePart(kind)) return lastItem
  if (kind !== 'call') return addBlockItem(assembler, createItem(kind))
  return addBlockItem(assembler, createItem(kind, { call_id: callIdFor(callIds, id, [answerId, callIds.size, name]), name }))
}

function addBlockItem(assembler: BlockAssembler, item: BlockItem): BlockItem {
  if (assembler.lastItem?.openBlocks === 0) finishBlockItem(assembler, assembler.lastItem, 'completed')
  assembler.items.add(item)
  assembler.lastItem = item
  return item
}

export function appendToBlock(assembler: BlockAssembler, block: PartialBlock, text: string): void {
  if (text === '') return
  const { emits } = textDeltas[block.kind]
  if (emits === undefined) {
    appendText(block.text, text)
    return
  }
  announceBlockItem(assembler, block.item)
  appendDelta(assembler, block.item.partial, { kind: emits, part: block.part, text })
}

function announceBlockItem(assembler: BlockAssembler, item: BlockItem): number {
  if (item.partial.index !== undefined) return item.partial.index
  item.partial.item = announcedItem(item)
  return announceItem(assembler, item.partial)
}

/** Completes a block, and emits what no delta contained. */
export function finishBlock(assembler: BlockAssembler, block: PartialBlock, isCut = false): void {
  if (block.complete) return
  const text = isCut ? '' : finalText(block)
  const complete = completeBlock(block, isCut)
  assembler.content.push(complete)
  appendToBlock(assembler, block, text)
  const index = announceBlockItem(assembler, block.item)
  const part = isMessagePart(block.kind) ? partOfBlock(block) : undefined
  for (const annotation of part?.type === 'text' ? (part.annotations ?? []) : [])
    appendAnnotation(assembler, block.item.partial, { kind: 'annotation', part: block.part, annotation })
  for (const citation of block.citations) if (!isLink(citation)) emitEvent(assembler, citationEvent(citation, index))
  if (block.kind === 'text' && complete.citations)
    for (const citation of objects(complete.citations)) if (!isLink(citation)) noteUnmodeled(assembler, stringOf(citation.type))
}

/** A citation of a client document, which only this dialect can express. */
function citationEvent(citation: JsonObject, index: number): InferenceEvent {
  const type = 'content_block_delta'
  return { type: 'native', dialect, name: type, index, body: { type, delta: { type: 'citations_delta', citation } }, preamble: false }
}

export function finishBlockItem(assembler: BlockAssembler, item: BlockItem, status: ItemStatus): void {
  finishWithRefusal(assembler, item, { status, refusal: '' })
}

interface ItemEnd {
  readonly status: ItemStatus
  /** The explanation of a refusal, which becomes the last part of its message. */
  readonly refusal: string
}

function finishWithRefusal(assembler: BlockAssembler, item: BlockItem, { status, refusal }: ItemEnd): void {
  assembler.items.delete(item)
  if (assembler.lastItem === item) assembler.lastItem = undefined
  for (const block of item.blocks) finishBlock(assembler, block, status !== 'completed')
  announceBlockItem(assembler, item)
  const refusalPart: readonly Part[] = refusal === '' ? [] : [{ type: 'refusal', refusal }]
  if (refusal !== '') appendDelta(assembler, item.partial, { kind: 'refusal', part: item.blocks.length, text: refusal })
  finishItem(assembler, item.partial, finishedItem(item, status, refusalPart))
}

/** Finishes the items that are open at the end of the response. `message`: its fields, which may explain a refusal. */
export function finishItems(assembler: BlockAssembler, outcome: Outcome, message: JsonObject): void {
  const refusal = refusalText(outcome, message)
  if (refusal !== '' && !(assembler.lastItem && isMessagePart(assembler.lastItem.kind))) addBlockItem(assembler, createItem('text'))
  const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
  for (const item of assembler.items) finishWithRefusal(assembler, item, { status, refusal: item === assembler.lastItem ? refusal : '' })
}
