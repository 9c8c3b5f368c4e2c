import type { TextDelta } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import {
  addSent,
  type EncoderState,
  type EventHandlers,
  type EventOf,
  emitFrame,
  jsonText,
  noFrames,
  sentText,
  streamEncoder,
} from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent, NativeEvent } from '../protocol/event.ts'
import type { Item, ItemStatus, Part, TextPart } from '../protocol/item.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { entryOf, type SmallMap, setEntry, sizeOf, smallMap, valuesOf } from '../protocol/small-map.ts'
import { append, type JsonObject } from '../protocol/wire.ts'
import { encodeFailure } from './errors.ts'
import { itemIds } from './item-ids.ts'
import { encodeItem, isExpressible, originalBody } from './items.ts'
import { finishedResponse, startedResponse } from './response-object.ts'
import {
  addPart,
  argumentsFormat,
  deltaTail,
  encodeShell,
  isExpected,
  itemSoFar,
  numbered,
  partPosition,
  type SentItem,
  type SentPart,
  sentItem,
  unknownDeltaFields,
  withAlternatives,
} from './sent-items.ts'
import { dialect, indexOf, isPublicEvent, type PartKind } from './wire.ts'

// Turns events into frames. Only this file assigns the brackets, indexes, ids and sequence numbers of Responses streams.

interface FrameEncoder extends EncoderState {
  readonly request: InferenceRequest
  readonly metadata: () => ResponseMetadata
  readonly items: SmallMap<number, SentItem>
  /** Undefined until an item needs an id. */
  idOf: ((item: Item) => string) | undefined
  sequence: number
}

