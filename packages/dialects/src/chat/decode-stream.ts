import { invalidJson, namelessCall, truncated } from '../common/answer-failures.ts'
import { type DeltaFrames, onlyText } from '../common/delta-template.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import { ItemAssembler, messageShell, OpenItem, type OpenPart, reasoningShell } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type FrameDecoder, StreamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { ItemStatus } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
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
import { OpenCall } from './open-call.ts'
import { collectState } from './reasoning-state.ts'
import { addUnknownCall } from './unknown-calls.ts'
import { countUsage, dialect, firstChoice, headOf, messageFields, outcomeOf, usageIn, without } from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder => new StreamDecoder(new ChunkDecoder(mapping), deltaFrames)

const deltaFrames: DeltaFrames = { textOf: textOfChunk, varying: ['created', 'obfuscation'] }

/** Usage, pieces of calls and the chunk of a finish reason are collected, so chunks with them are always decoded. */
function textOfChunk(chunk: JsonObject): Json | undefined {
  const choice = firstChoice(chunk)
  if (!choice || choice.finish_reason || objects(chunk.choices).length !== 1) return undefined
  return usageIn(chunk, choice) === undefined ? onlyText(choice.delta, ['content', 'reasoning_content', 'reasoning']) : undefined
}

const noLogprobs: readonly JsonObject[] = []

/**
 * Decodes one response, whole or in chunks. This dialect has no items, so item boundaries are decided here: a message or reasoning ends when
 * something else begins; a call ends when the next one begins and its arguments are complete. Calls with interleaved arguments stay open
 * together, so that nothing has to be held back. The position of a piece identifies its call if it is present and correct, but some providers
 * omit it, omit ids, repeat names and ids with every piece, or send several whole calls under one position.
 */
export class ChunkDecoder implements FrameDecoder {
  readonly items: ItemAssembler
  /** The open message or reasoning item. */
  #openTextItem: OpenItem | undefined = undefined
  #lastCall: OpenCall | undefined = undefined
  readonly #callsById = new Map<string, OpenCall>()
  readonly #callsByPosition = new Map<number, OpenCall>()
  /** Calls of types that no item models, by their `index`; calls without one have a negative key. */
  readonly #unknownCalls = new Map<number, JsonObject>()
  readonly #state = collectState()
  /** The number of the current chunk. */
  #chunk = 0
  #usage: Json | undefined = undefined
  /** The latest `service_tier`. */
  #tier: Json | undefined = undefined
  /** The latest chunk that lists sources beside the message, until the message cites them. */
  #sources: JsonObject | undefined = undefined
  #isCited = false
  /** The latest chunk with facts about the whole response. */
  #lastChunk: JsonObject = {}

  constructor(mapping?: ResponseMapping) {
    this.items = new ItemAssembler(mapping)
  }

  decodeFrame(frame: Frame): void {
    const chunk = readFrame(frame)
    if (chunk === 'broken') this.finish(invalidJson)
    else if (chunk === 'done') this.finish(this.items.count > 0 ? { status: 'completed' } : truncated)
    else if (chunk !== 'nothing') this.decodeChunk(chunk)
  }

