import type { TextDelta } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import { type EventOf, jsonText, StreamEncoder } from '../common/stream-encoder.ts'
import type { EventEncoder, ResponseMetadata } from '../protocol/dialect.ts'
import type { InferenceEvent, NativeEvent } from '../protocol/event.ts'
import type { Item, TextPart } from '../protocol/item.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { encodeFailure } from './errors.ts'
import { itemIds } from './item-ids.ts'
import { encodeItem, isExpressible, originalBody } from './items.ts'
import { finishedResponse, startedResponse } from './response-object.ts'
import {
  argumentsFormat,
  deltaTail,
  encodeShell,
  isExpected,
  numbered,
  SentItem,
  type SentPart,
  unknownDeltaFields,
  withAlternatives,
} from './sent-items.ts'
import { dialect, indexOf, isPublicEvent, type PartKind } from './wire.ts'

export const encodeEvents = (request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder =>
  new EventFrames(request, metadata)

const noObjects: readonly JsonObject[] = []
const noExtras = { annotations: noObjects, logprobs: noObjects }

/** A part as its item was finished. */
interface FinalText extends Pick<TextPart, 'text' | 'annotations' | 'logprobs'> {
  readonly kind: PartKind
  readonly part: number
}

/** Encodes events as frames. Only this class assigns the brackets, indexes, ids and sequence numbers of Responses streams. */
class EventFrames extends StreamEncoder {
  readonly #request: InferenceRequest
  readonly #metadata: () => ResponseMetadata
  readonly #items = new Map<number, SentItem>()
  /** Undefined until an item needs an id. */
  #idOf: ((item: Item) => string) | undefined = undefined
  #sequence = 0

  constructor(request: InferenceRequest, metadata: () => ResponseMetadata) {
    super()
    this.#request = request
    this.#metadata = metadata
  }

  protected begin(first: InferenceEvent): boolean {
    const original = first.type === 'started' ? originalBody(first) : undefined
    const response = JSON.stringify(startedResponse({ request: this.#request, metadata: this.#metadata(), original }))
    for (const type of ['response.created', 'response.in_progress'])
      this.emit({ event: type, data: `{"type":"${type}","response":${response}${numbered}${this.#sequence++}}` })
    return true
  }

  protected encode(event: InferenceEvent): void {
    switch (event.type) {
      case 'delta': {
        const item = this.#items.get(event.index)
        if (!item || item.encoded || item.item.type === 'native') return
        const { delta } = event
        if (delta.kind === 'arguments') this.#sendArguments(item, delta.text, event)
        else if (delta.kind !== 'annotation') this.#sendText(item, delta.kind, delta, event)
        else this.#sendAnnotation(item, delta.part, delta.annotation)
        break
      }
      case 'item_started':
        this.#startItem(event.index, event.item)
        break
      case 'item_finished': {
        const started = this.#startItem(event.index, event.item)
        if (started) this.#finishItem(started, event.item)
        break
      }
      case 'native':
        if (event.dialect === dialect) this.#passOn(event)
        break
      case 'finished':
        this.#finish(event)
    }
  }

  #send(type: string, fields: JsonObject): void {
    this.emit({ event: type, data: JSON.stringify({ type, ...fields, sequence_number: this.#sequence++ }) })
  }

  #startItem(index: number, item: Item): SentItem | undefined {
    const known = this.#items.get(index)
    if (known || (item.type === 'native' && item.dialect !== dialect)) return known
    if (!this.#idOf) {
      const { itemId, claimId } = this.#metadata()
      this.#idOf = itemIds(itemId, claimId)
    }
    const started = new SentItem(item, this.#idOf(item), this.#items.size)
    this.#items.set(index, started)
    this.#send('response.output_item.added', { output_index: started.outputIndex, item: encodeShell(item, started.id) })
    return started
  }

  /** The part that a delta extends. Parts follow one another, so a new one closes the previous one. */
  #openPart(item: SentItem, kind: PartKind, number: number): SentPart {
    const { current } = item
    if (current?.kind === kind && current.partNumber === number) return current
    const known = item.parts.get(`${kind}:${number}`)
    if (known) return known
    if (current) this.#closePart(item, current)
    const added = item.addPart(kind, number)
    const { bracket, encode } = added.format
    this.#send(`${bracket}.added`, { ...added.position, part: encode('', noExtras) })
    return added
  }

  #closePart(item: SentItem, part: SentPart): void {
    if (part.isClosed) return
    part.isClosed = true
    if (item.current === part) item.current = undefined
    const { kind, annotations, logprobs, position } = part
    const { stem, bracket, textField, encode } = part.format
    const text = part.final ?? part.toString()
    this.#send(`${stem}.done`, { ...position, [textField]: text, logprobs: kind === 'text' ? logprobs.map(withAlternatives) : undefined })
    this.#send(`${bracket}.done`, { ...position, part: encode(text, { annotations, logprobs }) })
  }

  /** `event`: undefined for text that no delta contained. */
  #sendText(
    item: SentItem,
    kind: PartKind,
    { part: number, text, logprobs = noObjects }: Omit<TextDelta, 'kind'>,
    event?: EventOf<'delta'>,
  ): void {
    const part = this.#openPart(item, kind, number)
    if (text === '' && logprobs.length === 0) return
    part.add(text, event)
    for (const entry of logprobs) part.logprobs.push(entry)
    const { deltaEvent } = part.format
    const unknown = event && originalOf(event) && unknownDeltaFields(event)
    if (unknown || logprobs.length > 0) {
      const probabilities = kind === 'text' ? logprobs.map(withAlternatives) : unknown?.logprobs
      this.#send(deltaEvent, { ...unknown, ...part.position, delta: text, logprobs: probabilities })
    } else {
      const number = `${this.#sequence++}}`
      this.emit({ event: deltaEvent, data: part.head + jsonText(text) + part.tail + number })
    }
  }

  #sendArguments(item: SentItem, text: string, event?: EventOf<'delta'>): void {
    if (text === '') return
    item.add(text, event)
    const unknown = event && originalOf(event) && unknownDeltaFields(event)
    const deltaEvent = `${argumentsFormat(item.item).stem}.delta`
    if (unknown) this.#send(deltaEvent, { ...unknown, item_id: item.id, output_index: item.outputIndex, delta: text })
    else {
      const number = `${this.#sequence++}}`
      this.emit({ event: deltaEvent, data: item.argumentsHead + jsonText(text) + deltaTail + number })
    }
  }

  #sendAnnotation(item: SentItem, number: number, annotation: JsonObject): void {
    const part = this.#openPart(item, 'text', number)
    if (!isExpressible(annotation)) return
    const index = part.annotations.push(annotation) - 1
    this.#send('response.output_text.annotation.added', { ...part.position, annotation_index: index, annotation })
  }

  #finishItem(item: SentItem, final: Item): void {
    if (item.encoded) return
    const { id, outputIndex } = item
    const encoded = encodeItem(final, id)
    if (final.type === 'message')
      for (const [number, part] of final.content.entries()) {
        if (part.type === 'text') this.#finishPart(item, { ...part, kind: 'text', part: number })
        else if (part.type === 'refusal') this.#finishPart(item, { kind: 'refusal', part: number, text: part.refusal })
        else if (part.type === 'native' && !item.natives?.has(number)) {
          if (item.current) this.#closePart(item, item.current)
          const position = { item_id: id, output_index: outputIndex, content_index: item.contents++ }
          for (const end of ['added', 'done']) this.#send(`response.content_part.${end}`, { ...position, part: part.body })
        }
      }
    if (final.type === 'reasoning') {
      for (const [part, text] of final.summary.entries()) this.#finishPart(item, { kind: 'summary', part, text })
      for (const [part, text] of (final.content ?? []).entries()) this.#finishPart(item, { kind: 'reasoning', part, text })
    }
    for (const part of item.parts.values()) this.#closePart(item, part)
    if (final.type === 'function_call') {
      const { stem, field } = argumentsFormat(item.item)
      const text = stringOf(encoded[field])
      this.#sendArguments(item, item.restOf(text))
      const name = field === 'arguments' ? final.name : undefined
      this.#send(`${stem}.done`, { item_id: id, output_index: outputIndex, name, [field]: text })
    }
    this.#send('response.output_item.done', { output_index: outputIndex, item: encoded })
    item.encoded = encoded
  }

  /** Completes a part to its final text by sending what no delta sent. */
  #finishPart(item: SentItem, final: FinalText): void {
    const { kind, text, part: number } = final
    const part = this.#openPart(item, kind, number)
    if (part.isClosed) return
    const rest = part.restOf(text)
    if (rest !== '') this.#sendText(item, kind, { part: number, text: rest })
    part.final = text
    const annotations = final.annotations?.filter(isExpressible)
    for (const annotation of annotations?.slice(part.annotations.length) ?? []) this.#sendAnnotation(item, number, annotation)
    part.annotations = [...(annotations ?? part.annotations)]
    part.logprobs = [...(final.logprobs ?? part.logprobs)]
    this.#closePart(item, part)
  }

  #passOn({ name, index, body }: NativeEvent): void {
    const item = index === undefined ? undefined : this.#items.get(index)
    if (!isPublicEvent(name) || !isExpected(name, item)) return
    const { type, sequence_number, obfuscation, error, ...rest } = body
    if (!item) this.#send(name, { ...rest, ...('response_id' in rest && { response_id: this.#metadata().id }) })
    else if (item.item.type !== 'message') this.#send(name, { ...rest, item_id: item.id, output_index: item.outputIndex })
    else {
      // A part that is passed through is numbered together with the others.
      const theirs = indexOf(rest.content_index) ?? item.contents
      const isNew = name.endsWith('.added')
      const { natives = new Map<number, number>() } = item
      if (natives.has(theirs) === isNew) return
      if (isNew && item.current) this.#closePart(item, item.current)
      if (isNew) natives.set(theirs, item.contents++)
      item.natives = natives
      this.#send(name, { ...rest, item_id: item.id, output_index: item.outputIndex, content_index: natives.get(theirs) })
    }
  }

  #finish(event: EventOf<'finished'>): void {
    const { outcome, usage } = event
    const metadata = this.#metadata()
    const items = [...this.#items.values()]
    for (const item of items)
      if (!item.encoded) this.#finishItem(item, item.soFar(outcome.status === 'completed' ? 'completed' : 'incomplete'))
    const output = items.flatMap(({ encoded }): readonly JsonObject[] => (encoded ? [encoded] : []))
    if (outcome.status !== 'failed') metadata.keepItems?.(output)
    else {
      // In both existing formats, because each is missed by some client.
      const error = encodeFailure(outcome.error)
      const { type, ...facts } = error
      const param = outcome.error.param ?? null
      this.#send('error', { ...facts, param, error: { ...error, param } })
    }
    const response = finishedResponse({ request: this.#request, metadata, original: originalBody(event) }, { outcome, usage, output })
    this.#send(`response.${outcome.status}`, { response })
  }
}
