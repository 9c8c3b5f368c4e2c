import { namelessCall } from '../common/answer-failures.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import {
  announceItem,
  appendAnnotation,
  appendDelta,
  appendText,
  assembledItem,
  bufferedText,
  emitEvent,
  emitItem,
  emptyMessage,
  finishItem,
  messageShell,
  noEvents,
  noteUnmodeled,
  type PartialItem,
  reasoningShell,
  startItem,
} from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import type { StreamDecoderState } from '../common/stream-decoder.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { Item, ItemStatus } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import { sizeOf, valuesOf } from '../protocol/small-map.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { citationsOf, contentBeside, namesSources } from './citations.ts'
import { errorOf } from './errors.ts'
import {
  annotationsOf,
  type CallPiece,
  callPiecesOf,
  imagesOf,
  imageUrl,
  logprobsOf,
  type MessageText,
  plainTextOf,
  textsOf,
  unknownParts,
} from './message-fields.ts'
import { callOfPiece, closeCall, isComplete, isCustom, type PartialCall, type PartialCalls, partialCalls } from './partial-calls.ts'
import { collectState, type StateCollector } from './reasoning-state.ts'
import { takeUnknownCalls, type UnknownCalls } from './unknown-calls.ts'
import { countUsage, dialect, firstChoice, headOf, messageFields, outcomeOf, usageIn, without } from './wire.ts'

// Turns chunks into events. This dialect has no items, so item boundaries are decided here: a message or reasoning ends when something else
// begins; a call ends when the next one begins and its arguments are complete. Calls with interleaved arguments stay open together, so that
// nothing has to be held back.

/** The state of one response. */
export interface AnswerDecoder extends StreamDecoderState {
  readonly toolNames: ResponseMapping['toolNames']
  /** Undefined until the first call, like the next. */
  calls: PartialCalls | undefined
  unknownCalls: UnknownCalls | undefined
  /** The number of the current chunk. */
  chunk: number
  readonly state: StateCollector
  head: ReturnType<typeof headOf> | undefined
  /** The open message or reasoning item. */
  speech: PartialItem | undefined
  usage: Json | undefined
  /** The latest `service_tier`. */
  tier: Json | undefined
  /** The latest chunk that lists sources beside the message, until the message cites them. */
  sources: JsonObject | undefined
  isCited: boolean
  /** The latest chunk with facts about the whole response. */
  lastChunk: JsonObject
  /** Set by a finish reason; only usage may follow. */
  outcome: Outcome | undefined
}

export const createAnswerDecoder = ({ toolNames }: ResponseMapping = {}): AnswerDecoder => ({
  events: noEvents,
  count: 0,
  unmodeled: undefined,
  extended: undefined,
  toolNames,
  calls: undefined,
  unknownCalls: undefined,
  chunk: 0,
  state: collectState(),
  head: undefined,
  speech: undefined,
  usage: undefined,
  tier: undefined,
  sources: undefined,
  isCited: false,
  lastChunk: {},
  outcome: undefined,
  isFinished: false,
})

export function decodeChunk(decoder: AnswerDecoder, chunk: JsonObject): void {
  startAnswer(decoder, chunk)
  if (chunk.related_questions || chunk.images || chunk.videos) noteBeside(decoder, chunk)
  const choice = firstChoice(chunk)
  const usage = usageIn(chunk, choice)
  decoder.usage = usage ?? decoder.usage
  decoder.tier = chunk.service_tier ?? decoder.tier
  if ((chunk.citations || chunk.search_results) && !decoder.isCited && namesSources(chunk)) decoder.sources = chunk
  if (usage) decoder.lastChunk = chunk
  if (decoder.outcome) return
  const error = errorOf(chunk)
  if (choice?.finish_reason) decoder.lastChunk = chunk
  if (error) finishAnswer(decoder, { status: 'failed', error })
  else if (choice) decodeChoice(decoder, choice)
}

/** Ends the response. `outcome` is used only if no finish reason came. */
export function finishAnswer(decoder: AnswerDecoder, outcome: Outcome): void {
  startAnswer(decoder, {})
  const settled = decoder.outcome ?? settleOutcome(decoder, outcome)
  decoder.isFinished = true
  if (decoder.sources && !decoder.isCited) noteUnmodeled(decoder, 'citations')
  const { count, lastChunk, unmodeled } = decoder
  const usage = countUsage(decoder.usage, count > 0, decoder.tier)
  const facts = { outcome: settled, ...(usage && { usage }), ...(unmodeled && { unmodeled: [...unmodeled] }) }
  emitEvent(decoder, remember({ type: 'finished', ...facts }, { dialect, body: lastChunk }))
}

