import { failed, invalidJson, namelessCall } from '../common/answer-failures.ts'
import type { DeltaFrames } from '../common/delta-template.ts'
import { ItemAssembler, type OpenItem, type TextDelta } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readFrame } from '../common/parse-frame.ts'
import { type FrameDecoder, StreamDecoder } from '../common/stream-decoder.ts'
import type { EventDecoder, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { Item } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { TextBuffer } from '../protocol/text-delta.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { decodeOutcome, decodeOutputItem, headOf, usageOf } from './decode-response.ts'
import { failureOfEvent } from './errors.ts'
import { type AssumedType, ItemRegistry, matchItems } from './item-registry.ts'
import { mergedItem } from './merged-item.ts'
import { dialect, hostedEvents, indexOf, type PartKind } from './wire.ts'

export const decodeEvents = (mapping?: ResponseMapping): EventDecoder => new StreamDecoder(new ResponseDecoder(mapping), deltaFrames)

const deltaFrames: DeltaFrames = { textOf: deltaIn, varying: ['sequence_number', 'obfuscation'] }

/** The kind of text that an event adds or ends, and the item to assume if it was not announced. */
const textEvents: ReadonlyMap<string, readonly [kind: PartKind, type: AssumedType]> = new Map(
  (
    [
      ['response.output_text', 'text', 'message'],
      ['response.refusal', 'refusal', 'message'],
      ['response.reasoning_summary_text', 'summary', 'reasoning'],
      ['response.reasoning_text', 'reasoning', 'reasoning'],
      ['response.reasoning', 'reasoning', 'reasoning'],
    ] as const
  ).flatMap(([prefix, kind, type]) => ['delta', 'done'].map(ending => [`${prefix}.${ending}`, [kind, type]] as const)),
)

const terminals: ReadonlyMap<string, string> = new Map(['completed', 'incomplete', 'failed'].map(status => [`response.${status}`, status]))

/**
 * Decodes the events of one response. Positions are trusted, ids and numbers are not: some providers change ids with every event, leave gaps
 * in the numbering, or send events about an item that they never announced.
 */
class ResponseDecoder implements FrameDecoder {
  readonly items: ItemAssembler
  readonly #registry = new ItemRegistry()

  constructor(mapping?: ResponseMapping) {
    this.items = new ItemAssembler(mapping)
  }

  decodeFrame(frame: Frame): void {
    const read = readFrame(frame)
    const content = read === 'broken' ? (repairSnapshot(frame) ?? read) : read
    if (content === 'broken') this.finish(invalidJson)
    else if (content !== 'nothing' && content !== 'done') {
      const body = unwrapEvent(content)
      this.#decodeEvent(eventNameOf(body, frame), body)
    }
  }

  #decodeEvent(name: string, body: JsonObject): void {
    const { items } = this
    const text = textEvents.get(name)
    if (text) this.#addText(body, name, ...text)
    switch (name) {
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const call = this.#open(body, 'function_call')
        if (call) rememberUnknownFields(items.text(call, { kind: 'arguments', part: 0, text: stringOf(body.delta) }), body)
        break
      }
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        this.#endArguments(body)
        break
      case 'response.content_part.added':
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
        this.#addPart(body, name)
        break
      case 'response.output_text.annotation.added': {
        const message = isObject(body.annotation) ? this.#open(body, 'message') : undefined
        if (message && isObject(body.annotation)) items.cite(message, partNumberOf('text', body), body.annotation)
        break
      }
      case 'response.output_item.added':
        if (isObject(body.item)) this.#startItem(body, decodeOutputItem(body.item, items.mapping))
        break
      case 'response.output_item.done':
        if (isObject(body.item)) this.#endItem(body, body.item)
        break
      case 'response.created':
        this.#start(isObject(body.response) ? body.response : {})
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#endResponse(body, terminals.get(name))
        break
      case 'error':
        this.finish(failed(failureOfEvent(body)))
        break
      default: {
        const hosted = hostedEvents.get(name)
        if (!hosted) break
        if (hosted.item === undefined) items.noteUnmodeled('audio')
        this.#passOn(body, name, this.#registry.find(body.output_index, body.item_id))
      }
    }
  }

  #start(response: JsonObject): void {
    this.items.start(headOf(response), { dialect, body: response })
  }

  /** The item that an event is about, announced. Undefined if it is finished or not decoded. */
  #open(body: JsonObject, type: AssumedType): OpenItem | undefined {
    const open = this.#registry.findOrAdd(body, type)
    if (open.isFinished || open.item.type === 'native') return undefined
    this.#announce(open)
    return open
  }

  /** Adds a delta of a text, or what its end says. For an item that is not decoded, the event is passed through. */
  #addText(body: JsonObject, name: string, kind: PartKind, type: AssumedType): void {
    const open = this.#registry.findOrAdd(body, type)
    if (open.item.type === 'native') this.#passOn(body, name, open)
    if (open.item.type === 'native' || open.isFinished) return
    this.#announce(open)
    const part = partNumberOf(kind, body)
    if (name.endsWith('.done')) {
      this.#completeText(open, kind, part, stringOf(kind === 'refusal' ? body.refusal : body.text))
      return
    }
    const text = stringOf(body.delta)
    const logprobs = body.logprobs === undefined ? undefined : objects(body.logprobs)
    const delta: TextDelta = logprobs && logprobs.length > 0 ? { kind, part, text, logprobs } : { kind, part, text }
    rememberUnknownFields(this.items.text(open, delta), body)
  }

  #endArguments(body: JsonObject): void {
    const open = this.#registry.findOrAdd(body, 'function_call')
    const { item } = open
    if (open.isFinished || item.type !== 'function_call') return
    this.#announce(open, { ...item, name: this.items.toolName(stringOf(body.name)) })
    this.#completeText(open, 'arguments', 0, stringOf(item.custom ? body.input : body.arguments))
  }

  #addPart(body: JsonObject, name: string): void {
    const { part } = body
    if (!isObject(part) || typeof part.type !== 'string') return
    const kind = name.startsWith('response.reasoning_summary') ? 'summary' : partKinds.get(part.type)
    const open = this.#registry.findOrAdd(body, kind === 'summary' || kind === 'reasoning' ? 'reasoning' : 'message')
    if (open.isFinished) return
    this.#announce(open)
    if (!kind || open.item.type === 'native') {
      this.#passOn(body, name, open)
      return
    }
    const number = partNumberOf(kind, body)
    const text = stringOf(kind === 'refusal' ? part.refusal : part.text)
    if (text === '' && !open.hasPart(kind, number)) this.items.text(open, { kind, part: number, text })
    this.#completeText(open, kind, number, text)
  }

  #startItem(body: JsonObject, item: Item): void {
    const outputIndex = indexOf(body.output_index)
    const known = outputIndex === undefined ? undefined : this.#registry.at(outputIndex)
    const isKnown = known && !known.isFinished && known.item.type === item.type
    this.#announce(isKnown ? known : this.#registry.add(outputIndex, item), item)
  }

  #endItem(body: JsonObject, wire: JsonObject): void {
    const item = decodeOutputItem(wire, this.items.mapping)
    const known = this.#registry.find(body.output_index, wire.id)
    const isSameType = known?.item.type === item.type
    if (known?.isFinished && isSameType) return
    this.#finishItem(known && isSameType ? known : this.#registry.add(indexOf(body.output_index), item), item)
  }

  /** The last snapshot finishes whatever is open, and may contain items that were never streamed. */
  #endResponse(body: JsonObject, named: string | undefined): void {
    const { mapping } = this.items
    const response = isObject(body.response) ? body.response : {}
    this.#start(response)
    const status = terminals.has(`response.${stringOf(response.status)}`) ? response.status : named
    const outcome = decodeOutcome({ error: body.error, ...response, status })
    const { all } = this.#registry
    const output = objects(response.output).map(item => decodeOutputItem(item, mapping))
    const streamed = matchItems([...all], output)
    for (const [index, item] of output.entries()) this.#finishItem(streamed[index] ?? this.#registry.add(undefined, item), item)
    this.finish(outcome, response, usageOf(response, { answered: this.#registry.all.length > 0, mapping }))
  }

  /** Announces an item in its current state. A call is not announced before it has a name. */
  #announce(open: OpenItem, item: Item = open.item): void {
    if (open.index !== undefined) return
    open.item = item
    if (item.type === 'function_call' && item.name !== '') {
      const call_id = this.items.callId(item.call_id, item.name)
      if (call_id !== item.call_id) open.item = { ...item, call_id }
    }
    this.#registry.registerId(open)
    this.items.announce(open)
  }

  /** Emits an event that is not decoded. */
  #passOn(body: JsonObject, name: string, open: OpenItem | undefined): void {
    const preamble = hostedEvents.get(name)?.preamble ?? name.endsWith('.added')
    this.items.emit({ type: 'native', dialect, name, index: open?.index, body, preamble })
  }

  /** Completes a text whose final value is known: emits what its deltas left out. */
  #completeText(open: OpenItem, kind: TextDelta['kind'], number: number, text: string): void {
    const part = open.part(kind, number)
    const { length } = part.text
    if (text.length > length && text.startsWith(part.text.toString()))
      this.items.text(open, { kind, part: number, text: text.slice(length) })
    else if (text !== '') part.text = new TextBuffer(text)
  }

  /** Emits what the deltas of an item left out of its final text. */
  #completeItem(open: OpenItem, item: Item): void {
    if (item.type === 'function_call') this.#completeText(open, 'arguments', 0, item.arguments)
    else if (item.type === 'reasoning') {
      for (const [part, text] of item.summary.entries()) this.#completeText(open, 'summary', part, text)
      for (const [part, text] of (item.content ?? []).entries()) this.#completeText(open, 'reasoning', part, text)
    } else if (item.type === 'message')
      for (const [number, part] of item.content.entries()) {
        if (part.type === 'refusal') this.#completeText(open, 'refusal', number, part.refusal)
        if (part.type !== 'text') continue
        this.#completeText(open, 'text', number, part.text)
        const emitted = open.part('text', number).annotations.length
        for (const annotation of part.annotations?.slice(emitted) ?? []) this.items.cite(open, number, annotation)
      }
  }

  #finishItem(open: OpenItem, last: Item): void {
    if (open.isFinished) return
    this.#announce(open, last)
    const item = mergedItem(open, last)
    if (open.index !== undefined) this.#completeItem(open, item)
    this.items.finish(open, 'completed', item)
  }

  finish(outcome: Outcome, response?: JsonObject, usage?: Usage): void {
    const { items } = this
    const { all } = this.#registry
    this.#start(response ?? {})
    const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
    for (const open of all) if (!open.isFinished) this.#finishItem(open, open.complete(status))
    items.outcome = outcome.status !== 'failed' && all.some(({ index }) => index === undefined) ? namelessCall : outcome
    items.end(usage, response && { dialect, body: response })
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

const partKinds: ReadonlyMap<string, PartKind> = new Map<string, PartKind>([
  ['output_text', 'text'],
  ['text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'reasoning'],
  ['summary_text', 'summary'],
])

const partNumberOf = (kind: PartKind, body: JsonObject): number =>
  indexOf(kind === 'summary' ? body.summary_index : body.content_index) ?? 0
