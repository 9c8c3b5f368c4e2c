import { failed, namelessCall } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { failureFrom } from '../common/failure.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import { ItemAssembler, messageShell, OpenItem, reasoningShell } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type FrameDecoder, StreamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { Item, ItemStatus } from '../protocol/item.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { annotationOf } from './citations.ts'
import { errorDetails, invalidJson } from './errors.ts'
import { encodeReasoningState } from './reasoning-state.ts'
import { decodeUsage, inputText, outcomeOf } from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder => new StreamDecoder(new ConverseDecoder(mapping), deltaFrames)

/** `p` hides the length of a frame. */
const deltaFrames: DeltaFrames = { textOf: ({ delta }) => onlyText(delta, ['text']), varying: ['p'] }

/** Names of events that end a stream with an error. */
const errorEvent = /(exception|error)$/i
/** A transport error, whose code is in the body. */
const transportError = 'error'

/** Fields of blocks, block starts and deltas that are decoded. */
const knownFields: ReadonlySet<string> = new Set(['text', 'toolUse', 'reasoningContent', 'citationsContent', 'citation', 'cachePoint'])

/** A message of adjacent texts, a block of reasoning, or a call. `answer`: a call of the tool whose arguments are the response text. */
class BlockItem extends OpenItem {
  readonly kind: 'text' | 'answer' | 'reasoning' | 'call'
  /** The id of a call, as the provider sent it. */
  readonly sentId: string
  /** The index of the latest block of a message, and the part that its text extends. */
  block: number
  partNumber = 0
  signature = ''
  redacted = ''
  /** A block that is cut off by the token limit is stopped too, so its item is not known to be complete until the next one starts. */
  isStopped = false

  constructor(kind: BlockItem['kind'], item: Item, block: number, sentId = '') {
    super(item)
    this.kind = kind
    this.block = block
    this.sentId = sentId
    // A message without text still has one part.
    if (item.type === 'message') this.part('text', 0)
    if (kind === 'answer') this.jsonKind = 'text'
  }

  override get isComplete(): boolean {
    if (this.kind !== 'call' || !this.isStopped) return false
    try {
      JSON.parse(this.textOf('arguments'))
      return true
    } catch {
      return false
    }
  }

  override complete(status: ItemStatus): Item {
    if (this.kind !== 'reasoning') return super.complete(status)
    const { signature, redacted } = this
    const { summary } = this.reasoning()
    const encrypted_content = encodeReasoningState({ text: summary.join(''), signature, redacted })
    return { type: 'reasoning', summary, encrypted_content, redacted: redacted !== '' || undefined }
  }
}

/**
 * Decodes one response, whole or in events. Adjacent texts form one message; each block of reasoning and each call is an item. Only calls
 * have a start event; text or reasoning starts with its first delta. The head of a response is not sent.
 */
export class ConverseDecoder implements FrameDecoder {
  readonly items: ItemAssembler<BlockItem>
  /** The message that text is added to. */
  #message: BlockItem | undefined = undefined
  /** By block index, except messages of plain text. */
  readonly #blocks = new Map<number, BlockItem>()
  /** Indexes of calls that the provider runs itself. */
  readonly #hosted = new Set<number>()
  /** The event with the usage, which comes before or after the stop reason. */
  #metadata: JsonObject = {}
  #hasMetadata = false
  /** Index of the latest block, for events without one. */
  #lastIndex = 0

  constructor(mapping?: ResponseMapping) {
    this.items = new ItemAssembler(mapping)
  }

  decodeFrame(frame: Frame): void {
    const { items } = this
    const { event = '' } = frame
    const body = readFrame(frame)
    if (errorEvent.test(event)) {
      const details = errorDetails(event === transportError ? '' : event, isObject(body) ? body : {})
      this.finish(failed(failureFrom(details)))
    } else if (body === 'broken') this.finish(invalidJson)
    else if (isObject(body)) this.#decodeEvent(event, body)
    if (items.outcome && this.#hasMetadata && !items.isFinished) this.finish(items.outcome)
  }

  #decodeEvent(event: string, body: JsonObject): void {
    if (event === 'metadata') {
      this.#hasMetadata = true
      if (body.usage) this.#metadata = body
    } else if (!this.items.outcome)
      switch (event) {
        case 'contentBlockDelta':
          if (isObject(body.delta)) this.#addContent(this.#indexOf(body), body.delta)
          break
        case 'contentBlockStart': {
          const index = this.#indexOf(body)
          if (!isObject(body.start)) break
          const { toolUse } = body.start
          this.#addOther(body.start)
          if (isObject(toolUse)) this.#startCall(index, toolUse)
          break
        }
        case 'contentBlockStop':
          this.#stopBlock(this.#indexOf(body))
          break
        case 'messageStop':
          this.items.settle(outcomeOf(stringOf(body.stopReason)))
      }
  }