function startAnswer(decoder: AnswerDecoder, chunk: JsonObject): void {
  if (decoder.head) return
  const head = headOf(chunk)
  decoder.head = head
  emitEvent(decoder, remember({ type: 'started', ...head }, { dialect, body: chunk }))
}

function decodeChoice(decoder: AnswerDecoder, choice: JsonObject): void {
  const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : choice
  if (delta.reasoning_details) decoder.state.addDetails(objects(delta.reasoning_details))
  decodeTexts(decoder, delta, choice.logprobs ? logprobsOf(choice) : noLogprobs)
  for (const annotation of annotationsOf(delta)) addAnnotation(decoder, annotation)
  if (delta.images || Array.isArray(delta.content)) decodeParts(decoder, delta)
  decoder.chunk++
  if (delta.tool_calls) decoder.unknownCalls ??= new Map()
  const pieces = delta.tool_calls && decoder.unknownCalls ? takeUnknownCalls(decoder.unknownCalls, delta) : delta
  for (const piece of callPiecesOf(pieces)) addCallPiece(decoder, piece)
  noteUnknown(decoder, delta, delta === choice.delta)
  const reason = stringOf(choice.finish_reason)
  if (reason !== '') settleOutcome(decoder, outcomeOf(reason))
}

/** Log probabilities belong to the chunk; its first text gets them. */
function decodeTexts(decoder: AnswerDecoder, delta: JsonObject, logprobs: readonly JsonObject[]): void {
  const plain = plainTextOf(delta)
  if (plain !== undefined) addText(decoder, { kind: 'text', text: plain }, logprobs)
  else {
    let left = logprobs
    for (const piece of textsOf(delta)) {
      addText(decoder, piece, piece.kind === 'text' ? left : noLogprobs)
      if (piece.kind === 'text') left = noLogprobs
    }
  }
}

function addText(decoder: AnswerDecoder, { kind, text, field }: MessageText, logprobs: readonly JsonObject[]): void {
  const type = kind === 'reasoning' ? 'reasoning' : 'message'
  const speech = decoder.speech?.item.type === type ? decoder.speech : startSpeech(decoder, type)
  if (field) decoder.state.noteField(field)
  const part = speech.latest?.kind === kind ? speech.latest.number : sizeOf(speech.parts)
  appendDelta(decoder, speech, logprobs.length > 0 ? { kind, part, text, logprobs } : { kind, part, text })
}

function startSpeech(decoder: AnswerDecoder, type: 'reasoning' | 'message'): PartialItem {
  closeSpeech(decoder, 'completed')
  finishWholeCalls(decoder)
  if (type === 'message') emitState(decoder)
  const speech = startItem(decoder, type === 'message' ? messageShell : reasoningShell)
  decoder.speech = speech
  return speech
}

function addAnnotation(decoder: AnswerDecoder, annotation: JsonObject): void {
  const { speech } = decoder
  const part = speech && textPartOf(speech)?.number
  if (!speech || part === undefined) noteUnmodeled(decoder, stringOf(annotation.type))
  else appendAnnotation(decoder, speech, { kind: 'annotation', part, annotation })
}

/** The first text of an item, which annotations refer to. */
const textPartOf = ({ parts }: PartialItem) => valuesOf(parts).find(({ kind }) => kind === 'text')

function closeSpeech(decoder: AnswerDecoder, status: ItemStatus): void {
  const { speech, state } = decoder
  if (!speech) return
  decoder.speech = undefined
  if (decoder.sources && speech.item.type === 'message') citeSources(decoder, speech, decoder.sources)
  const item = assembledItem(speech, status)
  const encrypted_content = item.type === 'reasoning' ? state.take() : undefined
  finishItem(decoder, speech, encrypted_content === undefined ? item : ({ ...item, encrypted_content } as Item))
}

/** Adds citations for sources that some hosts list beside the message. The text refers to them by number. */
function citeSources(decoder: AnswerDecoder, speech: PartialItem, sources: JsonObject): void {
  decoder.sources = undefined
  decoder.isCited = true
  const { number: part, text } = textPartOf(speech) ?? {}
  if (part === undefined || !text) return
  const citations = citationsOf(bufferedText(text), sources)
  for (const annotation of citations) appendAnnotation(decoder, speech, { kind: 'annotation', part, annotation })
}

/** Emits a reasoning item of its own for state that came without reasoning text, or after it. */
function emitState(decoder: AnswerDecoder): void {
  const encrypted_content = decoder.state.take()
  if (encrypted_content !== undefined) emitItem(decoder, { ...reasoningShell, encrypted_content }, reasoningShell)
}

