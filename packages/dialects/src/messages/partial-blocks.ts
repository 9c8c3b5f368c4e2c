import {
  bufferedText,
  messageShell,
  type PartialItem,
  partialItem,
  partOf,
  reasoningShell,
  type TextKind,
  textBuffer,
} from '../common/item-assembler.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import type { FunctionCallItem, Item, ItemStatus, Part } from '../protocol/item.ts'
import type { TextBuffer } from '../protocol/text-delta.ts'
import { isObject, type JsonObject, own } from '../protocol/wire.ts'
import { type BlockKind, callItem, inputText, isMessagePart, messageItem, nativeItem, reasoningItem, textPart } from './decode-blocks.ts'

// Assembles blocks that arrive in pieces, and the items they make up.

/** Announced with its first text, or when its first block is complete. */
export interface BlockItem {
  readonly kind: BlockKind
  readonly partial: PartialItem
  readonly blocks: PartialBlock[]
  /** Number of incomplete blocks. */
  openBlocks: number
  /** Known from the start of a call. */
  readonly call: Pick<FunctionCallItem, 'call_id' | 'name'> | undefined
}

export interface PartialBlock {
  readonly kind: BlockKind
  readonly item: BlockItem
  /** Its position among the blocks of its item. */
  readonly part: number
  /** Its fields, except for text appended by deltas. */
  readonly wire: GatheredFields
  readonly text: TextBuffer
  readonly citations: JsonObject[]
  /** The block as in a whole response, once it is complete. */
  complete: JsonObject | undefined
  /** Whether the stream ended before the block did. */
  isCut: boolean
}

export const createItem = (kind: BlockKind, call?: BlockItem['call']): BlockItem => ({
  kind,
  partial: partialItem(isMessagePart(kind) ? messageShell : reasoningShell),
  blocks: [],
  openBlocks: 0,
  call,
})

export function createBlock(item: BlockItem, kind: BlockKind, wire: JsonObject): PartialBlock {
  const { emits } = textDeltas[kind]
  const part = item.blocks.length
  const block: PartialBlock = {
    kind,
    item,
    part,
    wire: gatherFields(wire),
    text: emits === undefined ? textBuffer() : partOf(item.partial, emits, part).text,
    citations: [],
    complete: undefined,
    isCut: false,
  }
  item.blocks.push(block)
  item.openBlocks += 1
  return block
}

/** The type and field of deltas that append text to a block, and the kind of delta they become. */
interface TextDeltas {
  readonly type: string
  readonly field: string
  readonly emits?: TextKind
}

export const textDeltas: Readonly<Record<BlockKind, TextDeltas>> = {
  text: { type: 'text_delta', field: 'text', emits: 'text' },
  answer: { type: 'input_json_delta', field: 'partial_json', emits: 'text' },
  thinking: { type: 'thinking_delta', field: 'thinking', emits: 'summary' },
  redacted: { type: '', field: '' },
  call: { type: 'input_json_delta', field: 'partial_json', emits: 'arguments' },
  native: { type: 'input_json_delta', field: 'partial_json' },
}

/** The block to assume if a delta's block was never started. A call cannot be assumed, because its name is unknown. */
export const inferredBlocks: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['text_delta', { type: 'text', text: '' }],
  ['citations_delta', { type: 'text', text: '' }],
  ['thinking_delta', { type: 'thinking', thinking: '' }],
  ['signature_delta', { type: 'thinking', thinking: '' }],
  ['input_json_delta', { type: 'tool_use' }],
])

/** Adds a delta that does not append text. A signature comes whole; the text fields of an unknown block are appended to. */
export function addDelta(block: PartialBlock, { type, ...delta }: JsonObject): void {
  if (block.kind === 'native') addFields(block.wire, appendFields(block.wire.fields, delta))
  else if (block.kind === 'text' && isObject(delta.citation)) block.citations.push(delta.citation)
  else if (block.kind === 'thinking' && type === 'signature_delta') addFields(block.wire, delta)
}

const appendFields = (wire: JsonObject, delta: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(delta).map(([field, value]) => {
      const before = own(wire, field)
      return [field, typeof before === 'string' && typeof value === 'string' ? before + value : value]
    }),
  )

/** The text in the start of a block. */
export const initialText = ({ kind, wire: { fields } }: PartialBlock): string =>
  kind === 'text' ? stringOf(fields.text) : kind === 'thinking' ? stringOf(fields.thinking) : ''

/** The text of a block without deltas. */
export const finalText = ({ kind, wire: { fields }, text }: PartialBlock): string =>
  text.length === 0 && (kind === 'call' || kind === 'answer') ? inputText(fields) : ''

export function completeBlock(block: PartialBlock, isCut: boolean): JsonObject {
  block.isCut = isCut
  block.complete = completeFields(block)
  block.item.openBlocks -= 1
  return block.complete
}

/** A block without deltas stays exactly as the provider sent it. */
function completeFields(block: PartialBlock): JsonObject {
  const { kind, text, citations } = block
  const { fields } = block.wire
  if (text.length === initialText(block).length && citations.length === 0) return fields
  if (kind === 'text')
    return { ...fields, text: bufferedText(text), ...(citations.length > 0 && { citations: [...objects(fields.citations), ...citations] }) }
  if (kind === 'thinking') return { ...fields, thinking: bufferedText(text) }
  const input = readFrame({ data: bufferedText(text) })
  return isObject(input) ? { ...fields, input } : fields
}

/** The item as `item_started` announces it. */
export function announcedItem({ kind, blocks, call, partial }: BlockItem): Item {
  const fields = blocks[0]?.wire.fields ?? {}
  if (call) return callItem({ ...call, arguments: '' }, fields, 'in_progress')
  return kind === 'native' ? nativeItem(fields) : partial.item
}

export const partOfBlock = ({ kind, text, complete = {} }: PartialBlock): Part =>
  kind === 'text' ? textPart(complete) : { type: 'text', text: bufferedText(text) }

/** The item once all its blocks are complete. `refusal`: a message part that no block contains. */
export function finishedItem({ kind, blocks, call }: BlockItem, status: ItemStatus, refusal: readonly Part[]): Item {
  if (isMessagePart(kind)) {
    const textBlocks = blocks.flatMap(block => (block.kind === 'text' && block.complete ? [block.complete] : []))
    return messageItem([...blocks.map(partOfBlock), ...refusal], textBlocks, status)
  }
  const [block] = blocks
  const complete = block?.complete ?? {}
  if (call) return callItem({ ...call, arguments: block ? bufferedText(block.text) : '' }, complete, status)
  return kind === 'native' ? nativeItem(complete) : reasoningItem(complete, block?.isCut ?? true)
}
