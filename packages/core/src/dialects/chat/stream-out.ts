import type { EventEncoder, Stamp } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../../protocol/event.ts'
import type { FunctionCallItem, Item, MessageItem, ReasoningItem } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Frame, JsonObject } from '../../protocol/wire.ts'
import { idUnder } from '../ids.ts'
import { wantsUsage } from './request.ts'
import { stampOn, unreadOf, writeFailure } from './snapshot.ts'
import { dialect, messageFields, originalBody, without } from './wire.ts'
import { customTools, finishOf, paragraph, writeAnnotations, writeLogprobs, writeSealed, writeSignature, writeUsage } from './writing.ts'

// Facts → chunks. The only place that knows the shape of chunks, and the numbers of calls in them.

/** How much of an open item has been told. */
interface Slot {
  /** Characters of each part; of a call, part 0. */
  readonly told: Map<number, number>
  /** Where in the content each text begins. */
  readonly begins: Map<number, number>
  /** Everything of a piece of arguments before the piece: the same for each of them. */
  readonly head: string
  readonly isCustom: boolean
  /** Which telling of a thought goes out: the first that comes. */
  thought: 'summary' | 'reasoning' | undefined
  done: boolean
}

/** The fields of a delta that hold words. */
type Words = 'content' | 'reasoning_content' | 'refusal'

interface Piece {
  readonly part: number
  readonly text: string
  readonly logprobs?: readonly JsonObject[]
}

