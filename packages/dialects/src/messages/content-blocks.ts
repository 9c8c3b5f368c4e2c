import { messageShell, OpenItem, reasoningShell, type TextKind } from '../common/item-assembler.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { Item, ItemStatus, Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import { TextBuffer } from '../protocol/text-delta.ts'
import { isObject, type JsonObject, own } from '../protocol/wire.ts'
import { encodeReasoningState } from './reasoning-state.ts'
import { dialect } from './wire.ts'

// Content blocks of a provider, and the items that they make up.

/** `answer`: a call of the tool whose arguments are the response text. */
type BlockKind = 'text' | 'answer' | 'thinking' | 'redacted' | 'call' | 'native'

const blockKinds: ReadonlyMap<string, BlockKind> = new Map<string, BlockKind>([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['redacted_thinking', 'redacted'],
  ['tool_use', 'call'],
])

/** The kind of a content block. */
export const blockKind = ({ type, name }: JsonObject, { answerTool }: ResponseMapping): BlockKind =>
  type === 'tool_use' && answerTool !== undefined && name === answerTool ? 'answer' : (blockKinds.get(stringOf(type)) ?? 'native')

/** Whether the block is part of a message; adjacent ones belong to the same message. */
export const isMessagePart = (kind: BlockKind): boolean => kind === 'text' || kind === 'answer'

