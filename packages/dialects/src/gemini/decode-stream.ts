import { failed, invalidJson, namelessCall } from '../common/answer-failures.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import { ItemAssembler, messageShell, OpenItem, reasoningShell } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type FrameDecoder, StreamDecoder } from '../common/stream-decoder.ts'
import { isCounted } from '../common/usage.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { ItemStatus } from '../protocol/item.ts'
import type { Outcome } from '../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { citationsOf, hasSources, mergeSources, noSources, type Sources, toolsBesideSearch, unmodeledIn } from './citations.ts'
import { errorIn } from './errors.ts'
import { PartialArguments } from './partial-args.ts'
import { encodeReasoningState, type SignatureState } from './reasoning-state.ts'
import {
  contentParts,
  countUsage,
  dialect,
  filtered,
  firstCandidate,
  isPromptBlocked,
  logprobsOf,
  mergeUsage,
  noLogprobs,
  outcomeOf,
  readHead,
} from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder => new StreamDecoder(new CandidateDecoder(mapping))

/** A call whose arguments arrive in pieces. It is emitted when complete. */
interface PendingCall {
  readonly name: string
  readonly id: string
  signature: string
  readonly args: PartialArguments
}

/** Fields of a text part. A part with any other field is of another kind. */
const textFields: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

/**
 * Decodes one response. This dialect has no event types: a stream is a list of chunks, and a whole response is a single chunk. Every chunk
 * may have a finish reason, so only the end of the stream ends the response. An item starts when the kind of part changes.
 */
export class CandidateDecoder implements FrameDecoder {
  readonly items: ItemAssembler
  /** Whether the response contains more than reasoning. */
  hasAnswer = false
  /** The open message or reasoning item. */
  #text: OpenItem | undefined = undefined
  /** The signature of a message's last part. Emitted after the message, which gets no more text. */
  #endSignature: SignatureState | undefined = undefined
  #call: PendingCall | undefined = undefined
  /** Sources to cite in the next finished message. */
  #sources: Sources = noSources
  readonly #usage: Record<string, Json | undefined> = Object.create(null)
  #finishReason = ''
  #isPromptBlocked = false

  constructor(mapping?: ResponseMapping) {
    this.items = new ItemAssembler(mapping)
  }

  decodeFrame(frame: Frame): void {
    const chunk = readFrame(frame)
    if (chunk === 'broken') this.finish(invalidJson)
    else if (chunk === 'nothing') {
      // A mid-stream error may be sent as a list of one chunk.
      const list = frame.data.trimStart().startsWith('[') ? objects(JSON.parse(frame.data) as Json) : []
      for (const each of list) this.decodeChunk(each)
    } else if (chunk !== 'done') this.decodeChunk(chunk)
  }

  decodeChunk(chunk: JsonObject): void {
    const { items } = this
    if (items.isFinished) return
    if (!items.head) items.start(readHead(chunk), undefined, isObject(chunk.usageMetadata) ? countUsage(chunk.usageMetadata, 0) : undefined)
    mergeUsage(this.#usage, chunk)
    const error = errorIn(chunk)
    if (error) {
      items.fault = failed(error)
      this.finish(items.fault)
      return
    }
    this.#isPromptBlocked ||= isPromptBlocked(chunk)
    const candidate = firstCandidate(chunk)
    if (!candidate) return
    this.#sources = mergeSources(this.#sources, candidate)
    for (const type of unmodeledIn(candidate)) items.noteUnmodeled(type)
    let logprobs = logprobsOf(candidate)
    for (const part of contentParts(candidate)) {
      this.#addPart(part, logprobs)
      // Log probabilities belong to the whole chunk; its first text gets them.
      if (this.#text?.item.type === 'message') logprobs = noLogprobs
    }
    this.#finishReason = stringOf(candidate.finishReason) || this.#finishReason
  }

  #addPart(part: JsonObject, logprobs: readonly JsonObject[]): void {
    const signature = stringOf(part.thoughtSignature)
    const text = stringOf(part.text)
    if (isObject(part.functionCall)) this.#addCall(part.functionCall, signature)
    else if (!isText(part)) this.#addNative(part, signature)
    else if (part.thought !== true) this.#addText(text, signature, logprobs)
    else if (text !== '' || signature !== '') {
      const reasoning = this.#openText('reasoning')
      if (text !== '') this.items.text(reasoning, { kind: 'summary', part: 0, text })
      if (signature !== '') this.#addSignature({ on: 'thought', signature, length: 0 })
    }
  }

  #addNative(body: JsonObject, signature: string): void {
    const { inlineData: blob, thought } = body
    // A draft image is part of the reasoning.
    if (thought === true) {
      this.items.noteUnmodeled('thought')
      return
    }
    const url = isObject(blob) ? `data:${stringOf(blob.mimeType)};base64,${stringOf(blob.data)}` : ''
    const image = imageItem(url, { dialect, body })
    if (image && signature !== '') this.#addSignature({ on: 'image', signature, length: 0 })
    else this.#finishOpenItem()
    if (image) this.items.add(image, announcedImage)
    else this.items.add({ type: 'native', dialect, body })
    this.hasAnswer = true
  }

