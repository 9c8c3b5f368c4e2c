import { failed, invalidJson, namelessCall } from '../common/answer-failures.ts'
import type { DeltaFrames } from '../common/delta-template.ts'
import { callIdFor } from '../common/ids.ts'
import {
  announceItem,
  appendAnnotation,
  appendDelta,
  assembledItem,
  emitEvent,
  finishItem,
  hasPart,
  noEvents,
  noteUnmodeled,
  type PartialItem,
  type TextDelta,
} from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type StreamDecoderState, streamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item, ItemStatus } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { entryOf } from '../protocol/small-map.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { completeItem, completeText, mergedItem } from './complete-item.ts'
import { decodeOutcome, decodeOutputItem, type Head, headOf, usageOf } from './decode-response.ts'
import { failureOfEvent } from './errors.ts'
import {
  type AssumedType,
  addItem,
  findItem,
  findOrAddItem,
  type ItemRegistry,
  itemRegistry,
  matchItems,
  registerId,
} from './item-registry.ts'
import { dialect, hostedEvents, indexOf, type PartKind } from './wire.ts'

// Turns frames into events. Positions are trusted, ids and numbers are not: some providers change ids with every event, leave gaps in the
// numbering, or send events about an item that they never announced.

interface DecoderState extends StreamDecoderState {
  readonly items: ItemRegistry
  /** Undefined until the first call. */
  callIds: Set<string> | undefined
  readonly mapping: ResponseMapping
  head: Head
  isStarted: boolean
}

export function decodeEvents(mapping: ResponseMapping = {}): EventDecoder {
  const state: DecoderState = {
    events: noEvents,
    count: 0,
    unmodeled: undefined,
    extended: undefined,
    items: itemRegistry(),
    callIds: undefined,
    mapping,
    head: { id: '', model: '', created_at: 0 },
    isStarted: false,
    isFinished: false,
  }
  return streamDecoder(state, { decodeFrame, finish: finishStream, deltaFrames })
}

const deltaFrames: DeltaFrames = { textOf: deltaIn, varying: ['sequence_number', 'obfuscation'] }

function decodeFrame(decoder: DecoderState, frame: Frame): void {
  const read = readFrame(frame)
  const content = read === 'broken' ? (repairSnapshot(frame) ?? read) : read
  if (content === 'broken') finishStream(decoder, invalidJson)
  else if (content !== 'nothing' && content !== 'done') decodeEvent(decoder, unwrapEvent(content), frame)
}

function decodeEvent(decoder: DecoderState, body: JsonObject, frame: Frame): void {
  const name = eventNameOf(body, frame)
  const handle = handlers.get(name)
  if (handle) {
    if (!decoder.isStarted && !lifecycle.has(name)) startAnswer(decoder)
    handle(decoder, body, name)
  } else if (hostedEvents.has(name)) {
    startAnswer(decoder)
    if (hostedEvents.get(name)?.item === undefined) noteUnmodeled(decoder, 'audio')
    passOn(decoder, body, { name, partial: findItem(decoder.items, body.output_index, body.item_id) })
  }
}

/** The event name. An error may have no type, and a type may be in the frame only. */
const eventNameOf = (body: JsonObject, frame: Frame): string => {
  if (typeof body.type === 'string') return body.type
  return body.error !== undefined && body.error !== null ? 'error' : (frame.event ?? '')
}

/** Unwraps an event that some relays put into a field of their own object. */
function unwrapEvent(body: JsonObject): JsonObject {
  if (typeof body.type === 'string' && (body.type === 'error' || body.type.startsWith('response.'))) return body
  const inner = [body.data, body.value, body.payload, body.chunk, body.event].find(isObject)
  return inner && typeof inner.type === 'string' ? inner : body
}