/** The type and field of deltas that append text to a block, and the kind of delta they become. */
export const textDeltas: Readonly<Record<BlockKind, { readonly type: string; readonly field: string; readonly emits?: TextKind }>> = {
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

/** An item made of blocks: a message of adjacent text blocks, or one block of any other kind. */
export class BlockItem extends OpenItem {
  readonly kind: BlockKind
  readonly blocks: Block[] = []
  /** Number of incomplete blocks. */
  openBlocks = 0
  /** The explanation of a refusal, which is a message part that no block contains. */
  refusal = ''

  /** `call`: the announced item of a call. */
  constructor(kind: BlockKind, call?: Item) {
    super(call ?? (isMessagePart(kind) ? messageShell : reasoningShell))
    this.kind = kind
  }

  override complete(status: ItemStatus): Item {
    const { kind, blocks, item, refusal } = this
    if (isMessagePart(kind)) {
      const content: Part[] = blocks.map(({ kind, text, complete = {} }) =>
        kind === 'text' ? textPart(complete) : { type: 'text', text: text.toString() },
      )
      if (refusal !== '') content.push({ type: 'refusal', refusal })
      // The message has an original only if all of its parts are text blocks.
      const originals = blocks.flatMap(({ kind, complete }) => (kind === 'text' && complete ? [complete] : []))
      const original = originals.length === content.length ? { dialect, body: { role: 'assistant', content: originals } } : undefined
      return remember<Item>({ type: 'message', role: 'assistant', content, status }, original)
    }
    const [block] = blocks
    const body = block?.complete ?? {}
    if (item.type !== 'function_call') return kind === 'native' ? nativeItem(body) : reasoningItem(body, block?.isCut ?? true)
    const call = { ...item, arguments: block ? block.text.toString() : '', status }
    return remember<Item>(call, typeof body.input === 'string' ? undefined : { dialect, body })
  }
}

/** A content block that arrives in pieces. */
export class Block {
  readonly kind: BlockKind
  readonly item: BlockItem
  /** Its position among the blocks of its item. */
  readonly part: number
  /** Its fields, except for text appended by deltas. */
  readonly wire: GatheredFields
  readonly text: TextBuffer
  readonly citations: JsonObject[] = []
  /** The block as in a whole response, once it is complete. */
  complete: JsonObject | undefined = undefined
  /** Whether the stream ended before the block did. */
  isCut = false

  constructor(item: BlockItem, kind: BlockKind, wire: JsonObject) {
    const { emits } = textDeltas[kind]
    this.kind = kind
    this.item = item
    this.part = item.blocks.length
    this.wire = gatherFields(wire)
    this.text = emits === undefined ? new TextBuffer() : item.part(emits, this.part).text
    item.blocks.push(this)
    item.openBlocks += 1
  }

  /** The text in the start of the block. */
  get initialText(): string {
    const { fields } = this.wire
    return this.kind === 'text' ? stringOf(fields.text) : this.kind === 'thinking' ? stringOf(fields.thinking) : ''
  }

  /** The input of a call without deltas. It is text already if it is too deep for JSON (`parseBounded`). */
  get wholeInput(): string {
    if (this.text.length > 0 || (this.kind !== 'call' && this.kind !== 'answer')) return ''
    const { input } = this.wire.fields
    return isObject(input) ? JSON.stringify(input) : stringOf(input) || '{}'
  }

  /** Adds a delta that does not append text. A signature comes whole; the text fields of an unknown block are appended to. */
  add({ type, ...delta }: JsonObject): void {
    const { kind, wire, citations } = this
    if (kind === 'native') {
      const fields = Object.entries(delta).map(([field, value]) => {
        const before = own(wire.fields, field)
        return [field, typeof before === 'string' && typeof value === 'string' ? before + value : value]
      })
      addFields(wire, Object.fromEntries(fields))
    } else if (kind === 'text' && isObject(delta.citation)) citations.push(delta.citation)
    else if (kind === 'thinking' && type === 'signature_delta') addFields(wire, delta)
  }

  /** Ends the block. Without deltas it stays exactly as the provider sent it. */
  finish(isCut: boolean): JsonObject {
    const { kind, text, citations } = this
    const { fields } = this.wire
    this.isCut = isCut
    this.item.openBlocks -= 1
    if (text.length === this.initialText.length && citations.length === 0) this.complete = fields
    else if (kind === 'text') {
      const cited = citations.length > 0 ? [...objects(fields.citations), ...citations] : fields.citations
      this.complete = { ...fields, text: text.toString(), ...(cited !== undefined && { citations: cited }) }
    } else if (kind === 'thinking') this.complete = { ...fields, thinking: text.toString() }
    else {
      const input = readFrame({ data: text.toString() })
      this.complete = isObject(input) ? { ...fields, input } : fields
    }
    return this.complete
  }
}

/** The message part of a complete text block. */
export function textPart(block: JsonObject): Extract<Part, { type: 'text' }> {
  const text = stringOf(block.text)
  const annotations = objects(block.citations).flatMap(citation => {
    const url = citedAddress(citation)
    if (url === undefined) return []
    const link: JsonObject = { type: 'url_citation', start_index: 0, end_index: text.length, url, title: stringOf(citation.title) || url }
    return [remember(link, { dialect, body: citation })]
  })
  return remember({ type: 'text', text, annotations: annotations.length > 0 ? annotations : undefined }, { dialect, body: block })
}

/** The URL that a citation points to: of a web page, or of a search result that the client supplied. Locations in a client document have none. */
export function citedAddress({ type, url, source }: JsonObject): string | undefined {
  if (type === 'web_search_result_location') return typeof url === 'string' ? url : undefined
  return type === 'search_result_location' && /^https?:/i.test(stringOf(source)) ? stringOf(source) : undefined
}

/** A reasoning item with the thinking as summary. The state is the whole block, unless `isCut`: an incomplete block cannot be restored. */
function reasoningItem(block: JsonObject, isCut: boolean): Item {
  const isRedacted = block.type === 'redacted_thinking'
  const thinking = isRedacted ? '' : stringOf(block.thinking)
  const isEmpty = thinking === '' && stringOf(isRedacted ? block.data : block.signature) === ''
  return remember<Item>(
    {
      type: 'reasoning',
      summary: thinking === '' ? [] : [thinking],
      encrypted_content: isEmpty || isCut ? undefined : encodeReasoningState(block),
      redacted: isRedacted || undefined,
    },
    isCut ? undefined : { dialect, body: block },
  )
}

/** The item of a block that only this dialect has. */
export const nativeItem = (body: JsonObject): Item => remember<Item>({ type: 'native', dialect, body }, { dialect, body })
