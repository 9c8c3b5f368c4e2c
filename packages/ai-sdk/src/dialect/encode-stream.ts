import {
  type Delta,
  type EventEncoder,
  type Failure,
  type InferenceEvent,
  type InferenceRequest,
  type Item,
  type MessageItem,
  originalOf,
  type ReasoningItem,
  type ResponseMetadata,
} from '@signalbox/dialects/protocol'
import { encodeCitations, encodeFilePart, encodeNative } from './encode-parts.ts'
import { encodeFailure } from './errors.ts'
import { encodeFinishReason, encodeGatewayMetadata, encodeWarnings, sdkUsage } from './response-fields.ts'
import { metadataOf, type PartMetadata, type StreamPart } from './wire.ts'

/** The encoder of a stream over HTTP, in which each part is a frame. */
export function encodeEvents(request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder {
  const writer = new PartWriter(request, { metadata, encodeFailure })
  return { write: events => writer.write(events).map(part => ({ data: JSON.stringify(part) })) }
}

/** A text, reasoning or tool input that is being sent. */
interface OpenBlock {
  readonly id: string
  readonly type: 'text' | 'reasoning' | 'tool-input'
  /** Characters sent. */
  length: number
}

/** The sent part of an item that is not finished. */
interface SentItem {
  readonly index: number
  /** The id of a reasoning item, which all its parts carry. */
  readonly itemId: string | undefined
  readonly blocks: Map<string, OpenBlock>
  isFinished: boolean
}

type TextKind = Exclude<Delta['kind'], 'annotation'>

const blockKey = (kind: TextKind, part: number): string => `${kind}-${part}`

/** Metadata at the start of a block, which must be available before its end. */
const startOf: Readonly<Record<TextKind, PartMetadata>> = {
  text: {},
  arguments: {},
  summary: {},
  reasoning: { raw: true },
  refusal: { refusal: true },
}

const itemIdOf = ({ itemId }: SentItem): PartMetadata => (itemId === undefined ? {} : { itemId })

interface PartWriterOptions {
  readonly metadata: () => ResponseMetadata
  /** Encodes a failure inside a stream. */
  readonly encodeFailure: (failure: Failure) => unknown
}

/** Encodes the events of one response as parts: blocks of text, reasoning and tool input, calls, files and custom parts. */
export class PartWriter {
  readonly #options: PartWriterOptions
  /** Whether the client wants the gateway's events too. */
  readonly #includesRaw: boolean
  readonly #items = new Map<number, SentItem>()
  /** Encoded parts that were not taken yet. */
  #parts: StreamPart[] = []
  /** Sources sent so far. */
  #sources = 0
  #hasCalls = false
  #hasRefusal = false
  #phase: 'new' | 'started' | 'ended' = 'new'

  constructor(request: InferenceRequest, options: PartWriterOptions) {
    this.#options = options
    this.#includesRaw = originalOf(request)?.body.includeRawChunks === true
  }

  write(events: readonly InferenceEvent[]): readonly StreamPart[] {
    for (const event of events) this.#encode(event)
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  #encode(event: InferenceEvent): void {
    if (this.#phase === 'ended') return
    if (this.#phase === 'new') {
      const { id, model, created_at, warnings } = this.#options.metadata()
      this.#phase = 'started'
      this.#parts.push(
        { type: 'stream-start', warnings: encodeWarnings(warnings) },
        { type: 'response-metadata', id, modelId: model, timestamp: new Date(created_at * 1_000) },
      )
    }
    // The gateway's event instead of the provider's data, which may contain unsealed reasoning state.
    if (this.#includesRaw) this.#parts.push({ type: 'raw', rawValue: { ...event } })
    if (event.type === 'item_started') this.#startItem(event.index, event.item)
    else if (event.type === 'delta') this.#encodeDelta(event.index, event.delta)
    else if (event.type === 'item_finished') this.#finishItem(this.#startItem(event.index, event.item), event.item)
    else if (event.type === 'finished') {
      const { outcome, usage } = event
      this.#phase = 'ended'
      if (outcome.status === 'failed') this.#parts.push({ type: 'error', error: this.#options.encodeFailure(outcome.error) })
      this.#parts.push({
        type: 'finish',
        finishReason: encodeFinishReason(outcome, { hasCalls: this.#hasCalls, hasRefusal: this.#hasRefusal }),
        usage: sdkUsage(usage),
        providerMetadata: encodeGatewayMetadata(this.#options.metadata()),
      })
    }
  }

  #startItem(index: number, item: Item): SentItem {
    const known = this.#items.get(index)
    if (known) return known
    const itemId = item.type === 'reasoning' ? this.#options.metadata().itemId('rs') : undefined
    const started: SentItem = { index, itemId, blocks: new Map(), isFinished: false }
    this.#items.set(index, started)
    if (item.type === 'function_call') {
      const { call_id: id, name: toolName } = item
      started.blocks.set(blockKey('arguments', 0), { id, type: 'tool-input', length: 0 })
      this.#parts.push({ type: 'tool-input-start', id, toolName })
    }
    return started
  }

  /** The block of a text, started if new. */
  #blockOf(item: SentItem, kind: TextKind, part: number): OpenBlock {
    const key = blockKey(kind, part)
    const known = item.blocks.get(key)
    if (known) return known
    const type = kind === 'summary' || kind === 'reasoning' ? 'reasoning' : 'text'
    const block: OpenBlock = { id: `${item.index}-${key}`, type, length: 0 }
    item.blocks.set(key, block)
    if (kind === 'refusal') this.#hasRefusal = true
    this.#parts.push({ type: `${type}-start`, id: block.id, ...metadataOf({ ...startOf[kind], ...itemIdOf(item) }) })
    return block
  }

  #encodeDelta(index: number, delta: Delta): void {
    const item = this.#items.get(index)
    // Citations are sent at the end of their text.
    if (!item || item.isFinished || delta.kind === 'annotation' || delta.text === '') return
    const block = this.#blockOf(item, delta.kind, delta.part)
    this.#parts.push({ type: `${block.type}-delta`, id: block.id, delta: delta.text })
    block.length += delta.text.length
  }

  /** The block of a text that is complete, after its unsent rest. */
  #completeBlock(item: SentItem, kind: TextKind, part: number, text: string): OpenBlock {
    const block = this.#blockOf(item, kind, part)
    if (text.length > block.length) {
      this.#parts.push({ type: `${block.type}-delta`, id: block.id, delta: text.slice(block.length) })
      block.length = text.length
    }
    return block
  }

  /** Sends the unsent rest of an item, and ends its blocks. */
  #finishItem(sent: SentItem, item: Item): void {
    if (sent.isFinished) return
    sent.isFinished = true
    if (item.type === 'message') this.#finishMessage(sent, item)
    else if (item.type === 'reasoning') this.#finishReasoning(sent, item)
    else if (item.type === 'native') this.#parts.push(encodeNative(item))
    else if (item.type === 'function_call') {
      const { call_id, name, status } = item
      // A call without arguments has nothing to parse; one that was cut off stays unchanged.
      const input = item.arguments === '' && status !== 'incomplete' ? '{}' : item.arguments
      this.#completeBlock(sent, 'arguments', 0, input)
      this.#hasCalls = true
      this.#parts.push({ type: 'tool-input-end', id: call_id }, { type: 'tool-call', toolCallId: call_id, toolName: name, input })
    }
  }

  #finishMessage(sent: SentItem, { content, phase }: MessageItem): void {
    for (const [number, part] of content.entries()) {
      if (part.type !== 'text' && part.type !== 'refusal') {
        this.#parts.push(encodeFilePart(part))
        continue
      }
      const kind = part.type
      const text = part.type === 'text' ? part.text : part.refusal
      // An empty response has no block.
      if (text === '' && !sent.blocks.has(blockKey(kind, number))) continue
      const { id } = this.#completeBlock(sent, kind, number, text)
      const { sources, citations } = encodeCitations((part.type === 'text' && part.annotations) || [], this.#sources)
      this.#sources += sources.length
      this.#parts.push(...sources, {
        type: 'text-end',
        id,
        citations: citations.length > 0 ? [...citations] : undefined,
        ...metadataOf({ ...startOf[kind], ...(phase && { phase }) }),
      })
    }
  }

  #finishReasoning(sent: SentItem, { summary, content = [], encrypted_content: state }: ReasoningItem): void {
    const texts = [
      ...summary.map((text, part) => ({ kind: 'summary' as const, part, text })),
      ...content.map((text, part) => ({ kind: 'reasoning' as const, part, text })),
    ].filter(({ kind, part, text }) => text !== '' || sent.blocks.has(blockKey(kind, part)))
    // State without text must still come back with the next turn.
    if (texts.length === 0 && state !== undefined) texts.push({ kind: 'summary', part: 0, text: '' })
    for (const [index, { text, kind, part }] of texts.entries()) {
      const { id } = this.#completeBlock(sent, kind, part, text)
      const hasState = index === texts.length - 1 && state !== undefined
      this.#parts.push({
        type: 'reasoning-end',
        id,
        ...metadataOf({ ...startOf[kind], ...itemIdOf(sent), ...(hasState && { state }) }),
      })
    }
  }
}
