import { failed, invalidJson, namelessCall, truncated } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { ItemAssembler } from '../common/item-assembler.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type FrameDecoder, StreamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { Item } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import {
  Block,
  BlockItem,
  blockKind,
  citedAddress,
  inferredBlocks,
  isMessagePart,
  nativeItem,
  textDeltas,
  textPart,
} from './content-blocks.ts'
import { errorIn, secondMessage } from './errors.ts'
import { decodeUsage, dialect, outcomeOf, readHead, refusalText } from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder => new StreamDecoder(new MessageDecoder(mapping), deltaFrames)

/** The text of other events is that of a whole block, even if they have a delta. */
const deltaFrames: DeltaFrames = {
  textOf: ({ type, delta }) => (type === 'content_block_delta' ? onlyText(delta, ['text', 'thinking', 'partial_json']) : undefined),
  varying: [],
}

/**
 * Decodes one message, whole or in events. Adjacent message parts form one message; any other block is an item. An item is finished when the
 * next one starts or the response ends, because only then is it known whether it was cut off.
 */
export class MessageDecoder implements FrameDecoder {
  readonly items: ItemAssembler<BlockItem>
  /** The fields of the message so far, without its content. */
  #message: GatheredFields | undefined = undefined
  #usage: GatheredFields = gatherFields({})
  /** False while only `message_start` has sent counts, which do not cover the response. */
  #hasFinalUsage = false
  /** Blocks by their index in the stream. */
  #blocks = new Map<number, Block>()
  #lastBlock: Block | undefined = undefined
  #lastItem: BlockItem | undefined = undefined
  /** Complete blocks, as in a whole response. */
  #content: JsonObject[] = []

  constructor(mapping?: ResponseMapping) {
    this.items = new ItemAssembler(mapping)
  }

  decodeFrame(frame: Frame): void {
    const body = readFrame(frame)
    if (body === 'broken') this.finish(invalidJson)
    else if (body !== 'nothing' && body !== 'done') this.#decodeEvent(eventName(body, frame), body)
  }

