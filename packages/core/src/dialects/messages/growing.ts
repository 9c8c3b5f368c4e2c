import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import { isObject, type JsonObject, own } from '../../protocol/wire.ts'
import { readFrame } from '../frame.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../json.ts'
import { type BlockKind, callOf, inputText, isSpeech, messageOf, nativeOf, readText, readThought } from './decode-response.ts'

// Blocks while they are being told, and the items that they make.

export interface Growing {
  readonly kind: BlockKind
  readonly blocks: Block[]
  /** How many of them have not had their last word. */
  open: number
  /** Of a call: what is known of it from the start. */
  readonly call?: { readonly call_id: string; readonly name: string }
  /** Ours, once announced: nothing is told of an item before it says something or ends. */
  index: number | undefined
}

export interface Block {
  readonly kind: BlockKind
  readonly item: Growing
  /** Its place among the blocks of its item. */
  readonly part: number
  /** As it was announced, and what came to it beside its text. */
  readonly wire: GatheredFields
  text: string
  readonly citations: JsonObject[]
  /** As it would stand in a whole answer, once its last word has come. */
  whole: JsonObject | undefined
  /** The answer broke off before its last word. */
  isCut: boolean
}

export const startItem = (kind: BlockKind, call?: Growing['call']): Growing => ({
  kind,
  blocks: [],
  open: 0,
  index: undefined,
  ...(call && { call }),
})

export function startBlock(item: Growing, kind: BlockKind, wire: JsonObject): Block {
  const block: Block = {
    kind,
    item,
    part: item.blocks.length,
    wire: gatherFields(wire),
    text: '',
    citations: [],
    whole: undefined,
    isCut: false,
  }
  item.blocks.push(block)
  item.open += 1
  return block
}

/** By the deltas of one type a block grows, by one field of theirs. `told`: the growth is told at once, not when it is whole. */
interface Growth {
  readonly by: string
  readonly field: string
  readonly told?: 'text' | 'summary' | 'arguments'
}

export const growths: Readonly<Record<BlockKind, Growth>> = {
  text: { by: 'text_delta', field: 'text', told: 'text' },
  answer: { by: 'input_json_delta', field: 'partial_json', told: 'text' },
  thinking: { by: 'thinking_delta', field: 'thinking', told: 'summary' },
  redacted: { by: '', field: '' },
  call: { by: 'input_json_delta', field: 'partial_json', told: 'arguments' },
  native: { by: 'input_json_delta', field: 'partial_json' },
}

/** What a delta must be about whose block was never announced. A call cannot be guessed: nobody told its name. */
export const guesses: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['text_delta', { type: 'text', text: '' }],
  ['citations_delta', { type: 'text', text: '' }],
  ['thinking_delta', { type: 'thinking', thinking: '' }],
  ['signature_delta', { type: 'thinking', thinking: '' }],
  ['input_json_delta', { type: 'tool_use' }],
])

/** A delta of another type than the one by which the block grows. A signature comes whole; what we do not read grows by its texts. */
export function add(block: Block, { type, ...delta }: JsonObject): void {
  if (block.kind === 'native') addFields(block.wire, grown(block.wire.fields, delta))
  else if (block.kind === 'text' && isObject(delta.citation)) block.citations.push(delta.citation)
  else if (block.kind === 'thinking' && type === 'signature_delta') addFields(block.wire, delta)
}

const grown = (wire: JsonObject, delta: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(delta).map(([field, value]) => {
      const before = own(wire, field)
      return [field, typeof before === 'string' && typeof value === 'string' ? before + value : value]
    }),
  )

/** What stands in the announcement already. */
export const openingOf = ({ kind, wire: { fields: wire } }: Block): string =>
  kind === 'text' ? stringOf(wire.text) : kind === 'thinking' ? stringOf(wire.thinking) : ''

/** What a block says that grew by no delta. */
export const closingOf = ({ kind, wire: { fields: wire }, text }: Block): string =>
  text === '' && (kind === 'call' || kind === 'answer') ? inputText(wire) : ''

export function close(block: Block, isCut: boolean): JsonObject {
  block.isCut = isCut
  block.whole = wholeOf(block)
  block.item.open -= 1
  return block.whole
}

function wholeOf({ kind, wire: { fields: wire }, text, citations }: Block): JsonObject {
  if (kind === 'text') return { ...wire, text, ...(citations.length > 0 && { citations: [...objects(wire.citations), ...citations] }) }
  if (kind === 'thinking') return { ...wire, thinking: text }
  const input = text === '' ? undefined : readFrame({ data: text })
  return isObject(input) ? { ...wire, input } : wire
}

/** The item as it looks when it begins. */
export function shellOf({ kind, blocks, call }: Growing): Item {
  const body = blocks[0]?.wire.fields ?? {}
  if (isSpeech(kind)) return { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
  if (call) return callOf({ ...call, arguments: '' }, body, 'in_progress')
  return kind === 'native' ? nativeOf(body) : { type: 'reasoning', summary: [] }
}

export const partOf = ({ kind, text, whole = {} }: Block): Part => (kind === 'text' ? readText(whole) : { type: 'text', text })

/** The item as it is when all of its blocks are closed. `refusal`: what was said beside them. */
export function itemOf({ kind, blocks, call }: Growing, status: ItemStatus, refusal: readonly Part[]): Item {
  if (isSpeech(kind)) {
    const said = blocks.flatMap(block => (block.kind === 'text' && block.whole ? [block.whole] : []))
    return messageOf([...blocks.map(partOf), ...refusal], said, status)
  }
  const { whole = {}, text = '', isCut = true } = blocks[0] ?? {}
  if (call) return callOf({ ...call, arguments: text }, whole, status)
  if (kind === 'native') return nativeOf(whole)
  return isCut ? unsigned(readThought(whole)) : readThought(whole)
}

/** Half a thought is nobody's to restore. */
function unsigned(item: Item): Item {
  if (item.type !== 'reasoning') return item
  const { encrypted_content, ...rest } = item
  return rest
}