  decodeChunk(chunk: JsonObject): void {
    const { items } = this
    if (!items.head) items.start(headOf(chunk), { dialect, body: chunk })
    if (chunk.related_questions || chunk.images || chunk.videos)
      for (const field of contentBeside) if (hasContent(chunk[field])) items.noteUnmodeled(field)
    const choice = firstChoice(chunk)
    const usage = usageIn(chunk, choice)
    this.#usage = usage ?? this.#usage
    this.#tier = chunk.service_tier ?? this.#tier
    if ((chunk.citations || chunk.search_results) && !this.#isCited && namesSources(chunk)) this.#sources = chunk
    if (usage) this.#lastChunk = chunk
    // Only the usage counts after the finish reason.
    if (items.outcome) return
    const error = errorOf(chunk)
    if (choice?.finish_reason) this.#lastChunk = chunk
    if (error) this.finish({ status: 'failed', error })
    else if (choice) this.#decodeChoice(choice)
  }

  #decodeChoice(choice: JsonObject): void {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : choice
    if (delta.reasoning_details) this.#state.addDetails(objects(delta.reasoning_details))
    // Log probabilities belong to the chunk; its first text gets them.
    let logprobs = choice.logprobs ? logprobsOf(choice) : noLogprobs
    const plain = plainTextOf(delta)
    if (plain !== undefined) this.#addText({ kind: 'text', text: plain }, logprobs)
    else
      for (const piece of textsOf(delta)) {
        const isText = piece.kind === 'text'
        this.#addText(piece, isText ? logprobs : noLogprobs)
        if (isText) logprobs = noLogprobs
      }
    for (const annotation of annotationsOf(delta)) this.#cite(annotation)
    if (delta.images || Array.isArray(delta.content)) {
      // Unknown parts are kept with the text, as annotations.
      for (const part of unknownParts(delta.content)) this.#cite(remember<JsonObject>({ ...part }, { dialect, body: part }))
      for (const image of imagesOf(delta)) this.#addImage(image)
    }
    this.#chunk++
    for (const piece of callPiecesOf(delta, entry => addUnknownCall(this.#unknownCalls, entry))) this.#addCallPiece(piece)
    this.#noteUnknown(delta, delta === choice.delta)
    const reason = stringOf(choice.finish_reason)
    if (reason !== '') this.#settle(outcomeOf(reason))
  }

  #addText({ kind, text, field }: MessageText, logprobs: readonly JsonObject[]): void {
    const { items } = this
    const type = kind === 'reasoning' ? 'reasoning' : 'message'
    let speech = this.#openTextItem
    if (speech?.item.type !== type) {
      this.#closeSpeech('completed')
      if (type === 'message') this.#addState()
      speech = items.begin(new OpenItem(type === 'message' ? messageShell : reasoningShell))
      this.#openTextItem = speech
    }
    if (field) this.#state.noteField(field)
    const part = speech.latest?.kind === kind ? speech.latest.number : speech.partCount
    items.text(speech, logprobs.length > 0 ? { kind, part, text, logprobs } : { kind, part, text })
  }

  #cite(annotation: JsonObject): void {
    const part = this.#openTextItem && textPartOf(this.#openTextItem)
    if (this.#openTextItem && part) this.items.cite(this.#openTextItem, part.number, annotation)
    else this.items.noteUnmodeled(stringOf(annotation.type))
  }

  #closeSpeech(status: ItemStatus): void {
    const speech = this.#openTextItem
    if (!speech) return
    this.#openTextItem = undefined
    if (this.#sources && speech.item.type === 'message') {
      // Some hosts list sources beside the message. The text refers to them by number.
      const part = textPartOf(speech)
      for (const annotation of part ? citationsOf(part.text.toString(), this.#sources) : [])
        this.items.cite(speech, part?.number ?? 0, annotation)
      this.#sources = undefined
      this.#isCited = true
    }
    const item = speech.complete(status)
    this.items.finish(speech, status, item.type === 'reasoning' ? { ...item, encrypted_content: this.#state.take() } : item)
  }

  /** Adds a reasoning item of its own for state that came without reasoning text, or after it. */
  #addState(): void {
    const encrypted_content = this.#state.take()
    if (encrypted_content !== undefined) this.items.add({ ...reasoningShell, encrypted_content }, reasoningShell)
  }

  #addCallPiece(piece: CallPiece): void {
    const { items } = this
    const known = this.#findCall(piece)
    if (known?.isRepeated(piece)) return
    const call = known && !known.endsBefore(piece, this.#chunk) ? known : this.#startCall(piece)
    call.chunk = this.#chunk
    if (call.name === '') this.#nameCall(call, piece)
    if (call.jsonKind) call.scan(piece.arguments)
    if (piece.arguments !== '') items.text(call, { kind: 'arguments', part: 0, text: piece.arguments })
    if (piece.signature !== '') call.signature = piece.signature
    if (call.name !== '' && call.signature !== '' && call.item.type === 'function_call') {
      this.#state.addSignature(call.item.call_id, call.signature)
      call.signature = ''
    }
    if (call.name !== '' && call.index === undefined) {
      this.#closeSpeech('completed')
      this.#addState()
      items.announce(call)
    }
    items.setWhole(call, call.name !== '' && call.isComplete)
  }

  #findCall({ position, id, name }: CallPiece): OpenCall | undefined {
    if (position !== undefined) return this.#callsByPosition.get(position)
    return this.#callsById.get(id) ?? (id === '' || name === '' ? this.#lastCall : undefined)
  }

  #startCall({ position }: CallPiece): OpenCall {
    const call = this.items.begin(new OpenCall(this.#chunk), true)
    this.#lastCall = call
    if (position !== undefined) this.#callsByPosition.set(position, call)
    return call
  }

  #nameCall(call: OpenCall, { id, name, isCustom }: CallPiece): void {
    if (call.givenId === '') call.givenId = id
    if (call.givenId !== '') this.#callsById.set(call.givenId, call)
    if (name === '') return
    const { items } = this
    call.name = name
    const call_id = items.callId(call.givenId, name)
    call.item = { type: 'function_call', call_id, name: items.toolName(name), arguments: '', custom: isCustom || undefined }
    if (isCustom) call.jsonKind = undefined
  }

  /** Adds an image, which ends the message or reasoning before it. An unreadable one is only sent to clients of this dialect. */
  #addImage(body: JsonObject): void {
    const item = imageItem(imageUrl(body), { dialect, body })
    this.#closeSpeech('completed')
    this.#addState()
    if (item) this.items.add(item, announcedImage)
    else this.items.add({ type: 'native', dialect, body })
  }

  /** Notes unknown content and, in a stream, passes it through: audio, tools that the host ran. Numbers and texts are ignored as the host's own notes. */
  #noteUnknown(delta: JsonObject, isStreamed: boolean): void {
    let isFound = false
    for (const field in delta) {
      if (messageFields.has(field) || !hasContent(delta[field])) continue
      this.items.noteUnmodeled(field)
      isFound = true
    }
    const body = isFound && isStreamed ? without(delta, messageFields) : undefined
    if (body) this.items.emit({ type: 'native', dialect, name: 'delta', body, preamble: false })
  }

  /** Fixes the outcome and finishes all items. */
  #settle(outcome: Outcome): void {
    const { items } = this
    if (items.outcome) return
    for (const call of items.open) if (call.index === undefined && call.textOf('arguments') !== '') items.fault = namelessCall
    this.#closeSpeech(outcome.status === 'completed' && !items.fault ? 'completed' : 'incomplete')
    this.#addState()
    for (const body of this.#unknownCalls.values()) items.add({ type: 'native', dialect, body })
    items.settle(outcome)
  }

  finish(outcome: Outcome): void {
    const { items } = this
    this.#settle(outcome)
    if (this.#sources && !this.#isCited) items.noteUnmodeled('citations')
    items.end(countUsage(this.#usage, items.count > 0, this.#tier), { dialect, body: this.#lastChunk })
  }
}

/** The first text of an item, which annotations refer to. */
function textPartOf(open: OpenItem): OpenPart | undefined {
  for (const part of open.parts()) if (part.kind === 'text') return part
  return undefined
}

const hasContent = (value: Json | undefined): boolean => typeof value === 'object' && value !== null && Object.keys(value).length > 0
