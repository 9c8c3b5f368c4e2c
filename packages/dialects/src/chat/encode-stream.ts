import { idUnder } from '../common/ids.ts'
import { type EventOf, isFailure, jsonText, StreamEncoder } from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Item, MessageItem, ReasoningItem } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
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

export const encodeEvents = (request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder =>
  new ChunkEncoder(request, metadata)

/** The sent part of an item that is not finished. */
interface SentItem {
  /** Characters sent, by part; the arguments of a call are part 0. */
  readonly sent: Map<number, number>
  /** Offset of each text in the content. */
  readonly starts: Map<number, number>
  /** A chunk up to the arguments. */
  readonly argumentsHead: string
  readonly isCustom: boolean
  /** Reasoning has a summary or raw text; whichever comes first is sent. */
  reasoningKind: 'summary' | 'reasoning' | undefined
  isFinished: boolean
}

interface Piece {
  readonly part: number
  readonly text: string
  readonly logprobs?: readonly JsonObject[]
}

/** Encodes events as chunks, which consist of texts that are the same for all chunks of a response and one that is not. */
class ChunkEncoder extends StreamEncoder {
  readonly #request: InferenceRequest
  readonly #metadata: () => ResponseMetadata
  readonly #items = new Map<number, SentItem>()
  readonly #usageField: string
  /** The end of a chunk: after log probabilities, and after a delta. */
  readonly #end: string
  readonly #tail: string
  /** A chunk up to `choices`, and up to the delta. */
  #base = ''
  #head = ''
  /** Fields that the provider repeats on every chunk, as on the first. */
  #repeated: JsonObject = {}
  /** Characters sent so far. */
  #contentLength = 0
  #reasoningLength = 0
  #calls = 0
  #images = 0
  #sealedStates = 0
  /** State to send with the next call. */
  #callState: string | undefined = undefined

  constructor(request: InferenceRequest, metadata: () => ResponseMetadata) {
    super()
    this.#request = request
    this.#metadata = metadata
    const body = originalBody(request)
    this.#usageField = body !== undefined && wantsUsage(body) ? ',"usage":null' : ''
    this.#end = `,"finish_reason":null}]${this.#usageField}}`
    this.#tail = `,"logprobs":null${this.#end}`
  }

  protected begin(first: InferenceEvent): boolean {
    if (isFailure(first)) return false
    const original = (first.type === 'started' && originalBody(first)) || {}
    const { model, created_at: created, id } = this.#metadata()
    this.#repeated = repeatedFieldsOf(original)
    const facts = { id: idUnder('chatcmpl-', { id }), object: 'chat.completion.chunk', created, model, ...this.#repeated }
    this.#base = JSON.stringify(facts).slice(0, -1)
    // Joined, because a template is kept as a chain of its pieces.
    this.#head = [this.#base, ',"choices":[{"index":0,"delta":'].join('')
    const announced = `${this.#head}{"role":"assistant","content":""}${this.#tail}`
    this.emit({ data: `${announced.slice(0, -1)}${fieldsText(unknownFieldsOf(original), this.#repeated)}}` })
    return true
  }

  protected encode(event: InferenceEvent): void {
    if (event.type === 'delta') this.#encodeDelta(event)
    else if (event.type === 'item_started') this.#startItem(event.index, event.item)
    else if (event.type === 'item_finished') this.#finishItem(event.index, event.item)
    else if (event.type === 'finished') this.#finish(event)
    else if (event.type === 'native' && event.dialect === dialect) this.#send(without(event.body, messageFields))
  }

  #startItem(index: number, item: Item): SentItem {
    const known = this.#items.get(index)
    if (known) return known
    const isCustom = item.type === 'function_call' && item.custom === true
    const field = isCustom ? '"custom":{"input":"' : '"function":{"arguments":"'
    const started: SentItem = {
      sent: new Map(),
      starts: new Map(),
      argumentsHead: item.type === 'function_call' ? `${this.#head}{"tool_calls":[{"index":${this.#calls},${field}` : '',
      isCustom,
      reasoningKind: undefined,
      isFinished: false,
    }
    this.#items.set(index, started)
    if (item.type === 'function_call') {
      const { call_id: id, name } = item
      const call = isCustom ? { type: 'custom', custom: { name, input: '' } } : { type: 'function', function: { name, arguments: '' } }
      this.#send({ tool_calls: [{ index: this.#calls++, id, ...call, ...encodeSignature(this.#callState) }] })
      this.#callState = undefined
    }
    return started
  }

  #encodeDelta({ index, delta }: EventOf<'delta'>): void {
    const item = this.#items.get(index)
    // Citations are sent at the end of their message, because clients keep only the last list.
    if (!item || item.isFinished || delta.kind === 'annotation') return
    if (delta.text === '' && delta.logprobs === undefined) return
    if (delta.kind === 'text') this.#sendText(item, delta)
    else if (delta.kind === 'arguments') this.#sendArguments(item, delta)
    else if (delta.kind === 'refusal') this.#sendRefusal(item, delta)
    else {
      item.reasoningKind ??= delta.kind
      if (item.reasoningKind === delta.kind) this.#sendReasoning(item, delta)
    }
  }

  #sendText(item: SentItem, piece: Piece): void {
    const { part, text, logprobs } = piece
    if (countSent(item, piece) === 0) item.starts.set(part, this.#contentLength)
    this.#contentLength += text.length
    const start = `${this.#head}{"content":"${jsonText(text)}"}`
    this.emit({ data: logprobs ? `${start},"logprobs":${JSON.stringify(encodeLogprobs(logprobs))}${this.#end}` : start + this.#tail })
  }

  #sendReasoning(item: SentItem, piece: Piece): void {
    const text = countSent(item, piece) === 0 && this.#reasoningLength > 0 ? paragraphBreak + piece.text : piece.text
    this.#reasoningLength += piece.text.length
    this.emit({ data: `${this.#head}{"reasoning_content":"${jsonText(text)}"}${this.#tail}` })
  }

  #sendRefusal(item: SentItem, piece: Piece): void {
    countSent(item, piece)
    this.emit({ data: `${this.#head}{"refusal":"${jsonText(piece.text)}"}${this.#tail}` })
  }

  #sendArguments(item: SentItem, piece: Piece): void {
    countSent(item, piece)
    this.emit({ data: `${item.argumentsHead}${jsonText(piece.text)}"}}]}${this.#tail}` })
  }

  #finishItem(index: number, item: Item): void {
    const started = this.#startItem(index, item)
    if (started.isFinished) return
    started.isFinished = true
    if (item.type === 'message') this.#finishMessage(started, item)
    else if (item.type === 'reasoning') this.#finishReasoning(started, item)
    else if (item.type === 'function_call') {
      const { arguments: written, status } = item
      const rest = unsent(started, 0, written === '' && status !== 'incomplete' && !started.isCustom ? '{}' : written)
      if (rest.text !== '') this.#sendArguments(started, rest)
    } else {
      const call = unknownCall(item)
      const image = call ? undefined : encodeImage(item, this.#images)
      if (call) this.#send({ tool_calls: [{ ...call, index: this.#calls++ }] })
      if (!image) return
      this.#images++
      this.#send({ images: [image] })
    }
  }

  #finishMessage(item: SentItem, { content }: MessageItem): void {
    const annotations: JsonObject[] = []
    for (const [number, part] of content.entries()) {
      if (part.type === 'refusal') {
        const rest = unsent(item, number, part.refusal)
        if (rest.text !== '') this.#sendRefusal(item, rest)
      } else if (part.type === 'text') {
        const rest = unsent(item, number, part.text)
        if (rest.text !== '') this.#sendText(item, rest)
        const start = item.starts.get(number) ?? this.#contentLength
        for (const annotation of encodeAnnotations(part, start)) annotations.push(annotation)
      }
    }
    if (annotations.length > 0) this.#send({ annotations })
  }

  #finishReasoning(item: SentItem, { summary, content = [], encrypted_content }: ReasoningItem): void {
    const kind = item.reasoningKind ?? (summary.length > 0 ? 'summary' : 'reasoning')
    for (const [number, text] of (kind === 'summary' ? summary : content).entries()) {
      const rest = unsent(item, number, text)
      if (rest.text !== '') this.#sendReasoning(item, rest)
    }
    if (encrypted_content === undefined) return
    this.#send({ reasoning_details: [encodeSealedState(encrypted_content, this.#sealedStates++)] })
    this.#callState = encrypted_content
  }

  #finish(event: EventOf<'finished'>): void {
    const { outcome, usage } = event
    if (outcome.status === 'failed') {
      this.emit({ data: JSON.stringify(encodeFailure(outcome.error, this.#request)) })
      return
    }
    const original = originalBody(event)
    const facts = { ...(original && unknownFieldsOf(original)), ...encodeGatewayFields(this.#metadata(), this.#request) }
    const last = fieldsText(facts, this.#repeated)
    const reason = JSON.stringify(finishReasonOf(outcome, this.#calls > 0))
    const finished = `${this.#head}{},"logprobs":null,"finish_reason":${reason}}]${this.#usageField}`
    if (this.#usageField !== '' && usage) {
      this.emit({ data: `${finished}}` })
      this.emit({ data: `${this.#base},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}${last}}` })
    } else this.emit({ data: `${finished}${last}}` })
    this.emit({ data: '[DONE]' })
  }

  #send(delta: JsonObject): void {
    this.emit({ data: `${this.#head}${JSON.stringify(delta)}${this.#tail}` })
  }
}

/** Counts the characters of a piece, and returns how many of its part were sent before. */
function countSent({ sent }: SentItem, { part, text }: Piece): number {
  const before = sent.get(part) ?? 0
  sent.set(part, before + text.length)
  return before
}

/** The unsent rest of a text. */
const unsent = ({ sent }: SentItem, part: number, text: string): Piece => ({ part, text: text.slice(sent.get(part) ?? 0) })
