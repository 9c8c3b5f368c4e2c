import { requestIdOf } from '../common/ids.ts'
import { type EventOf, isFailure, StreamEncoder } from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { BlockWriter } from './block-writer.ts'
import { encodeGatewayFields, encodeMessageUsage, isRefusal, messageHead, passthroughFields, stopFields } from './encode-response.ts'
import { encodeFailure } from './errors.ts'
import { createItemWriter, type ItemWriter, isEncodable } from './item-writers.ts'
import { dialect, originalBody } from './wire.ts'

export const encodeEvents = (request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder =>
  new MessageEncoder(request, metadata)

type ItemEvent = Extract<InferenceEvent, { type: 'delta' | 'item_finished' | 'native' }>

interface QueuedItem {
  readonly index: number
  readonly item: Item
  /** Set once the item is first in the queue. */
  writer: ItemWriter | undefined
  readonly waiting: ItemEvent[]
}

const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const

/**
 * Encodes events as those of one message. Items may overlap, content blocks may not: the first open item is written, and events of the others
 * wait. Every operation takes constant time, regardless of the number of waiting items.
 */
class MessageEncoder extends StreamEncoder {
  readonly #request: InferenceRequest
  readonly #metadata: () => ResponseMetadata
  readonly #blocks = new BlockWriter(frame => this.emit(frame))
  #queue: QueuedItem[] = []
  /** The place of the first item in the queue. */
  #first = 0
  readonly #byIndex = new Map<number | undefined, QueuedItem>()
  #hasRefusal = false
  #hasCall = false

  constructor(request: InferenceRequest, metadata: () => ResponseMetadata) {
    super()
    this.#request = request
    this.#metadata = metadata
  }

  /** A failure may be the first event; no message is started then. */
  protected begin(event: InferenceEvent): boolean {
    if (isFailure(event)) return false
    const original = event.type === 'started' ? originalBody(event) : undefined
    const metadata = this.#metadata()
    const usage = encodeMessageUsage(undefined, original)
    // Some clients read input tokens only here, so the gateway's count is used until the provider reports one.
    const isCounted = inputCounts.some(field => Number(usage[field]) > 0)
    const estimate = isCounted ? undefined : metadata.estimated_input_tokens
    const message = {
      ...messageHead(metadata, original),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: estimate === undefined ? usage : { ...usage, input_tokens: estimate },
    }
    this.#send({ type: 'message_start', message })
    return true
  }

  protected encode(event: InferenceEvent): void {
    switch (event.type) {
      case 'item_started':
        if (isEncodable(event.item)) this.#enqueue({ index: event.index, item: event.item, writer: undefined, waiting: [] })
        break
      case 'delta':
      case 'native':
      case 'item_finished': {
        const first = this.#queue[this.#first]
        if (first?.index !== event.index) this.#byIndex.get(event.index)?.waiting.push(event)
        else if (first) {
          this.#writeEvent(first, event)
          if (event.type === 'item_finished') this.#writeNextItems()
        }
        break
      }
      case 'finished':
        this.#finish(event)
    }
  }

  #enqueue(item: QueuedItem): void {
    this.#queue.push(item)
    if (!this.#byIndex.has(item.index)) this.#byIndex.set(item.index, item)
    this.#writeNextItems()
  }

  #removeFirst(removed: QueuedItem): void {
    this.#first += 1
    if (this.#byIndex.get(removed.index) === removed) this.#byIndex.delete(removed.index)
    if (this.#first < this.#queue.length) return
    this.#queue = []
    this.#first = 0
  }

  /** Writes what is known of the first item in the queue, then of the next one if it is finished. */
  #writeNextItems(): void {
    for (let first = this.#queue[this.#first]; first && !first.writer; first = this.#queue[this.#first]) {
      first.writer = createItemWriter(first.item, this.#blocks)
      for (const event of first.waiting) this.#writeEvent(first, event)
    }
  }

  #writeEvent(queued: QueuedItem, event: ItemEvent): void {
    const { writer } = queued
    if (event.type === 'delta') writer?.append(event)
    else if (event.type === 'item_finished') {
      writer?.finish(event.item)
      this.#hasCall ||= event.item.type === 'function_call'
      this.#hasRefusal ||= isRefusal(event.item)
      this.#removeFirst(queued)
    } else if (event.dialect === dialect && isObject(event.body.delta)) writer?.addNative?.(event.body.delta)
  }

  #finish(event: EventOf<'finished'>): void {
    const { outcome, usage } = event
    const metadata = this.#metadata()
    if (outcome.status === 'failed') {
      this.#send(encodeFailure(outcome.error, this.#request, requestIdOf(metadata)))
      return
    }
    // Items that the stream left open.
    for (let first = this.#queue[this.#first]; first; first = this.#queue[this.#first]) {
      first.writer?.finish()
      this.#removeFirst(first)
      this.#writeNextItems()
    }
    const original = originalBody(event)
    this.#send({
      ...(original && passthroughFields(original)),
      type: 'message_delta',
      delta: stopFields(outcome, { hasRefusal: this.#hasRefusal, hasCall: this.#hasCall }, original),
      usage: encodeMessageUsage(usage, original),
      ...encodeGatewayFields(metadata, this.#request),
    })
    this.#send({ type: 'message_stop' })
  }

  #send(message: JsonObject & { readonly type: string }): void {
    this.emit({ event: message.type, data: JSON.stringify(message) })
  }
}