export function encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder {
  const body = originalBody(request)
  const counts = body !== undefined && wantsUsage(body)
  const customs = customTools(request)
  const slots = new Map<number, Slot>()
  let frames: Frame[] = []
  let state: 'fresh' | 'begun' | 'ended' = 'fresh'
  /** The beginning of every chunk, up to its choices; of every chunk that says something, up to what it says; and up to each kind of words. */
  let base = ''
  let head = ''
  let heads: Readonly<Record<Words, string>> = { content: '', reasoning_content: '', refusal: '' }
  /** The end of such a chunk: behind probabilities, and where there are none; behind words, and behind arguments. */
  const rest = `,"finish_reason":null}]${counts ? ',"usage":null' : ''}}`
  const foot = `,"logprobs":null${rest}`
  const wordsFoot = `}${foot}`
  const argumentsFoot = `}}]}${foot}`
  let fingerprint: JsonObject = {}
  /** Characters of the content so far. */
  let length = 0
  let thoughts = 0
  let calls = 0
  let sealed = 0
  /** State that goes with the next call. */
  let carried: string | undefined

  const emit = (delta: string): void => {
    frames.push({ data: `${head}${delta}${foot}` })
  }
  const emitWords = (kind: Words, text: string): void => {
    frames.push({ data: `${heads[kind]}${JSON.stringify(text)}${wordsFoot}` })
  }

  const begin = (original: JsonObject = {}): void => {
    state = 'begun'
    const { model, created_at: created, id } = stamp()
    fingerprint = Object.fromEntries(Object.entries(original).filter(([field, value]) => headFields.has(field) && value !== null))
    const facts = { id: idUnder('chatcmpl-', { id }), object: 'chat.completion.chunk', created, model, ...fingerprint }
    base = JSON.stringify(facts).slice(0, -1)
    head = `${base},"choices":[{"index":0,"delta":`
    heads = { content: `${head}{"content":`, reasoning_content: `${head}{"reasoning_content":`, refusal: `${head}{"refusal":` }
    const announced = `${head}{"role":"assistant","content":""}${foot}`
    frames.push({ data: `${announced.slice(0, -1)}${fieldsOf(unreadOf(original), fingerprint)}}` })
  }

  const open = (index: number, item: Item): Slot => {
    const known = slots.get(index)
    if (known) return known
    const isCustom = item.type === 'function_call' && customs.has(item.name)
    const kind = isCustom ? '"custom":{"input":' : '"function":{"arguments":'
    const slot: Slot = {
      told: new Map(),
      begins: new Map(),
      head: item.type === 'function_call' ? `${head}{"tool_calls":[{"index":${calls},${kind}` : '',
      isCustom,
      thought: undefined,
      done: false,
    }
    slots.set(index, slot)
    if (item.type === 'function_call') announce(item, isCustom)
    return slot
  }

  const announce = ({ call_id: id, name }: FunctionCallItem, isCustom: boolean): void => {
    const said = isCustom ? { type: 'custom', custom: { name, input: '' } } : { type: 'function', function: { name, arguments: '' } }
    emit(JSON.stringify({ tool_calls: [{ index: calls++, id, ...said, ...writeSignature(carried) }] }))
    carried = undefined
  }

  /** How much of the part was told before. */
  const count = ({ told }: Slot, { part, text }: Piece): number => {
    const before = told.get(part) ?? 0
    told.set(part, before + text.length)
    return before
  }

  const tellText = (slot: Slot, piece: Piece): void => {
    const { part, text, logprobs } = piece
    if (count(slot, piece) === 0) slot.begins.set(part, length)
    length += text.length
    if (logprobs)
      frames.push({ data: `${heads.content}${JSON.stringify(text)}},"logprobs":${JSON.stringify(writeLogprobs(logprobs))}${rest}` })
    else emitWords('content', text)
  }

  const tellThought = (slot: Slot, piece: Piece): void => {
    const breaks = count(slot, piece) === 0 && thoughts > 0
    thoughts += piece.text.length
    emitWords('reasoning_content', breaks ? paragraph + piece.text : piece.text)
  }

  const tellRefusal = (slot: Slot, piece: Piece): void => {
    count(slot, piece)
    emitWords('refusal', piece.text)
  }

  const tellArguments = (slot: Slot, piece: Piece): void => {
    count(slot, piece)
    frames.push({ data: `${slot.head}${JSON.stringify(piece.text)}${argumentsFoot}` })
  }

  const grow = (slot: Slot, delta: Delta): void => {
    // Citations go out with the end of their message: clients keep only the last list of them.
    if (slot.done || delta.kind === 'annotation') return
    if (delta.text === '' && delta.logprobs === undefined) return
    if (delta.kind === 'text') tellText(slot, delta)
    else if (delta.kind === 'arguments') tellArguments(slot, delta)
    else if (delta.kind === 'refusal') tellRefusal(slot, delta)
    else {
      slot.thought ??= delta.kind
      if (slot.thought === delta.kind) tellThought(slot, delta)
    }
  }

  /** What no delta has told of a text. */
  const restOf = ({ told }: Slot, part: number, text: string): Piece => ({ part, text: text.slice(told.get(part) ?? 0) })

  const finishMessage = (slot: Slot, { content }: MessageItem): void => {
    const annotations: JsonObject[] = []
    for (const [number, part] of content.entries()) {
      if (part.type === 'refusal') {
        const rest = restOf(slot, number, part.refusal)
        if (rest.text !== '') tellRefusal(slot, rest)
      } else if (part.type === 'text') {
        const rest = restOf(slot, number, part.text)
        if (rest.text !== '') tellText(slot, rest)
        for (const annotation of writeAnnotations(part, slot.begins.get(number) ?? length)) annotations.push(annotation)
      }
    }
    if (annotations.length > 0) emit(JSON.stringify({ annotations }))
  }

  const finishThought = (slot: Slot, { summary, content = [], encrypted_content }: ReasoningItem): void => {
    const kind = slot.thought ?? (summary.length > 0 ? 'summary' : 'reasoning')
    for (const [number, text] of (kind === 'summary' ? summary : content).entries()) {
      const rest = restOf(slot, number, text)
      if (rest.text !== '') tellThought(slot, rest)
    }
    if (encrypted_content === undefined) return
    emit(JSON.stringify({ reasoning_details: [writeSealed(encrypted_content, sealed++)] }))
    carried = encrypted_content
  }

  const finishCall = (slot: Slot, { arguments: written, status }: FunctionCallItem): void => {
    const rest = restOf(slot, 0, written === '' && status !== 'incomplete' && !slot.isCustom ? '{}' : written)
    if (rest.text !== '') tellArguments(slot, rest)
  }

  const finish = (slot: Slot, item: Item): void => {
    if (slot.done) return
    slot.done = true
    if (item.type === 'message') finishMessage(slot, item)
    else if (item.type === 'reasoning') finishThought(slot, item)
    else if (item.type === 'function_call') finishCall(slot, item)
  }

  const end = (event: Extract<InferenceEvent, { type: 'finished' }>): void => {
    const { outcome, usage } = event
    state = 'ended'
    if (outcome.status === 'failed') {
      frames.push({ data: JSON.stringify(writeFailure(outcome.error, request)) })
      return
    }
    const original = originalBody(event)
    const last = fieldsOf({ ...(original && unreadOf(original)), ...stampOn(stamp(), request) }, fingerprint)
    const reason = JSON.stringify(finishOf(outcome, calls > 0))
    const finished = `${head}{},"logprobs":null,"finish_reason":${reason}}]`
    if (counts && usage) {
      frames.push({ data: `${finished},"usage":null}` })
      frames.push({ data: `${base},"choices":[],"usage":${JSON.stringify(writeUsage(usage))}${last}}` })
    } else frames.push({ data: `${finished}${counts ? ',"usage":null' : ''}${last}}` })
    frames.push({ data: '[DONE]' })
  }

  const take = (event: InferenceEvent): void => {
    if (state === 'ended') return
    const failsAtOnce = event.type === 'finished' && event.outcome.status === 'failed'
    if (state === 'fresh' && !failsAtOnce) begin(event.type === 'started' ? originalBody(event) : undefined)
    if (event.type === 'delta') {
      const slot = slots.get(event.index)
      if (slot) grow(slot, event.delta)
    } else if (event.type === 'item_started') open(event.index, event.item)
    else if (event.type === 'item_finished') finish(open(event.index, event.item), event.item)
    else if (event.type === 'native') {
      if (event.dialect === dialect) emit(JSON.stringify(without(event.body, messageFields)))
    } else if (event.type === 'finished') end(event)
  }

  return {
    write(events) {
      for (const event of events) take(event)
      const written = frames
      frames = []
      return written
    },
  }
}

/** On every chunk, where the provider of the same language has them on its own. */
const headFields: ReadonlySet<string> = new Set(['service_tier', 'system_fingerprint'])

/** Fields to put behind others, but for those that stand there already. */
function fieldsOf(fields: JsonObject, already: JsonObject): string {
  const text = JSON.stringify(without(fields, new Set(Object.keys(already))))
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}