/** What a delta event adds. The text of any other event is that of a whole part, even if it has a delta. */
function deltaIn(body: JsonObject): Json | undefined {
  const { type, delta } = unwrapEvent(body)
  return typeof type === 'string' && type.endsWith('.delta') ? delta : undefined
}

/** Repairs a snapshot without its last brace, which some providers omit. The response in it is complete, so nothing has to be guessed. */
function repairSnapshot({ data }: Frame): JsonObject | undefined {
  if (!/^\{"type":"response\.(created|completed|incomplete|failed)","response":/.test(data)) return undefined
  const content = readFrame({ data: `${data}}` })
  return isObject(content) && isObject(content.response) ? content : undefined
}

const deltaFields: ReadonlySet<string> = new Set([
  'type',
  'sequence_number',
  'item_id',
  'output_index',
  'content_index',
  'summary_index',
  'delta',
  'logprobs',
  'obfuscation',
])

/** Keeps the original of a delta with unknown fields, so that a client of the same dialect receives them. */
function rememberUnknownFields(event: InferenceEvent | undefined, body: JsonObject): void {
  if (!event) return
  for (const field in body) {
    if (deltaFields.has(field)) continue
    remember(event, { dialect, body })
    return
  }
}

type Handler = (decoder: DecoderState, body: JsonObject, name: string) => void

const onCreated: Handler = (decoder, { response }) => startAnswer(decoder, isObject(response) ? response : {})

const onItemAdded: Handler = (decoder, body) => {
  if (!isObject(body.item)) return
  const { items, mapping } = decoder
  const item = decodeOutputItem(body.item, mapping)
  const outputIndex = indexOf(body.output_index)
  const known = outputIndex === undefined ? undefined : entryOf(items.byPlace, outputIndex)
  announcePartial(decoder, known && !known.finished && known.item.type === item.type ? known : addItem(items, outputIndex, item), item)
}

const onItemDone: Handler = (decoder, body) => {
  if (!isObject(body.item)) return
  const { items, mapping } = decoder
  const item = decodeOutputItem(body.item, mapping)
  const known = findItem(items, body.output_index, body.item.id)
  const isSameType = known?.item.type === item.type
  if (known?.finished && isSameType) return
  finishPartial(decoder, known && isSameType ? known : addItem(items, indexOf(body.output_index), item), item)
}

/**
 * Makes the handler of events about a text part: `handle` receives its item, announced and open. For an item that is not decoded, the event
 * is passed through.
 */
const textHandler =
  (type: AssumedType, handle: (decoder: DecoderState, body: JsonObject, partial: PartialItem) => void): Handler =>
  (decoder, body, name) => {
    const partial = findOrAddItem(decoder.items, body, type)
    if (partial.item.type === 'native') passOn(decoder, body, { name, partial })
    else if (!partial.finished) {
      if (partial.index === undefined) announcePartial(decoder, partial)
      handle(decoder, body, partial)
    }
  }

const onTextDelta = (kind: PartKind, type: AssumedType): Handler =>
  textHandler(type, (decoder, body, partial) => {
    const part = partNumberOf(kind, body)
    const text = stringOf(body.delta)
    const logprobs = body.logprobs === undefined ? undefined : objects(body.logprobs)
    const delta: TextDelta = logprobs && logprobs.length > 0 ? { kind, part, text, logprobs } : { kind, part, text }
    rememberUnknownFields(appendDelta(decoder, partial, delta), body)
  })

const onTextDone = (kind: PartKind, type: AssumedType): Handler =>
  textHandler(type, (decoder, body, partial) => {
    const text = stringOf(kind === 'refusal' ? body.refusal : body.text)
    completeText(decoder, partial, { kind, part: partNumberOf(kind, body), text })
  })

const onArgumentsDelta: Handler = (decoder, body) => {
  const partial = findOrAddItem(decoder.items, body, 'function_call')
  if (!isOpen(partial)) return
  announcePartial(decoder, partial)
  rememberUnknownFields(appendDelta(decoder, partial, { kind: 'arguments', part: 0, text: stringOf(body.delta) }), body)
}

const onArgumentsDone: Handler = (decoder, body) => {
  const partial = findOrAddItem(decoder.items, body, 'function_call')
  const { item } = partial
  if (partial.finished || item.type !== 'function_call') return
  const name = stringOf(body.name)
  announcePartial(decoder, partial, { ...item, name: decoder.mapping.toolNames?.get(name) ?? name })
  completeText(decoder, partial, { kind: 'arguments', part: 0, text: stringOf(item.custom ? body.input : body.arguments) })
}

const onPart: Handler = (decoder, body, name) => {
  const { part } = body
  if (!isObject(part) || typeof part.type !== 'string') return
  const kind = name.startsWith('response.reasoning_summary') ? 'summary' : partKinds.get(part.type)
  const partial = findOrAddItem(decoder.items, body, kind === 'summary' || kind === 'reasoning' ? 'reasoning' : 'message')
  if (partial.finished) return
  announcePartial(decoder, partial)
  if (!kind || partial.item.type === 'native') {
    passOn(decoder, body, { name, partial })
    return
  }
  const number = partNumberOf(kind, body)
  const text = stringOf(kind === 'refusal' ? part.refusal : part.text)
  if (text === '' && !hasPart(partial, kind, number)) appendDelta(decoder, partial, { kind, part: number, text })
  completeText(decoder, partial, { kind, part: number, text })
}

const onAnnotation: Handler = (decoder, body) => {
  const partial = findOrAddItem(decoder.items, body, 'message')
  if (!isOpen(partial) || !isObject(body.annotation)) return
  announcePartial(decoder, partial)
  const part = partNumberOf('text', body)
  appendAnnotation(decoder, partial, { kind: 'annotation', part, annotation: body.annotation })
}

/** The last snapshot finishes whatever is open, and may contain items that were never streamed. */
const onTerminal: Handler = (decoder, body, name) => {
  const response = isObject(body.response) ? body.response : {}
  startAnswer(decoder, response)
  const status = terminals.has(`response.${stringOf(response.status)}`) ? response.status : terminals.get(name)
  const outcome = decodeOutcome({ error: body.error, ...response, status })
  const { items, mapping } = decoder
  const output = objects(response.output).map(item => decodeOutputItem(item, mapping))
  const streamed = matchItems([...items.all], output)
  for (const [at, item] of output.entries()) finishPartial(decoder, streamed[at] ?? addItem(items, undefined, item), item)
  finishStream(decoder, outcome, { response, usage: usageOf(response, { answered: items.all.length > 0, mapping }) })
}

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['response.output_text.delta', onTextDelta('text', 'message')],
  ['response.function_call_arguments.delta', onArgumentsDelta],
  ['response.reasoning_summary_text.delta', onTextDelta('summary', 'reasoning')],
  ['response.reasoning_text.delta', onTextDelta('reasoning', 'reasoning')],
  ['response.reasoning.delta', onTextDelta('reasoning', 'reasoning')],
  ['response.refusal.delta', onTextDelta('refusal', 'message')],
  ['response.output_text.done', onTextDone('text', 'message')],
  ['response.function_call_arguments.done', onArgumentsDone],
  ['response.custom_tool_call_input.delta', onArgumentsDelta],
  ['response.custom_tool_call_input.done', onArgumentsDone],
  ['response.reasoning_summary_text.done', onTextDone('summary', 'reasoning')],
  ['response.reasoning_text.done', onTextDone('reasoning', 'reasoning')],
  ['response.reasoning.done', onTextDone('reasoning', 'reasoning')],
  ['response.refusal.done', onTextDone('refusal', 'message')],
  ['response.content_part.added', onPart],
  ['response.content_part.done', onPart],
  ['response.reasoning_summary_part.added', onPart],
  ['response.reasoning_summary_part.done', onPart],
  ['response.output_text.annotation.added', onAnnotation],
  ['response.output_item.added', onItemAdded],
  ['response.output_item.done', onItemDone],
  ['response.created', onCreated],
  ['response.completed', onTerminal],
  ['response.incomplete', onTerminal],
  ['response.failed', onTerminal],
  ['error', (decoder, body) => finishStream(decoder, failed(failureOfEvent(body)))],
])

