import { idUnder } from '../common/ids.ts'
import {
  type EncoderState,
  type EventHandlers,
  type EventOf,
  emitFrame,
  isFailure,
  jsonText,
  noFrames,
  streamEncoder,
} from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item, MessageItem, ReasoningItem } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { entryOf, type SmallMap, setEntry, smallMap } from '../protocol/small-map.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { wantsUsage } from './decode-request.ts'
import { encodeFailure } from './errors.ts'
import {
  encodeAnnotations,
  encodeGatewayFields,
  encodeImage,
  encodeLogprobs,
  encodeSealedState,
  encodeSignature,
  encodeUsage,
  fieldsText,
  finishReasonOf,
  paragraphBreak,
  repeatedFieldsOf,
  unknownCall,
  unknownFieldsOf,
} from './response-fields.ts'
import { dialect, messageFields, originalBody, without } from './wire.ts'

// Turns events into chunks. Chunks are built from text fragments that are the same for all chunks of a response.

type TextField = 'content' | 'reasoning_content' | 'refusal'

/** The prefixes of chunks. */
interface ChunkHeads extends Readonly<Record<TextField, string>> {
  /** Text up to `choices`. */
  readonly base: string
  /** Text up to the delta. */
  readonly delta: string
}

/** The sent part of an item that is not finished. */
interface SentItem {
  /** Characters sent, by part; the arguments of a call are part 0. */
  readonly sent: SmallMap<number, number>
  /** Offset of each text in the content. */
  readonly starts: SmallMap<number, number>
  /** A chunk up to the arguments. */
  readonly argumentsHead: string
  readonly isCustom: boolean
  /** Reasoning has a summary or raw text; whichever comes first is sent. */
  reasoningKind: 'summary' | 'reasoning' | undefined
  finished: boolean
}

interface Piece {
  readonly part: number
  readonly text: string
  readonly logprobs?: readonly JsonObject[]
}

interface ChunkEncoder extends EncoderState {
  readonly request: InferenceRequest
  readonly metadata: () => ResponseMetadata
  readonly items: SmallMap<number, SentItem>
  heads: ChunkHeads
  /** Suffixes of a chunk: after log probabilities, a delta, a text delta, or arguments. */
  readonly tails: { readonly logprobs: string; readonly delta: string; readonly text: string; readonly arguments: string }
  readonly usageField: string
  /** Fields that the provider repeats on every chunk, as on the first. */
  repeated: JsonObject
  /** Characters sent so far. */
  contentLength: number
  reasoningLength: number
  calls: number
  images: number
  sealedStates: number
  /** State to send with the next call. */
  callState: string | undefined
}