  #addText(text: string, signature: string, logprobs: readonly JsonObject[]): void {
    const continues = this.#text?.item.type === 'message' && !this.#endSignature
    // The signature of a continued message comes after the message; any other comes before it.
    if (signature !== '' && !continues) this.#addSignature({ on: text === '' ? 'end' : 'text', signature, length: text.length })
    if (text !== '') {
      const message = this.#openText('message')
      this.items.text(message, logprobs.length > 0 ? { kind: 'text', part: 0, text, logprobs } : { kind: 'text', part: 0, text })
      this.hasAnswer = true
    }
    if (signature !== '' && continues) this.#endSignature = { on: 'end', signature, length: text.length }
  }

  #openText(type: 'message' | 'reasoning'): OpenItem {
    if (this.#text?.item.type === type && !this.#endSignature) return this.#text
    this.#finishOpenItem()
    this.#text = this.items.begin(new OpenItem(type === 'message' ? messageShell : reasoningShell))
    return this.#text
  }

  /** Adds a signature to the open reasoning, or as a reasoning item of its own. */
  #addSignature(state: SignatureState): void {
    if (this.#text?.item.type === 'reasoning') this.#finishText('completed', state)
    else {
      this.#finishOpenItem()
      this.#emitSignature(state)
    }
  }

  #emitSignature(state: SignatureState): void {
    this.items.add({ ...reasoningShell, encrypted_content: encodeReasoningState(state) })
  }

  /** Called when another item starts: the item before it is complete. */
  #finishOpenItem(): void {
    this.#finishText('completed')
    this.finishCall()
  }

  /** Finishes the open reasoning or message. `state`: the signature of the reasoning. */
  #finishText(status: ItemStatus, state?: SignatureState): void {
    const { items } = this
    const open = this.#text
    if (!open) return
    this.#text = undefined
    if (open.item.type === 'message') {
      for (const annotation of citationsOf(open.textOf('text'), this.#sources)) items.cite(open, 0, annotation)
      const { searches, hasPlaces } = this.#sources
      this.#sources = { ...noSources, searches, hasPlaces }
    }
    items.finish(open, status, state && { ...reasoningShell, ...open.reasoning(), encrypted_content: encodeReasoningState(state) })
    const signature = this.#endSignature
    this.#endSignature = undefined
    if (signature) this.#emitSignature(signature)
  }

  #addCall(functionCall: JsonObject, signature: string): void {
    const name = stringOf(functionCall.name)
    if (name !== '' && name !== this.#call?.name) this.finishCall()
    if (!this.#call && name === '') {
      this.items.fault ??= namelessCall
      return
    }
    this.#call ??= { name, id: stringOf(functionCall.id), signature: '', args: new PartialArguments(functionCall.args) }
    const call = this.#call
    if (call.signature === '') call.signature = signature
    call.args.add(functionCall.partialArgs)
    if (functionCall.willContinue !== true) this.finishCall()
  }

  /** Emits the pending call. One with truncated arguments counts as content too. */
  finishCall(): void {
    const { items } = this
    if (!this.#call) return
    const { name, id, signature, args } = this.#call
    this.#call = undefined
    this.hasAnswer = true
    if (signature !== '') this.#addSignature({ on: 'call', signature, length: 0 })
    this.#finishText('completed')
    const written = args.toJson()
    if (written === undefined) items.fault ??= invalidJson
    const call_id = items.callId(id, name, written ?? '', signature)
    const call = items.begin(new OpenItem({ type: 'function_call', call_id, name: items.toolName(name), arguments: '' }))
    items.text(call, { kind: 'arguments', part: 0, text: written ?? '{}' })
    items.finish(call)
  }

  /** Ends the response. `fallback`: the outcome if the provider sent none. */
  finish(fallback: Outcome): void {
    const { items, hasAnswer } = this
    this.finishCall()
    const reason = this.#finishReason
    const received = reason === '' ? undefined : outcomeOf(reason, { hasAnswer, hasCall: items.callCount > 0 })
    const outcome = items.fault ?? received ?? (this.#isPromptBlocked ? filtered : fallback)
    this.#finishText(outcome.status === 'completed' ? 'completed' : 'incomplete')
    if (hasSources(this.#sources)) items.noteUnmodeled('groundingMetadata')
    items.settle(outcome)
    const usage = countUsage(this.#usage, this.#sources.searches, toolsBesideSearch(this.#sources))
    items.end(isCounted(usage, items.count > 0) ? usage : undefined)
  }
}

function isText(part: JsonObject): boolean {
  for (const field in part) if (!textFields.has(field)) return false
  return true
}
