import { requestIdOf } from '../common/ids.ts'
import {
  type EncoderState,
  type EventHandlers,
  type EventOf,
  emitFrame,
  isFailure,
  noFrames,
  streamEncoder,
} from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import type { BlockOutput } from './block-writer.ts'
import { encodeGatewayFields, encodeMessageUsage, isRefusal, messageHead, passthroughFields, stopFields } from './encode-response.ts'
import { encodeFailure } from './errors.ts'
import { createItemWriter, type ItemWriter, isEncodable } from './item-writers.ts'
import { dialect, originalBody } from './wire.ts'

interface MessageState extends EncoderState, BlockOutput {
  readonly request: InferenceRequest
  readonly metadata: () => ResponseMetadata
  readonly queue: ItemQueue
  hasRefusal: boolean
  hasCall: boolean
}

const handlers: EventHandlers<MessageState> = {
  begin: startMessage,
  item_started: startItem,
  delta: handleItemEvent,
  native: handleItemEvent,
  item_finished: handleItemEvent,
  finished: finishMessage,
}

export const encodeEvents = (request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder =>
  streamEncoder<MessageState>(
    {
      frames: noFrames,
      phase: 'new',
      blockIndex: 0,
      isBlockOpen: false,
      deltaPrefix: '',
      request,
      metadata,
      queue: createItemQueue(),
      hasRefusal: false,
      hasCall: false,
    },
    handlers,
  )

type ItemEvent = Extract<InferenceEvent, { type: 'delta' | 'item_finished' | 'native' }>

interface QueuedItem {
  readonly index: number
  readonly item: Item
  /** Set once the item is first in the queue. */
  writer: ItemWriter | undefined
  readonly waiting: ItemEvent[]
}

/**
 * A FIFO queue. Items may overlap, content blocks may not: the first open item is written, and events of the others wait. Every operation
 * takes constant time, regardless of the number of waiting items.
 */
interface ItemQueue {
  add(item: QueuedItem): void
  first(): QueuedItem | undefined
  removeFirst(): void
  find(index: number | undefined): QueuedItem | undefined
}

function createItemQueue(): ItemQueue {
  let items: QueuedItem[] = []
  let position = 0
  const byIndex = new Map<number | undefined, QueuedItem>()
  return {
    add(item) {
      items.push(item)
      if (!byIndex.has(item.index)) byIndex.set(item.index, item)
    },
    first: () => items[position],
    removeFirst() {
      const removed = items[position]
      position += 1
      if (removed && byIndex.get(removed.index) === removed) byIndex.delete(removed.index)
      if (position === items.length) {
        items = []
        position = 0
      }
    },
    find: index => byIndex.get(index),
  }
}

function writeMessage(state: MessageState, message: JsonObject & { readonly type: string }): void {
  emitFrame(state, { event: message.type, data: JSON.stringify(message) })
}

function startMessage(state: MessageState, event: InferenceEvent): void {
  // A failure may be the first event; no message is started then.
  if (isFailure(event)) return
  state.phase = 'started'
  const original = event.type === 'started' ? originalBody(event) : undefined
  const metadata = state.metadata()
  const message = {
    ...messageHead(metadata, original),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: startUsage(metadata, original),
  }
  writeMessage(state, { type: 'message_start', message })
}

/** Usage at the start. Some clients read input tokens only here, so the gateway's count is used until the provider reports one. */
function startUsage({ estimated_input_tokens: estimate }: ResponseMetadata, original: JsonObject | undefined): JsonObject {
  const usage = encodeMessageUsage(undefined, original)
  const isNamed = inputCounts.some(field => isPositive(usage[field]))
  return isNamed || estimate === undefined ? usage : { ...usage, input_tokens: estimate }
}

const isPositive = (count: Json | undefined): boolean => typeof count === 'number' && count > 0
const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const

function startItem(state: MessageState, { index, item }: EventOf<'item_started'>): void {
  if (!isEncodable(item)) return
  state.queue.add({ index, item, writer: undefined, waiting: [] })
  writeNextItems(state)
}

/** Writes what is known of the first item in the queue, then of the next one if it is finished. */
function writeNextItems(state: MessageState): void {
  for (let first = state.queue.first(); first && !first.writer; first = state.queue.first()) {
    first.writer = createItemWriter(first.item, state)
    for (const event of first.waiting) writeItemEvent(state, first, event)
  }
}

function handleItemEvent(state: MessageState, event: ItemEvent): void {
  const first = state.queue.first()
  if (!first || first.index !== event.index) {
    state.queue.find(event.index)?.waiting.push(event)
    return
  }
  writeItemEvent(state, first, event)
  if (event.type === 'item_finished') writeNextItems(state)
}

function writeItemEvent(state: MessageState, { writer }: QueuedItem, event: ItemEvent): void {
  if (event.type === 'delta') {
    writer?.append(event)
    return
  }
  if (event.type === 'native') {
    if (event.dialect === dialect && isObject(event.body.delta)) writer?.addNative?.(event.body.delta)
    return
  }
  writer?.finish(event.item)
  state.hasCall ||= event.item.type === 'function_call'
  state.hasRefusal ||= isRefusal(event.item)
  state.queue.removeFirst()
}

function finishMessage(state: MessageState, event: EventOf<'finished'>): void {
  const { outcome, usage } = event
  const { request } = state
  const metadata = state.metadata()
  if (outcome.status === 'failed') {
    writeMessage(state, encodeFailure(outcome.error, request, requestIdOf(metadata)))
    return
  }
  finishOpenItems(state)
  const original = originalBody(event)
  writeMessage(state, {
    ...(original && passthroughFields(original)),
    type: 'message_delta',
    delta: stopFields(outcome, state, original),
    usage: encodeMessageUsage(usage, original),
    ...encodeGatewayFields(metadata, request),
  })
  writeMessage(state, { type: 'message_stop' })
}

/** Closes the items that the stream left open. */
function finishOpenItems(state: MessageState): void {
  for (let first = state.queue.first(); first; first = state.queue.first()) {
    first.writer?.finish()
    state.queue.removeFirst()
    writeNextItems(state)
  }
}