export function encodeEvents(request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder {
  const body = originalBody(request)
  const usageField = body !== undefined && wantsUsage(body) ? ',"usage":null' : ''
  const rest = `,"finish_reason":null}]${usageField}}`
  const tail = `,"logprobs":null${rest}`
  const encoder: ChunkEncoder = {
    frames: noFrames,
    phase: 'new',
    request,
    metadata,
    items: smallMap(),
    heads: { base: '', delta: '', content: '', reasoning_content: '', refusal: '' },
    tails: { logprobs: rest, delta: tail, text: `"}${tail}`, arguments: `"}}]}${tail}` },
    usageField,
    repeated: {},
    contentLength: 0,
    reasoningLength: 0,
    calls: 0,
    images: 0,
    sealedStates: 0,
    callState: undefined,
  }
  return streamEncoder(encoder, handlers)
}

const handlers: EventHandlers<ChunkEncoder> = {
  begin: beginStream,
  item_started: (encoder, { index, item }) => void startItem(encoder, index, item),
  delta: encodeDelta,
  item_finished: finishItem,
  native(encoder, { dialect: itemDialect, body }) {
    if (itemDialect === dialect) pushDelta(encoder, without(body, messageFields))
  },
  finished: finishStream,
}

function beginStream(encoder: ChunkEncoder, first: InferenceEvent): void {
  if (isFailure(first)) return
  encoder.phase = 'started'
  const original = (first.type === 'started' && originalBody(first)) || {}
  const { model, created_at: created, id } = encoder.metadata()
  encoder.repeated = repeatedFieldsOf(original)
  const facts = { id: idUnder('chatcmpl-', { id }), object: 'chat.completion.chunk', created, model, ...encoder.repeated }
  const base = JSON.stringify(facts).slice(0, -1)
  const delta = `${base},"choices":[{"index":0,"delta":`
  encoder.heads = {
    base,
    delta,
    content: `${delta}{"content":"`,
    reasoning_content: `${delta}{"reasoning_content":"`,
    refusal: `${delta}{"refusal":"`,
  }
  const announced = `${delta}{"role":"assistant","content":""}${encoder.tails.delta}`
  emitFrame(encoder, { data: `${announced.slice(0, -1)}${fieldsText(unknownFieldsOf(original), encoder.repeated)}}` })
}

function startItem(encoder: ChunkEncoder, index: number, item: Item): SentItem {
  const known = entryOf(encoder.items, index)
  if (known) return known
  const isCustom = item.type === 'function_call' && item.custom === true
  const call = isCustom ? '"custom":{"input":"' : '"function":{"arguments":"'
  const started: SentItem = {
    sent: smallMap(),
    starts: smallMap(),
    argumentsHead: item.type === 'function_call' ? `${encoder.heads.delta}{"tool_calls":[{"index":${encoder.calls},${call}` : '',
    isCustom,
    reasoningKind: undefined,
    finished: false,
  }
  setEntry(encoder.items, index, started)
  if (item.type === 'function_call') announceCall(encoder, item, isCustom)
  return started
}

function announceCall(encoder: ChunkEncoder, { call_id: id, name }: FunctionCallItem, isCustom: boolean): void {
  const call = isCustom ? { type: 'custom', custom: { name, input: '' } } : { type: 'function', function: { name, arguments: '' } }
  pushDelta(encoder, { tool_calls: [{ index: encoder.calls++, id, ...call, ...encodeSignature(encoder.callState) }] })
  encoder.callState = undefined
}

function encodeDelta(encoder: ChunkEncoder, { index, delta }: EventOf<'delta'>): void {
  const item = entryOf(encoder.items, index)
  // Citations are sent at the end of their message, because clients keep only the last list.
  if (!item || item.finished || delta.kind === 'annotation') return
  if (delta.text === '' && delta.logprobs === undefined) return
  if (delta.kind === 'text') sendText(encoder, item, delta)
  else if (delta.kind === 'arguments') sendArguments(encoder, item, delta)
  else if (delta.kind === 'refusal') sendRefusal(encoder, item, delta)
  else {
    item.reasoningKind ??= delta.kind
    if (item.reasoningKind === delta.kind) sendReasoning(encoder, item, delta)
  }
}

function sendText(encoder: ChunkEncoder, item: SentItem, piece: Piece): void {
  const { part, text, logprobs } = piece
  if (countSent(item, piece) === 0) setEntry(item.starts, part, encoder.contentLength)
  encoder.contentLength += text.length
  if (!logprobs) pushText(encoder, 'content', text)
  else {
    const { heads, tails } = encoder
    const data = `${heads.content}${jsonText(text)}"},"logprobs":${JSON.stringify(encodeLogprobs(logprobs))}${tails.logprobs}`
    emitFrame(encoder, { data })
  }
}

function sendReasoning(encoder: ChunkEncoder, item: SentItem, piece: Piece): void {
  const isNewParagraph = countSent(item, piece) === 0 && encoder.reasoningLength > 0
  encoder.reasoningLength += piece.text.length
  pushText(encoder, 'reasoning_content', isNewParagraph ? paragraphBreak + piece.text : piece.text)
}

function sendRefusal(encoder: ChunkEncoder, item: SentItem, piece: Piece): void {
  countSent(item, piece)
  pushText(encoder, 'refusal', piece.text)
}

function sendArguments(encoder: ChunkEncoder, item: SentItem, piece: Piece): void {
  countSent(item, piece)
  emitFrame(encoder, { data: `${item.argumentsHead}${jsonText(piece.text)}${encoder.tails.arguments}` })
}

/** Counts the characters of a piece, and returns how many of its part were sent before. */
function countSent({ sent }: SentItem, { part, text }: Piece): number {
  const before = entryOf(sent, part) ?? 0
  setEntry(sent, part, before + text.length)
  return before
}

/** The unsent rest of a text. */
const unsent = ({ sent }: SentItem, part: number, text: string): Piece => ({ part, text: text.slice(entryOf(sent, part) ?? 0) })

function finishItem(encoder: ChunkEncoder, { index, item }: EventOf<'item_finished'>): void {
  const started = startItem(encoder, index, item)
  if (started.finished) return
  started.finished = true
  if (item.type === 'message') finishMessage(encoder, started, item)
  else if (item.type === 'reasoning') finishReasoning(encoder, started, item)
  else if (item.type === 'function_call') finishCall(encoder, started, item)
  else sendNative(encoder, item)
}

function finishMessage(encoder: ChunkEncoder, item: SentItem, { content }: MessageItem): void {
  const annotations: JsonObject[] = []
  for (const [number, part] of content.entries()) {
    if (part.type === 'refusal') {
      const rest = unsent(item, number, part.refusal)
      if (rest.text !== '') sendRefusal(encoder, item, rest)
    } else if (part.type === 'text') {
      const rest = unsent(item, number, part.text)
      if (rest.text !== '') sendText(encoder, item, rest)
      const start = entryOf(item.starts, number) ?? encoder.contentLength
      for (const annotation of encodeAnnotations(part, start)) annotations.push(annotation)
    }
  }
  if (annotations.length > 0) pushDelta(encoder, { annotations })
}

function finishReasoning(encoder: ChunkEncoder, item: SentItem, { summary, content = [], encrypted_content }: ReasoningItem): void {
  const kind = item.reasoningKind ?? (summary.length > 0 ? 'summary' : 'reasoning')
  for (const [number, text] of (kind === 'summary' ? summary : content).entries()) {
    const rest = unsent(item, number, text)
    if (rest.text !== '') sendReasoning(encoder, item, rest)
  }
  if (encrypted_content === undefined) return
  pushDelta(encoder, { reasoning_details: [encodeSealedState(encrypted_content, encoder.sealedStates++)] })
  encoder.callState = encrypted_content
}

function finishCall(encoder: ChunkEncoder, item: SentItem, { arguments: written, status }: FunctionCallItem): void {
  const rest = unsent(item, 0, written === '' && status !== 'incomplete' && !item.isCustom ? '{}' : written)
  if (rest.text !== '') sendArguments(encoder, item, rest)
}

function sendNative(encoder: ChunkEncoder, item: Item): void {
  const call = unknownCall(item)
  if (call) {
    pushDelta(encoder, { tool_calls: [{ ...call, index: encoder.calls++ }] })
    return
  }
  const image = encodeImage(item, encoder.images)
  if (!image) return
  encoder.images++
  pushDelta(encoder, { images: [image] })
}

function finishStream(encoder: ChunkEncoder, event: EventOf<'finished'>): void {
  const { outcome, usage } = event
  const { request, heads, usageField, repeated } = encoder
  if (outcome.status === 'failed') {
    emitFrame(encoder, { data: JSON.stringify(encodeFailure(outcome.error, request)) })
    return
  }
  const original = originalBody(event)
  const last = fieldsText({ ...(original && unknownFieldsOf(original)), ...encodeGatewayFields(encoder.metadata(), request) }, repeated)
  const reason = JSON.stringify(finishReasonOf(outcome, encoder.calls > 0))
  const finished = `${heads.delta}{},"logprobs":null,"finish_reason":${reason}}]${usageField}`
  if (usageField !== '' && usage) {
    emitFrame(encoder, { data: `${finished}}` })
    emitFrame(encoder, { data: `${heads.base},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}${last}}` })
  } else emitFrame(encoder, { data: `${finished}${last}}` })
  emitFrame(encoder, { data: '[DONE]' })
}

function pushText(encoder: ChunkEncoder, field: TextField, text: string): void {
  emitFrame(encoder, { data: encoder.heads[field] + jsonText(text) + encoder.tails.text })
}

function pushDelta(encoder: ChunkEncoder, delta: JsonObject): void {
  const { heads, tails } = encoder
  emitFrame(encoder, { data: `${heads.delta}${JSON.stringify(delta)}${tails.delta}` })
}
