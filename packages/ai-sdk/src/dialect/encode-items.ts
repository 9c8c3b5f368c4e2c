import type { LanguageModelV4Citation, LanguageModelV4Source } from '@ai-sdk/provider'
import type { Delta, Item, JsonObject, MessageItem, Native, Part, ReasoningItem } from '@signalbox/dialects/protocol'
import type { ItemProgress, OpenBlock, PartEncoder } from './part-encoder.ts'
import { metadataOf, type PartMetadata, type StreamPart } from './wire.ts'

// Encodes items as blocks of text, reasoning and tool input, calls, files and custom parts.

export function openItem(encoder: PartEncoder, index: number, item: Item): ItemProgress {
  const known = encoder.items.get(index)
  if (known) return known
  const itemId = item.type === 'reasoning' ? encoder.metadata().itemId('rs') : undefined
  const started: ItemProgress = { itemId, blocks: new Map(), isFinished: false }
  encoder.items.set(index, started)
  if (item.type === 'function_call') {
    const { call_id: id, name: toolName } = item
    started.blocks.set(blockKey('arguments', 0), { id, type: 'tool-input', length: 0 })
    encoder.parts.push({ type: 'tool-input-start', id, toolName })
  }
  return started
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

interface BlockPlace {
  readonly index: number
  readonly kind: TextKind
  readonly part: number
}

/** The block of a text, started if new. */
function blockOf(encoder: PartEncoder, item: ItemProgress, { index, kind, part }: BlockPlace): OpenBlock {
  const key = blockKey(kind, part)
  const known = item.blocks.get(key)
  if (known) return known
  const type = kind === 'summary' || kind === 'reasoning' ? 'reasoning' : 'text'
  const block: OpenBlock = { id: `${index}-${key}`, type, length: 0 }
  item.blocks.set(key, block)
  if (kind === 'refusal') encoder.hasRefusal = true
  encoder.parts.push({ type: `${type}-start`, id: block.id, ...metadataOf({ ...startOf[kind], ...itemIdOf(item) }) })
  return block
}

const itemIdOf = ({ itemId }: ItemProgress): PartMetadata => (itemId === undefined ? {} : { itemId })

/** Sends the unsent rest of a block's text. */
function sendRest(encoder: PartEncoder, block: OpenBlock, text: string): void {
  if (text.length <= block.length) return
  encoder.parts.push({ type: `${block.type}-delta`, id: block.id, delta: text.slice(block.length) })
  block.length = text.length
}

export function encodeDelta(encoder: PartEncoder, index: number, delta: Delta): void {
  const item = encoder.items.get(index)
  // Citations are sent at the end of their text.
  if (!item || item.isFinished || delta.kind === 'annotation' || delta.text === '') return
  const block = blockOf(encoder, item, { index, kind: delta.kind, part: delta.part })
  encoder.parts.push({ type: `${block.type}-delta`, id: block.id, delta: delta.text })
  block.length += delta.text.length
}

/** Sends the unsent rest of an item, and ends its blocks. */
export function writeItem(encoder: PartEncoder, index: number, item: Item): void {
  const sent = openItem(encoder, index, item)
  if (sent.isFinished) return
  sent.isFinished = true
  if (item.type === 'message') writeMessage(encoder, sent, { index, item })
  else if (item.type === 'reasoning') writeReasoning(encoder, sent, { index, item })
  else if (item.type === 'native') encoder.parts.push(encodeNative(item))
  else if (item.type === 'function_call') {
    const { call_id, name, status } = item
    // A call without arguments has nothing to parse; one that was cut off stays unchanged.
    const input = item.arguments === '' && status !== 'incomplete' ? '{}' : item.arguments
    const block = blockOf(encoder, sent, { index, kind: 'arguments', part: 0 })
    sendRest(encoder, block, input)
    encoder.hasCalls = true
    encoder.parts.push({ type: 'tool-input-end', id: call_id }, { type: 'tool-call', toolCallId: call_id, toolName: name, input })
  }
}

interface FinishedItem<T extends Item> {
  readonly index: number
  readonly item: T
}

function writeMessage(encoder: PartEncoder, sent: ItemProgress, { index, item }: FinishedItem<MessageItem>): void {
  for (const [part, content] of item.content.entries()) {
    if (content.type === 'text' || content.type === 'refusal') {
      const kind = content.type
      const text = content.type === 'text' ? content.text : content.refusal
      // An empty response has no block.
      if (text === '' && !sent.blocks.has(blockKey(kind, part))) continue
      const block = blockOf(encoder, sent, { index, kind, part })
      sendRest(encoder, block, text)
      const { sources, citations } = encodeCitations(content.type === 'text' ? content.annotations : undefined, encoder.sources)
      encoder.sources += sources.length
      encoder.parts.push(...sources, {
        type: 'text-end',
        id: block.id,
        ...(citations.length > 0 && { citations: [...citations] }),
        ...metadataOf({ ...startOf[kind], ...(item.phase && { phase: item.phase }) }),
      })
    } else encoder.parts.push(encodeFilePart(content))
  }
}

interface EncodedCitations {
  readonly sources: readonly LanguageModelV4Source[]
  readonly citations: readonly LanguageModelV4Citation[]
}

/** Encodes the annotations of a text as sources, each once, and as citations of its passages. `before`: sources of the response so far. */
function encodeCitations(annotations: readonly JsonObject[] = [], before: number): EncodedCitations {
  const sources = new Map<string, LanguageModelV4Source>()
  const citations = annotations.flatMap((annotation): readonly LanguageModelV4Citation[] => {
    const source = citedSource(annotation, `source-${before + sources.size}`)
    if (!source) return []
    const key = source.sourceType === 'url' ? source.url : `${source.title} ${source.filename}`
    const known = sources.get(key) ?? source
    sources.set(key, known)
    const { start_index, end_index, cited_text } = annotation
    return [
      {
        source: known,
        ...(typeof start_index === 'number' && { startIndex: start_index }),
        ...(typeof end_index === 'number' && { endIndex: end_index }),
        ...(typeof cited_text === 'string' && { citedText: cited_text }),
      },
    ]
  })
  return { sources: [...sources.values()], citations }
}

function citedSource(annotation: JsonObject, id: string): LanguageModelV4Source | undefined {
  const { url, title, document_title, filename, file_id } = annotation
  if (typeof url === 'string') return { type: 'source', sourceType: 'url', id, url, ...(typeof title === 'string' && { title }) }
  const name = [filename, title, document_title, file_id].find(value => typeof value === 'string')
  if (typeof name !== 'string') return undefined
  return {
    type: 'source',
    sourceType: 'document',
    id,
    mediaType: 'text/plain',
    title: name,
    ...(typeof filename === 'string' && { filename }),
  }
}

function writeReasoning(encoder: PartEncoder, sent: ItemProgress, { index, item }: FinishedItem<ReasoningItem>): void {
  const texts = [
    ...item.summary.map((text, part) => ({ kind: 'summary' as const, part, text })),
    ...(item.content ?? []).map((text, part) => ({ kind: 'reasoning' as const, part, text })),
  ].filter(({ kind, part, text }) => text !== '' || sent.blocks.has(blockKey(kind, part)))
  const { encrypted_content: state } = item
  // State without text must still come back with the next turn.
  if (texts.length === 0 && state !== undefined) texts.push({ kind: 'summary', part: 0, text: '' })
  for (const [at, { text, ...place }] of texts.entries()) {
    const block = blockOf(encoder, sent, { index, ...place })
    sendRest(encoder, block, text)
    const isLast = at === texts.length - 1
    encoder.parts.push({
      type: 'reasoning-end',
      id: block.id,
      ...metadataOf({ ...startOf[place.kind], ...itemIdOf(sent), ...(isLast && state !== undefined && { state }) }),
    })
  }
}

type AnyPart = Extract<StreamPart, { type: 'file' | 'custom' }>

/** Encodes a non-text part of a message. */
function encodeFilePart(part: Exclude<Part, { type: 'text' | 'refusal' }>): AnyPart {
  if (part.type === 'native') return encodeNative(part)
  if (part.type === 'audio') return { type: 'file', mediaType: `audio/${part.format}`, data: { type: 'data', data: part.data } }
  return fileOf(part.url, part.type === 'image' ? 'image/png' : 'application/octet-stream')
}

function fileOf(url: string, usual: string): AnyPart {
  const [, mediaType = usual, data] = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(url) ?? []
  return { type: 'file', mediaType, data: data === undefined ? { type: 'url', url: new URL(url) } : { type: 'data', data } }
}

/** A generated image becomes a file. Any other item without its own type becomes a custom part, which can be sent back with the next turn. */
function encodeNative({ dialect, body }: Native): AnyPart {
  const { type, result } = body
  if (type === 'image_generation_call' && typeof result === 'string' && result !== '')
    return { type: 'file', mediaType: imageTypeOf(body), data: { type: 'data', data: result } }
  return { type: 'custom', kind: `gateway.${typeof type === 'string' ? type : 'item'}`, ...metadataOf({ item: { dialect, body } }) }
}

const imageTypeOf = ({ output_format: format }: JsonObject): string => `image/${typeof format === 'string' ? format : 'png'}`