  #indexOf({ contentBlockIndex: index }: JsonObject): number {
    if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) this.#lastIndex = index
    return this.#lastIndex
  }

  /** Adds a block that is complete. */
  addBlock(index: number, block: JsonObject): void {
    const { toolUse, reasoningContent: reasoning } = block
    if (isObject(toolUse)) this.#startCall(index, toolUse)
    const thinking = isObject(reasoning) ? reasoning.reasoningText : undefined
    this.#addContent(index, isObject(thinking) ? { ...block, reasoningContent: thinking } : block)
    this.#stopBlock(index)
  }

  /** Adds the content of a delta, or of a whole block. */
  #addContent(index: number, content: JsonObject): void {
    const { text, toolUse, citation, citationsContent: cited, reasoningContent: reasoning } = content
    if (typeof text === 'string') this.#addText(index, text)
    if (isObject(cited)) {
      for (const piece of objects(cited.content)) this.#addText(index, stringOf(piece.text))
      for (const each of objects(cited.citations)) this.#addCitation(each)
    }
    if (isObject(toolUse)) this.#addInput(index, inputText(toolUse))
    if (isObject(citation)) this.#addCitation(citation)
    this.#addOther(content)
    if (!isObject(reasoning)) return
    const thinking = stringOf(reasoning.text)
    const signature = stringOf(reasoning.signature)
    const redacted = stringOf(reasoning.redactedContent)
    if (thinking !== '') this.items.text(this.#reasoning(index, false), { kind: 'summary', part: 0, text: thinking })
    if (signature !== '') this.#reasoning(index, false).signature += signature
    if (redacted !== '') this.#reasoning(index, true).redacted += redacted
  }

  #addText(index: number, text: string): void {
    if (text === '') return
    const { items } = this
    if (!this.#message || this.#message.isFinished) {
      this.#message = items.begin(new BlockItem('text', messageShell, index))
      items.setWhole(this.#message)
    }
    const message = this.#message
    if (items.mapping.citesDocuments && message.block !== index) {
      message.block = index
      message.partNumber += 1
    }
    items.text(message, { kind: 'text', part: message.partNumber, text })
  }

  /** Adds a citation to the current part of the message. */
  #addCitation(citation: JsonObject): void {
    const message = this.#message?.isFinished ? undefined : this.#message
    const annotation = message && annotationOf(citation, message.part('text', message.partNumber).text.length)
    if (annotation) this.items.cite(message, message.partNumber, annotation)
    else this.items.noteUnmodeled('citation')
  }

  /** Handles other content: an image becomes an item, anything else is noted. */
  #addOther(content: JsonObject): void {
    for (const field in content) {
      if (knownFields.has(field)) continue
      const value: Json | undefined = content[field]
      const { format, source } = field === 'image' && isObject(value) ? value : {}
      const image = imageItem(`data:image/${stringOf(format)};base64,${isObject(source) ? stringOf(source.bytes) : ''}`)
      if (image) this.items.add(image, announcedImage)
      else this.items.noteUnmodeled(field)
    }
  }

  #startCall(index: number, { toolUseId, name: sentName, type }: JsonObject): void {
    const { items } = this
    const id = stringOf(toolUseId)
    const name = stringOf(sentName)
    if (type === 'server_tool_use') {
      this.#hosted.add(index)
      items.noteUnmodeled('server_tool_use')
      return
    }
    if (name === '') {
      items.fault ??= namelessCall
      return
    }
    const known = this.#blocks.get(index)
    if (known && !known.isFinished) {
      if (known.kind === 'call' && known.sentId === id && id !== '') return
      items.finish(known)
    }
    const block =
      name === items.mapping.answerTool
        ? new BlockItem('answer', messageShell, index, id)
        : new BlockItem(
            'call',
            { type: 'function_call', call_id: items.callId(id, name), name: items.toolName(name), arguments: '' },
            index,
            id,
          )
    this.#blocks.set(index, items.begin(block))
  }

  /** Adds a piece of a call's arguments. */
  #addInput(index: number, text: string | undefined): void {
    if (text === '' || this.#hosted.has(index)) return
    const { items } = this
    const block = this.#blocks.get(index)
    if (text === undefined) items.fault ??= invalidJson
    else if (!block || block.isFinished || block.kind === 'reasoning') items.fault ??= namelessCall
    else items.text(block, { kind: block.kind === 'call' ? 'arguments' : 'text', part: 0, text })
  }

  /** The open reasoning at an index. Readable and redacted content become separate items. */
  #reasoning(index: number, isRedacted: boolean): BlockItem {
    const known = this.#blocks.get(index)
    if (known && !known.isFinished) {
      const isReadable = known.signature !== '' || known.hasPart('summary', 0)
      if (known.kind === 'reasoning' && !known.isStopped && (isRedacted ? !isReadable : known.redacted === '')) return known
      this.items.finish(known)
    }
    const reasoning = this.items.begin(new BlockItem('reasoning', reasoningShell, index))
    this.#blocks.set(index, reasoning)
    return reasoning
  }

  #stopBlock(index: number): void {
    this.#hosted.delete(index)
    const block = this.#blocks.get(index)
    if (!block) return
    block.isStopped = true
    this.items.setWhole(block)
  }

  /** Ends the response. `metadata`: the body with the usage. */
  finish(outcome: Outcome, metadata: JsonObject = this.#metadata): void {
    this.items.settle(outcome)
    this.items.end(decodeUsage(metadata, this.items.count > 0))
  }
}