  #decodeEvent(name: string, body: JsonObject): void {
    const { items } = this
    const { index, delta } = body
    // Only the usage counts after the stop reason.
    const isSettled = items.outcome !== undefined
    switch (name) {
      case 'content_block_delta': {
        if (isSettled || !isObject(delta)) return
        const block = this.#openBlock(index) ?? this.#inferBlock(delta, index)
        if (!block) break
        const { type, field } = textDeltas[block.kind]
        if (delta.type === type) this.#append(block, stringOf(delta[field]))
        else block.add(delta)
        break
      }
      case 'content_block_start':
        if (!isSettled && isObject(body.content_block)) this.#startBlock(body.content_block, index)
        break
      case 'content_block_stop': {
        const block = isSettled ? undefined : this.#openBlock(index)
        if (block) this.#finishBlock(block)
        break
      }
      case 'message_start':
        if (isSettled) return
        if (items.count > 0) this.finish(secondMessage)
        else this.startMessage(isObject(body.message) ? body.message : {})
        break
      case 'message_delta':
        this.#addToMessage(body)
        break
      case 'message_stop': {
        const reason = this.#message?.fields.stop_reason
        const hasReason = typeof reason === 'string'
        this.#hasFinalUsage ||= hasReason
        this.finish(hasReason || items.count > 0 || items.open.size > 0 ? outcomeOf(stringOf(reason)) : truncated)
        break
      }
      case 'error': {
        const error = isSettled ? undefined : errorIn({ ...body, type: 'error' })
        if (error) this.finish(failed(error))
      }
    }
    if (items.fault && !items.isFinished) this.finish(items.fault)
  }

  startMessage(message: JsonObject): void {
    this.items.open.clear()
    this.#lastItem = undefined
    this.#content = []
    this.#blocks = new Map()
    this.#lastBlock = undefined
    this.#message = gatherFields(message)
    this.#usage = gatherFields(isObject(message.usage) ? message.usage : {})
    this.items.start(readHead(message), { dialect, body: message }, decodeUsage(message.usage, true))
  }

  #addToMessage({ type, delta, usage, ...rest }: JsonObject): void {
    const fields = isObject(delta) ? withoutNulls(delta) : {}
    this.#message ??= gatherFields({})
    addFields(this.#message, rest)
    addFields(this.#message, fields)
    if (isObject(usage)) {
      addFields(this.#usage, withoutNulls(usage))
      this.#hasFinalUsage = true
    }
    if (typeof fields.stop_reason === 'string') this.settle(outcomeOf(fields.stop_reason))
  }

  /** Adds a block that is complete. */
  addBlock(wire: JsonObject): void {
    const block = this.#startBlock(wire)
    if (block) this.#finishBlock(block)
  }

  /** Starts a block; undefined for a call without a name, which makes the response fail. */
  #startBlock(wire: JsonObject, index?: Json): Block | undefined {
    const { items } = this
    const kind = blockKind(wire, items.mapping)
    const name = items.toolName(stringOf(wire.name))
    if (kind === 'call' && name === '') {
      items.fault ??= namelessCall
      return undefined
    }
    let item = this.#lastItem
    if (!item || item.isFinished || !isMessagePart(item.kind) || !isMessagePart(kind)) {
      const call = kind === 'call' ? this.#call(wire, name) : undefined
      item = items.begin(new BlockItem(kind, call), true)
      this.#lastItem = item
    }
    items.setWhole(item, false)
    const block = new Block(item, kind, wire)
    this.#append(block, block.initialText)
    this.#lastBlock = block
    if (isIndex(index)) this.#blocks.set(index, block)
    return block
  }

  #call(wire: JsonObject, name: string): Item {
    const call: Item = { type: 'function_call', call_id: this.items.callId(stringOf(wire.id), name), name, arguments: '' }
    return remember(call, typeof wire.input === 'string' ? undefined : { dialect, body: wire })
  }

  /** The open block of an event. If that block is complete, a new one has started without a start event. */
  #openBlock(index: Json | undefined): Block | undefined {
    const block = isIndex(index) ? this.#blocks.get(index) : this.#lastBlock
    return block?.complete ? undefined : block
  }

  #inferBlock({ type }: JsonObject, index: Json | undefined): Block | undefined {
    const wire = inferredBlocks.get(stringOf(type))
    return wire && this.#startBlock(wire, index)
  }

  #append(block: Block, text: string): void {
    if (text === '') return
    const { emits: kind } = textDeltas[block.kind]
    if (kind === undefined) block.text.append(text)
    else {
      this.items.announce(block.item)
      this.items.text(block.item, { kind, part: block.part, text })
    }
  }

  /** Completes a block, and emits what no delta contained. */
  #finishBlock(block: Block, isCut = false): void {
    if (block.complete) return
    const { items } = this
    const { item, kind, part } = block
    const input = isCut ? '' : block.wholeInput
    const complete = block.finish(isCut)
    this.#content.push(complete)
    this.#append(block, input)
    if (kind === 'native') item.item = nativeItem(block.wire.fields)
    items.announce(item)
    if (kind === 'text') {
      for (const annotation of textPart(complete).annotations ?? []) items.cite(item, part, annotation)
      for (const citation of block.citations) {
        // A citation of a client document, which only this dialect can express.
        const event = { type: 'content_block_delta', delta: { type: 'citations_delta', citation } }
        if (citedAddress(citation) === undefined)
          items.emit({ type: 'native', dialect, name: event.type, index: item.index, body: event, preamble: false })
      }
      for (const citation of objects(complete.citations))
        if (citedAddress(citation) === undefined) items.noteUnmodeled(stringOf(citation.type))
    }
    if (item.openBlocks > 0) return
    // An item that is not the last one gets no more blocks.
    if (item === this.#lastItem) items.setWhole(item)
    else if (!isCut) items.finish(item)
  }

  /** Decides the outcome and finishes all items. The message may explain a refusal. */
  settle(outcome: Outcome): void {
    const { items } = this
    if (items.outcome) return
    const fields = this.#message?.fields ?? {}
    // Some servers send the whole content in `message_start`.
    if (items.count === 0 && items.open.size === 0 && outcome.status !== 'failed')
      for (const wire of objects(fields.content)) this.addBlock(wire)
    const settled = items.fault ?? outcome
    const refusal = refusalText(settled, fields)
    for (const { blocks } of items.open) for (const block of blocks) this.#finishBlock(block, settled.status !== 'completed')
    if (refusal !== '') {
      const last = this.#lastItem
      const item = last && !last.isFinished && isMessagePart(last.kind) ? last : items.begin(new BlockItem('text'))
      item.refusal = refusal
      items.text(item, { kind: 'refusal', part: item.blocks.length, text: refusal })
    }
    items.settle(settled)
  }

  finish(outcome: Outcome): void {
    const { items } = this
    this.settle(outcome)
    const usage = this.#hasFinalUsage ? decodeUsage(this.#usage.fields, items.count > 0) : undefined
    const message = this.#message && { ...this.#message.fields, content: this.#content, usage: this.#usage.fields }
    items.end(usage, message && { dialect, body: message })
  }
}

/** The event name. The type may be in the frame only, and an error may have no type. */
const eventName = ({ type, error }: JsonObject, { event }: Frame): string => {
  if (typeof type === 'string') return type
  return error === undefined || error === null ? (event ?? '') : 'error'
}

const isIndex = (value: Json | undefined): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** Removes nulls, so that they never replace an earlier value. */
const withoutNulls = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
