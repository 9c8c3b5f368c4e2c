import type { EventEncoder, Stamp } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent, NativeEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Frame, JsonObject } from '../../protocol/wire.ts'
import { itemIds } from './item-ids.ts'
import { originalBody, writeItem } from './items.ts'
import { beginning, ending, writeError } from './snapshot.ts'
import { dialect, type Growth, growths, indexOf, isPublicEvent, type PartKind } from './wire.ts'

// Facts → frames. The only place that knows brackets, indexes, ids and sequence numbers of this language's streams.

interface OpenPart {
  readonly growth: Growth
  readonly number: number
  /** Everything of a delta frame before the delta: the same for each of them, and there are thousands. */
  readonly head: string
  text: string
  annotations: JsonObject[]
  logprobs: JsonObject[]
  closed: boolean
}

interface Slot {
  readonly place: number
  readonly id: string
  readonly item: Item
  readonly parts: Map<string, OpenPart>
  /** The part that grows now: parts follow one another. */
  current: OpenPart | undefined
  contents: number
  summaries: number
  arguments: string
  /** The finished item. */
  done: JsonObject | undefined
}

export function encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder {
  let frames: Frame[] = []
  let sequence = 0
  let state: 'fresh' | 'begun' | 'ended' = 'fresh'
  const slots = new Map<number, Slot>()
  let idOf: ((item: Item) => string) | undefined

  const emit = (type: string, fields: JsonObject): void => {
    frames.push({ event: type, data: JSON.stringify({ type, ...fields, sequence_number: sequence++ }) })
  }
  const emitText = (type: string, head: string, tail: string): void => {
    frames.push({ event: type, data: `${head}${tail},"sequence_number":${sequence++}}` })
  }

  const begin = (original?: JsonObject): void => {
    state = 'begun'
    const response = JSON.stringify(beginning({ request, stamp: stamp(), original }))
    for (const type of ['response.created', 'response.in_progress']) emitText(type, `{"type":"${type}","response":`, response)
  }

  const open = (index: number, item: Item): Slot | undefined => {
    const known = slots.get(index)
    if (known || (item.type === 'native' && item.dialect !== dialect)) return known
    idOf ??= itemIds(stamp())
    const id = idOf(item)
    const slot: Slot = { place: slots.size, id, item, parts: new Map(), current: undefined, contents: 0, summaries: 0, arguments: '', done: undefined }
    slots.set(index, slot)
    emit('response.output_item.added', { output_index: slot.place, item: shell(item, id) })
    return slot
  }

  const openPart = (slot: Slot, kind: PartKind, part: number): OpenPart => {
    const key = `${kind}:${part}`
    const known = slot.parts.get(key)
    if (known) return known
    if (slot.current) closePart(slot, slot.current)
    const growth = growths[kind]
    const number = kind === 'summary' ? slot.summaries++ : slot.contents++
    const where = `"item_id":${JSON.stringify(slot.id)},"output_index":${slot.place},"${growth.at}":${number}`
    const opened: OpenPart = {
      growth,
      number,
      head: `{"type":"${growth.stem}.delta",${where},"delta":`,
      text: '',
      annotations: [],
      logprobs: [],
      closed: false,
    }
    slot.parts.set(key, opened)
    slot.current = opened
    emit(`${growth.bracket}.added`, { ...at(slot, opened), part: growth.part('', noExtras) })
    return opened
  }

  const closePart = (slot: Slot, part: OpenPart): void => {
    if (part.closed) return
    part.closed = true
    if (slot.current === part) slot.current = undefined
    const { growth, text, annotations, logprobs } = part
    const isText = growth === growths.text
    emit(`${growth.stem}.done`, { ...at(slot, part), [growth.field]: text, ...(isText && { logprobs: logprobs.map(withoutBytes) }) })
    emit(`${growth.bracket}.done`, { ...at(slot, part), part: growth.part(text, { annotations, logprobs }) })
  }

  const grow = (slot: Slot, delta: Delta, extras: JsonObject | undefined): void => {
    if (slot.done || slot.item.type === 'native') return
    if (delta.kind === 'arguments') return growArguments(slot, delta.text, extras)
    const part = openPart(slot, delta.kind === 'annotation' ? 'text' : delta.kind, delta.part)
    if (delta.kind === 'annotation') return annotate(slot, part, delta.annotation)
    if (delta.text === '' && !delta.logprobs) return
    part.text += delta.text
    if (delta.logprobs) part.logprobs.push(...delta.logprobs)
    const type = `${part.growth.stem}.delta`
    if (extras) return emit(type, { ...extras, ...at(slot, part), delta: delta.text, ...(delta.kind === 'text' && { logprobs: (delta.logprobs ?? []).map(withoutBytes) }) })
    const logprobs = delta.logprobs ? `,"logprobs":${JSON.stringify(delta.logprobs.map(withoutBytes))}` : ',"logprobs":[]'
    emitText(type, part.head, delta.kind === 'text' ? `${JSON.stringify(delta.text)}${logprobs}` : JSON.stringify(delta.text))
  }

  const growArguments = (slot: Slot, text: string, extras?: JsonObject): void => {
    if (text === '') return
    slot.arguments += text
    emit('response.function_call_arguments.delta', { ...extras, item_id: slot.id, output_index: slot.place, delta: text })
  }

  const annotate = (slot: Slot, part: OpenPart, annotation: JsonObject): void => {
    emit('response.output_text.annotation.added', { ...at(slot, part), annotation_index: part.annotations.length, annotation })
    part.annotations.push(annotation)
  }

  /** Brings a part to its final wording: what no delta told yet is told now. */
  const settle = (slot: Slot, kind: PartKind, final: { readonly at: number; readonly text: string; readonly part?: Part & { type: 'text' } }): void => {
    const part = openPart(slot, kind, final.at)
    if (part.closed) return
    if (final.text.length > part.text.length && final.text.startsWith(part.text)) {
      grow(slot, { kind, part: final.at, text: final.text.slice(part.text.length) }, undefined)
    }
    part.text = final.text
    for (const annotation of final.part?.annotations?.slice(part.annotations.length) ?? []) annotate(slot, part, annotation)
    part.annotations = [...(final.part?.annotations ?? part.annotations)]
    part.logprobs = [...(final.part?.logprobs ?? part.logprobs)]
    closePart(slot, part)
  }

  const settleContent = (slot: Slot, part: Part, number: number): void => {
    if (part.type === 'text') settle(slot, 'text', { at: number, text: part.text, part })
    else if (part.type === 'refusal') settle(slot, 'refusal', { at: number, text: part.refusal })
    else if (part.type === 'native' && number >= slot.contents) {
      if (slot.current) closePart(slot, slot.current)
      const where = { item_id: slot.id, output_index: slot.place, content_index: slot.contents++ }
      for (const end of ['added', 'done']) emit(`response.content_part.${end}`, { ...where, part: part.body })
    }
  }

  const finish = (slot: Slot, item: Item): void => {
    if (slot.done) return
    const written = writeItem(item, slot.id)
    if (item.type === 'message') item.content.forEach((part, number) => settleContent(slot, part, number))
    if (item.type === 'reasoning') {
      item.summary.forEach((text, number) => settle(slot, 'summary', { at: number, text }))
      item.content?.forEach((text, number) => settle(slot, 'reasoning', { at: number, text }))
    }
    for (const part of slot.parts.values()) closePart(slot, part)
    if (item.type === 'function_call') {
      const whole = `${written.arguments}`
      if (whole.startsWith(slot.arguments)) growArguments(slot, whole.slice(slot.arguments.length))
      emit('response.function_call_arguments.done', { item_id: slot.id, output_index: slot.place, name: item.name, arguments: whole })
    }
    emit('response.output_item.done', { output_index: slot.place, item: written })
    slot.done = written
  }

  const pass = ({ name, index, body }: NativeEvent): void => {
    if (!isPublicEvent(name)) return
    const slot = index === undefined ? undefined : slots.get(index)
    if (index !== undefined && (!slot || slot.done)) return
    const { type, sequence_number, obfuscation, error, ...rest } = body
    if (slot && name === 'response.content_part.added') slot.contents = Math.max(slot.contents, (indexOf(rest.content_index) ?? 0) + 1)
    emit(name, {
      ...rest,
      ...(slot && { output_index: slot.place, ...('item_id' in rest && { item_id: slot.id }) }),
      ...('response_id' in rest && { response_id: stamp().id }),
    })
  }

  const end = (event: Extract<InferenceEvent, { type: 'finished' }>): void => {
    const { outcome, usage } = event
    const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
    for (const slot of slots.values()) if (!slot.done) finish(slot, soFar(slot, status))
    if (outcome.status === 'failed') emitError(writeError(outcome.error), outcome.error.param ?? null)
    const output = [...slots.values()].flatMap(slot => slot.done ?? [])
    emit(`response.${outcome.status}`, { response: ending({ request, stamp: stamp(), original: originalBody(event) }, { outcome, usage, output }) })
    state = 'ended'
  }

  /** In both shapes that exist, since each is missed by some client. */
  const emitError = (error: JsonObject, param: string | null): void => {
    const { type, ...facts } = error
    emit('error', { ...facts, param, error: { ...error, param } })
  }

  const take = (event: InferenceEvent): void => {
    if (state === 'ended') return
    if (state === 'fresh') begin(event.type === 'started' ? originalBody(event) : undefined)
    if (event.type === 'delta') {
      const slot = slots.get(event.index)
      if (slot) grow(slot, event.delta, extrasOf(event))
    } else if (event.type === 'item_started') open(event.index, event.item)
    else if (event.type === 'item_finished') {
      const slot = open(event.index, event.item)
      if (slot) finish(slot, event.item)
    } else if (event.type === 'native') {
      if (event.dialect === dialect) pass(event)
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

const noExtras = { annotations: [], logprobs: [] }

const at = (slot: Slot, part: OpenPart): JsonObject => ({ item_id: slot.id, output_index: slot.place, [part.growth.at]: part.number })

/** Fields of the provider's delta that we do not know. Decoders remember a delta only if it has some. */
function extrasOf(event: InferenceEvent): JsonObject | undefined {
  const body = originalBody(event)
  if (!body) return undefined
  const { type, sequence_number, obfuscation, error, ...extras } = body
  return extras
}

/** In deltas an entry has no bytes; `top_logprobs` is always a list, since a client rejects the entry otherwise. */
const withoutBytes = ({ bytes, ...entry }: JsonObject): JsonObject => ({ ...entry, top_logprobs: entry.top_logprobs ?? [] })

/** The item as it is announced: who it is, and nothing of what it says. */
function shell(item: Item, id: string): JsonObject {
  if (item.type === 'message') return { ...writeItem({ ...item, content: [], status: 'in_progress' }, id), ...unknownOf(item) }
  if (item.type === 'function_call') return { ...writeItem({ ...item, arguments: '', status: 'in_progress' }, id), ...unknownOf(item) }
  if (item.type === 'reasoning') return { ...unknownOf(item), id, type: 'reasoning', summary: [] }
  return writeItem(item, id)
}

const spoken: ReadonlySet<string> = new Set(['id', 'type', 'status', 'role', 'content', 'phase', 'call_id', 'name', 'arguments', 'summary', 'encrypted_content'])
const unknownOf = (item: Item): JsonObject | undefined => {
  const body = originalBody(item)
  return body && Object.fromEntries(Object.entries(body).filter(([field]) => !spoken.has(field)))
}

/** What an item has come to when nobody finished it. */
function soFar({ item, parts, arguments: written }: Slot, status: ItemStatus): Item {
  const grown = (kind: PartKind): readonly OpenPart[] => [...parts].filter(([key]) => key.startsWith(`${kind}:`)).map(([, part]) => part)
  if (item.type === 'message') {
    const content = [...parts.values()].map((part): Part => {
      if (part.growth === growths.refusal) return { type: 'refusal', refusal: part.text }
      const { text, annotations, logprobs } = part
      return { type: 'text', text, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
    })
    return { ...item, content, status }
  }
  if (item.type === 'function_call') return { ...item, arguments: written, status }
  if (item.type !== 'reasoning') return item
  const content = grown('reasoning').map(part => part.text)
  return { ...item, summary: grown('summary').map(part => part.text), ...(content.length > 0 && { content }) }
}
