import type { EventEncoder, Stamp } from '../../protocol/dialect.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import { isObject } from '../../protocol/wire.ts'
import { requestIdOf } from '../ids.ts'
import { type BlockWriter, createBlockWriter, type FrameBuffer, writeFrame } from './block-writer.ts'
import { encodeFailure } from './encode-error.ts'
import { encodeUsage, gatewayFields, isRefusal, messageHead, passthroughFields, stopFields } from './encode-response.ts'
import { createItemQueue, type ItemEvent, type ItemQueue, type QueuedItem } from './item-queue.ts'
import { createItemWriter, isEncodable } from './item-writers.ts'
import { dialect, originalBody } from './wire.ts'

interface EncoderState {
  readonly request: InferenceRequest
  readonly stamp: () => Stamp
  readonly output: FrameBuffer
  readonly blocks: BlockWriter
  readonly queue: ItemQueue
  phase: 'new' | 'started' | 'ended'
  hasRefusal: boolean
  hasCall: boolean
}

type EventOf<T extends InferenceEvent['type']> = Extract<InferenceEvent, { type: T }>

export function encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder {
  const output: FrameBuffer = { frames: [] }
  const state: EncoderState = {
    request,
    stamp,
    output,
    blocks: createBlockWriter(output),
    queue: createItemQueue(),
    phase: 'new',
    hasRefusal: false,
    hasCall: false,
  }
  return {
    write(events) {
      for (const event of events) encodeEvent(state, event)
      const { frames } = output
      output.frames = []
      return frames
    },
  }
}

function encodeEvent(state: EncoderState, event: InferenceEvent): void {
  if (state.phase === 'ended') return
  // A failure may be the first event: then no message starts.
  if (state.phase === 'new' && !isFailure(event)) startMessage(state, event)
  handlers[event.type](state, event as never)
}

const isFailure = (event: InferenceEvent): boolean => event.type === 'finished' && event.outcome.status === 'failed'

const handlers: { readonly [T in InferenceEvent['type']]: (state: EncoderState, event: EventOf<T>) => void } = {
  started() {},
  item_started: startItem,
  delta: handleItemEvent,
  native: handleItemEvent,
  item_finished: handleItemEvent,
  finished: finishMessage,
}

function startMessage(state: EncoderState, event: InferenceEvent): void {
  state.phase = 'started'
  const original = event.type === 'started' ? originalBody(event) : undefined
  const message = {
    ...messageHead(state.stamp(), original),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: encodeUsage(undefined, original),
  }
  writeFrame(state.output, 'message_start', JSON.stringify({ type: 'message_start', message }))
}

function startItem(state: EncoderState, { index, item }: EventOf<'item_started'>): void {
  if (!isEncodable(item)) return
  state.queue.add({ index, item, writer: undefined, waiting: [] })
  writeNextItems(state)
}

/** Writes the first item in the queue as far as it is known, then the next if that one is finished. */
function writeNextItems(state: EncoderState): void {
  for (let first = state.queue.first(); first && !first.writer; first = state.queue.first()) {
    first.writer = createItemWriter(first.item, state.blocks)
    for (const event of first.waiting) writeItemEvent(state, first, event)
  }
}

function handleItemEvent(state: EncoderState, event: ItemEvent): void {
  const first = state.queue.first()
  if (!first || first.index !== event.index) {
    state.queue.find(event.index)?.waiting.push(event)
    return
  }
  writeItemEvent(state, first, event)
  if (event.type === 'item_finished') writeNextItems(state)
}

function writeItemEvent(state: EncoderState, { writer }: QueuedItem, event: ItemEvent): void {
  if (event.type === 'delta') {
    writer?.append(event.delta)
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

function finishMessage(state: EncoderState, event: EventOf<'finished'>): void {
  state.phase = 'ended'
  const { outcome, usage } = event
  const { output, request } = state
  const stamp = state.stamp()
  if (outcome.status === 'failed') {
    writeFrame(output, 'error', JSON.stringify(encodeFailure(outcome.error, request, requestIdOf(stamp))))
    return
  }
  finishOpenItems(state)
  const original = originalBody(event)
  const message = {
    ...(original && passthroughFields(original)),
    type: 'message_delta',
    delta: stopFields(outcome, state, original),
    usage: encodeUsage(usage, original),
    ...gatewayFields(stamp, request),
  }
  writeFrame(output, 'message_delta', JSON.stringify(message))
  writeFrame(output, 'message_stop', '{"type":"message_stop"}')
}

/** Closes the items that the stream left open, as far as they were written. */
function finishOpenItems(state: EncoderState): void {
  for (let first = state.queue.first(); first; first = state.queue.first()) {
    first.writer?.finish()
    state.queue.removeFirst()
    writeNextItems(state)
  }
}