function addCallPiece(decoder: AnswerDecoder, piece: CallPiece): void {
  const { state, head, toolNames, chunk } = decoder
  decoder.calls ??= partialCalls(toolNames, head ? [head.id, head.created_at] : [])
  const { calls } = decoder
  calls.chunk = chunk
  const known = calls.all.length
  const call = callOfPiece(calls, piece)
  if (!call) return
  if (calls.all.length > known) finishWholeCalls(decoder, call)
  const { partial } = call
  if (partial.index === undefined || partial.finished) appendText(call.arguments, piece.arguments)
  else if (piece.arguments !== '') appendDelta(decoder, partial, { kind: 'arguments', part: 0, text: piece.arguments })
  if (call.name === '') return
  if (call.signature !== '') state.addSignature(call.callId, call.signature)
  call.signature = ''
  if (partial.index !== undefined) return
  closeSpeech(decoder, 'completed')
  emitState(decoder)
  announceItem(decoder, partial)
}

/** Finishes the calls with complete arguments, except one. Each call leaves the set once, so the total work is linear. */
function finishWholeCalls(decoder: AnswerDecoder, except?: PartialCall): void {
  for (const call of decoder.calls?.whole ?? []) if (call !== except) finishCall(decoder, call, 'completed')
}

function finishCall(decoder: AnswerDecoder, call: PartialCall, status: ItemStatus): void {
  const { partial } = call
  if (partial.index === undefined) return
  if (decoder.calls) closeCall(decoder.calls, call)
  if (call.arguments.length === 0 && status === 'completed' && !isCustom(call))
    appendDelta(decoder, partial, { kind: 'arguments', part: 0, text: '{}' })
  finishItem(decoder, partial, assembledItem(partial, status))
}

/** Handles non-text content parts. Unknown ones are kept with the text, as annotations. */
function decodeParts(decoder: AnswerDecoder, delta: JsonObject): void {
  for (const part of unknownParts(delta.content)) addAnnotation(decoder, remember<JsonObject>({ ...part }, { dialect, body: part }))
  for (const image of imagesOf(delta)) addImage(decoder, image)
}

/** Adds an image, which ends the message or reasoning before it. An unreadable one is only sent to clients of this dialect. */
function addImage(decoder: AnswerDecoder, image: JsonObject): void {
  const item = imageItem(imageUrl(image), { dialect, body: image })
  closeSpeech(decoder, 'completed')
  finishWholeCalls(decoder)
  emitState(decoder)
  if (item) emitItem(decoder, item, announcedImage)
  else emitItem(decoder, { type: 'native', dialect, body: image })
}

/** Notes unknown content and, in a stream, passes it through: audio, tools that the host ran. Numbers and texts are ignored as the host's own notes. */
function noteUnknown(decoder: AnswerDecoder, delta: JsonObject, isStreamed: boolean): void {
  let isFound = false
  for (const field in delta) {
    if (messageFields.has(field) || !hasContent(delta[field])) continue
    noteUnmodeled(decoder, field)
    isFound = true
  }
  if (isFound && isStreamed)
    emitEvent(decoder, { type: 'native', dialect, name: 'delta', body: without(delta, messageFields), preamble: false })
}

function noteBeside(decoder: AnswerDecoder, chunk: JsonObject): void {
  for (const field of contentBeside) if (hasContent(chunk[field])) noteUnmodeled(decoder, field)
}

const hasContent = (value: Json | undefined): boolean => typeof value === 'object' && value !== null && Object.keys(value).length > 0

/** Fixes the outcome and finishes all items. */
function settleOutcome(decoder: AnswerDecoder, outcome: Outcome): Outcome {
  const isNameless = decoder.calls?.all.some(call => call.name === '' && call.arguments.length > 0)
  const settled = isNameless && outcome.status !== 'failed' ? namelessCall : outcome
  decoder.outcome = settled
  finishItems(decoder, settled.status === 'completed' ? 'completed' : 'incomplete')
  return settled
}

function finishItems(decoder: AnswerDecoder, status: ItemStatus): void {
  closeSpeech(decoder, status)
  // A call with complete arguments is completed, even if the response was cut off.
  for (const call of decoder.calls?.open ?? []) finishCall(decoder, call, isComplete(call) ? 'completed' : status)
  emitState(decoder)
  for (const body of decoder.unknownCalls?.values() ?? []) emitItem(decoder, { type: 'native', dialect, body })
  if (decoder.count === 0 && status === 'completed') emitItem(decoder, emptyMessage)
}

const noLogprobs: readonly JsonObject[] = []