export function encodeEvents(request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder {
  const encoder: FrameEncoder = { frames: noFrames, phase: 'new', request, metadata, items: smallMap(), idOf: undefined, sequence: 0 }
  return streamEncoder(encoder, handlers)
}

const handlers: EventHandlers<FrameEncoder> = {
  begin: beginStream,
  item_started: (encoder, { index, item }) => {
    startItem(encoder, index, item)
  },
  delta: encodeDelta,
  item_finished(encoder, { index, item }) {
    const started = startItem(encoder, index, item)
    if (started) finishItem(encoder, started, item)
  },
  native(encoder, event) {
    if (event.dialect === dialect) passOn(encoder, event)
  },
  finished: finishStream,
}

function emit(encoder: FrameEncoder, type: string, fields: JsonObject): void {
  const data = JSON.stringify({ type, ...fields, sequence_number: encoder.sequence++ })
  emitFrame(encoder, { event: type, data })
}

function beginStream(encoder: FrameEncoder, first: InferenceEvent): void {
  encoder.phase = 'started'
  const { request, metadata } = encoder
  const original = first.type === 'started' ? originalBody(first) : undefined
  const response = JSON.stringify(startedResponse({ request, metadata: metadata(), original }))
  for (const type of ['response.created', 'response.in_progress'])
    emitFrame(encoder, { event: type, data: `{"type":"${type}","response":${response}${numbered}${encoder.sequence++}}` })
}

function startItem(encoder: FrameEncoder, index: number, item: Item): SentItem | undefined {
  const { items, metadata } = encoder
  const known = entryOf(items, index)
  if (known || (item.type === 'native' && item.dialect !== dialect)) return known
  if (!encoder.idOf) {
    const { itemId, claimId } = metadata()
    encoder.idOf = itemIds(itemId, claimId)
  }
  const started = sentItem(item, encoder.idOf(item), sizeOf(items))
  setEntry(items, index, started)
  emit(encoder, 'response.output_item.added', { output_index: started.outputIndex, item: encodeShell(item, started.id) })
  return started
}

function encodeDelta(encoder: FrameEncoder, event: EventOf<'delta'>): void {
  const item = entryOf(encoder.items, event.index)
  if (!item || item.encoded || item.item.type === 'native') return
  const { delta } = event
  if (delta.kind === 'arguments') sendArguments(encoder, item, event)
  else if (delta.kind !== 'annotation') sendText(encoder, item, event)
  else sendAnnotation(encoder, item, delta)
}

/** The part that a delta extends. Parts follow one another, so a new one closes the previous one. */
function openPart(encoder: FrameEncoder, item: SentItem, { kind, part }: { readonly kind: PartKind; readonly part: number }): SentPart {
  const { current } = item
  const known = entryOf(item.parts, `${kind}:${part}`)
  if (known) return known
  if (current) closePart(encoder, item, current)
  const added = addPart(item, kind, part)
  const { bracket, encode } = added.format
  emit(encoder, `${bracket}.added`, { ...partPosition(item, added), part: encode('', noExtras) })
  return added
}

const noObjects: readonly JsonObject[] = []
const noExtras = { annotations: noObjects, logprobs: noObjects }

function closePart(encoder: FrameEncoder, item: SentItem, part: SentPart): void {
  if (part.closed) return
  part.closed = true
  if (item.current === part) item.current = undefined
  const { kind, annotations, logprobs } = part
  const { stem, bracket, textField, encode } = part.format
  const text = part.final ?? sentText(part)
  const position = partPosition(item, part)
  emit(encoder, `${stem}.done`, { ...position, [textField]: text, ...(kind === 'text' && { logprobs: logprobs.map(withAlternatives) }) })
  emit(encoder, `${bracket}.done`, { ...position, part: encode(text, { annotations, logprobs }) })
}

type PartDelta = TextDelta & { readonly kind: PartKind }

function sendText(encoder: FrameEncoder, item: SentItem, event: EventOf<'delta'>): void {
  const delta = event.delta as PartDelta
  const { kind, text, logprobs = noObjects } = delta
  const { current } = item
  const part = current?.kind === kind && current.partNumber === delta.part ? current : openPart(encoder, item, delta)
  if (text === '' && logprobs.length === 0) return
  addSent(part, text, event)
  for (const entry of logprobs) part.logprobs.push(entry)
  const { deltaEvent } = part.format
  const unknown = originalOf(event) && unknownDeltaFields(event)
  if (unknown || logprobs.length > 0) {
    const probabilities = kind === 'text' && { logprobs: logprobs.map(withAlternatives) }
    emit(encoder, deltaEvent, { ...unknown, ...partPosition(item, part), delta: text, ...probabilities })
  } else {
    const number = `${encoder.sequence++}}`
    const data = part.head + jsonText(text) + part.tail + number
    encoder.frames = append(encoder.frames, { event: deltaEvent, data })
  }
}

function sendArguments(encoder: FrameEncoder, item: SentItem, event: EventOf<'delta'>): void {
  const { text } = event.delta as TextDelta
  if (text === '') return
  addSent(item, text, event)
  const unknown = originalOf(event) && unknownDeltaFields(event)
  const argumentsDelta = `${argumentsFormat(item.item).stem}.delta`
  if (unknown) emit(encoder, argumentsDelta, { ...unknown, item_id: item.id, output_index: item.outputIndex, delta: text })
  else {
    const number = `${encoder.sequence++}}`
    const data = item.argumentsHead + jsonText(text) + deltaTail + number
    encoder.frames = append(encoder.frames, { event: argumentsDelta, data })
  }
}

function sendAnnotation(
  encoder: FrameEncoder,
  item: SentItem,
  { part: number, annotation }: { readonly part: number; readonly annotation: JsonObject },
): void {
  const part = openPart(encoder, item, { kind: 'text', part: number })
  if (!isExpressible(annotation)) return
  const index = part.annotations.push(annotation) - 1
  emit(encoder, 'response.output_text.annotation.added', { ...partPosition(item, part), annotation_index: index, annotation })
}

/** The event for text that no delta contained. */
const deltaOf = (delta: TextDelta): EventOf<'delta'> => ({ type: 'delta', index: 0, delta })

function finishItem(encoder: FrameEncoder, item: SentItem, final: Item): void {
  if (item.encoded) return
  const encoded = encodeItem(final, item.id)
  if (final.type === 'message') for (const [number, part] of final.content.entries()) finishContent(encoder, item, { number, part })
  if (final.type === 'reasoning') {
    for (const [part, text] of final.summary.entries()) finishPart(encoder, item, { kind: 'summary', part, text })
    for (const [part, text] of (final.content ?? []).entries()) finishPart(encoder, item, { kind: 'reasoning', part, text })
  }
  for (const part of valuesOf(item.parts)) closePart(encoder, item, part)
  if (final.type === 'function_call')
    finishArguments(encoder, item, { name: final.name, text: stringOf(encoded[argumentsFormat(item.item).field]) })
  emit(encoder, 'response.output_item.done', { output_index: item.outputIndex, item: encoded })
  item.encoded = encoded
}

function finishArguments(encoder: FrameEncoder, item: SentItem, { name, text }: { readonly name: string; readonly text: string }): void {
  if (text.startsWith(sentText(item))) sendArguments(encoder, item, deltaOf({ kind: 'arguments', part: 0, text: text.slice(item.sent) }))
  const { stem, field } = argumentsFormat(item.item)
  emit(encoder, `${stem}.done`, { item_id: item.id, output_index: item.outputIndex, ...(field === 'arguments' && { name }), [field]: text })
}

function finishContent(encoder: FrameEncoder, item: SentItem, { number, part }: { readonly number: number; readonly part: Part }): void {
  if (part.type === 'text') finishPart(encoder, item, { ...part, kind: 'text', part: number })
  else if (part.type === 'refusal') finishPart(encoder, item, { kind: 'refusal', part: number, text: part.refusal })
  else if (part.type === 'native' && !item.natives?.has(number)) {
    if (item.current) closePart(encoder, item, item.current)
    const position = { item_id: item.id, output_index: item.outputIndex, content_index: item.contents++ }
    for (const end of ['added', 'done']) emit(encoder, `response.content_part.${end}`, { ...position, part: part.body })
  }
}

interface FinalText extends Pick<TextPart, 'text' | 'annotations' | 'logprobs'> {
  readonly kind: PartKind
  readonly part: number
}

/** Completes a part to its final text by sending what no delta sent. */
function finishPart(encoder: FrameEncoder, item: SentItem, final: FinalText): void {
  const { kind, text } = final
  const part = openPart(encoder, item, final)
  if (part.closed) return
  if (text.length > part.sent && text.startsWith(sentText(part)))
    sendText(encoder, item, deltaOf({ kind, part: final.part, text: text.slice(part.sent) }))
  part.final = text
  const annotations = final.annotations?.filter(isExpressible)
  for (const annotation of annotations?.slice(part.annotations.length) ?? [])
    sendAnnotation(encoder, item, { part: final.part, annotation })
  part.annotations = [...(annotations ?? part.annotations)]
  part.logprobs = [...(final.logprobs ?? part.logprobs)]
  closePart(encoder, item, part)
}

function passOn(encoder: FrameEncoder, { name, index, body }: NativeEvent): void {
  const item = index === undefined ? undefined : entryOf(encoder.items, index)
  if (!isPublicEvent(name) || !isExpected(name, item)) return
  const { type, sequence_number, obfuscation, error, ...rest } = body
  if (item?.item.type === 'message') passPartOn(encoder, item, { name, body: rest })
  else if (item) emit(encoder, name, { ...rest, item_id: item.id, output_index: item.outputIndex })
  else emit(encoder, name, { ...rest, ...('response_id' in rest && { response_id: encoder.metadata().id }) })
}

/** Passes a part through. It is numbered together with the others. */
function passPartOn(encoder: FrameEncoder, item: SentItem, { name, body }: { readonly name: string; readonly body: JsonObject }): void {
  const theirs = indexOf(body.content_index) ?? item.contents
  const isNew = name.endsWith('.added')
  const { natives = new Map<number, number>() } = item
  if (natives.has(theirs) === isNew) return
  if (isNew && item.current) closePart(encoder, item, item.current)
  if (isNew) natives.set(theirs, item.contents++)
  item.natives = natives
  emit(encoder, name, { ...body, item_id: item.id, output_index: item.outputIndex, content_index: natives.get(theirs) })
}

function finishStream(encoder: FrameEncoder, event: EventOf<'finished'>): void {
  const { outcome, usage } = event
  const { items, request } = encoder
  const metadata = encoder.metadata()
  const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
  for (const item of valuesOf(items)) if (!item.encoded) finishItem(encoder, item, itemSoFar(item, status))
  if (outcome.status === 'failed') emitError(encoder, encodeFailure(outcome.error), outcome.error.param ?? null)
  const output = valuesOf(items).flatMap(({ encoded }): readonly JsonObject[] => (encoded ? [encoded] : []))
  if (outcome.status !== 'failed') metadata.keepItems?.(output)
  const response = finishedResponse({ request, metadata, original: originalBody(event) }, { outcome, usage, output })
  emit(encoder, `response.${outcome.status}`, { response })
}

/** Writes an error in both existing formats, because each is missed by some client. */
function emitError(encoder: FrameEncoder, error: JsonObject, param: string | null): void {
  const { type, ...facts } = error
  emit(encoder, 'error', { ...facts, param, error: { ...error, param } })
}