const terminals: ReadonlyMap<string, string> = new Map(['completed', 'incomplete', 'failed'].map(status => [`response.${status}`, status]))
/** Events that start or end the response themselves. */
const lifecycle: ReadonlySet<string> = new Set(['response.created', 'error', ...terminals.keys()])

const partKinds: ReadonlyMap<string, PartKind> = new Map<string, PartKind>([
  ['output_text', 'text'],
  ['text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'reasoning'],
  ['summary_text', 'summary'],
])

const partNumberOf = (kind: PartKind, body: JsonObject): number =>
  indexOf(kind === 'summary' ? body.summary_index : body.content_index) ?? 0

const isOpen = ({ finished, item }: PartialItem): boolean => !finished && item.type !== 'native'

function startAnswer(decoder: DecoderState, response: JsonObject = {}): void {
  if (decoder.isStarted) return
  decoder.isStarted = true
  decoder.head = headOf(response)
  emitEvent(decoder, remember({ type: 'started', ...decoder.head }, { dialect, body: response }))
}

/** Announces an item in its current state. A call is not announced before it has a name. */
function announcePartial(decoder: DecoderState, partial: PartialItem, item: Item = partial.item): void {
  if (partial.index !== undefined) return
  const { items } = decoder
  partial.item = item.type === 'function_call' && item.name !== '' ? withCallId(decoder, item) : item
  registerId(items, partial)
  if (partial.item.type !== 'function_call' || partial.item.name !== '') announceItem(decoder, partial)
}

function withCallId(decoder: DecoderState, call: FunctionCallItem): FunctionCallItem {
  decoder.callIds ??= new Set()
  const { callIds } = decoder
  const { id, created_at } = decoder.head
  const call_id = callIdFor(callIds, call.call_id, [id, created_at, callIds.size, call.name])
  return call_id === call.call_id ? call : { ...call, call_id }
}

/** Emits an event that is not decoded. */
function passOn(
  decoder: DecoderState,
  body: JsonObject,
  { name, partial }: { readonly name: string; readonly partial: PartialItem | undefined },
): void {
  const preamble = hostedEvents.get(name)?.preamble ?? name.endsWith('.added')
  emitEvent(decoder, { type: 'native', dialect, name, ...(partial?.index !== undefined && { index: partial.index }), body, preamble })
}

function finishPartial(decoder: DecoderState, partial: PartialItem, last: Item): void {
  if (partial.finished) return
  announcePartial(decoder, partial, last)
  if (partial.index === undefined) partial.finished = true
  else {
    const item = mergedItem(partial, last)
    completeItem(decoder, partial, item)
    finishItem(decoder, partial, item)
  }
}

interface LastSnapshot {
  readonly response: JsonObject
  readonly usage: Usage | undefined
}

function finishStream(decoder: DecoderState, outcome: Outcome, { response, usage }: Partial<LastSnapshot> = {}): void {
  startAnswer(decoder, response)
  const { items, unmodeled } = decoder
  const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
  for (const partial of items.all) if (!partial.finished) finishPartial(decoder, partial, assembledItem(partial, status))
  const stated = outcome.status !== 'failed' && items.all.some(({ index }) => index === undefined) ? namelessCall : outcome
  const extras = { ...(usage && { usage }), ...(unmodeled && { unmodeled: [...unmodeled] }) }
  emitEvent(decoder, remember({ type: 'finished', outcome: stated, ...extras }, response && { dialect, body: response }))
  decoder.isFinished = true
}
