import type { EventEncoder, Stamp } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent, NativeEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Frame, JsonObject } from '../../protocol/wire.ts'
import { itemIds } from './item-ids.ts'
import { originalBody, writeItem } from './items.ts'
import {
  at,
  extrasOf,
  fitsSlot,
  noExtras,
  none,
  type OpenPart,
  type PartDelta,
  type Slot,
  shell,
  soFar,
  withAlternatives,
} from './slots.ts'
import { beginning, ending, writeError } from './snapshot.ts'
import { dialect, growths, indexOf, isPublicEvent, type PartKind } from './wire.ts'

// Facts → frames. The only place that knows brackets, indexes, ids and sequence numbers of this language's streams.

const argumentsDelta = 'response.function_call_arguments.delta'
/** How every frame ends, but for its number. */
const numbered = ',"sequence_number":'

export function encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder {
  let frames: Frame[] = []
  let sequence = 0
  let state: 'fresh' | 'begun' | 'ended' = 'fresh'
  const slots = new Map<number, Slot>()
  let idOf: ((item: Item) => string) | undefined

  const emit = (type: string, fields: JsonObject): void => {
    frames.push({ event: type, data: JSON.stringify({ type, ...fields, sequence_number: sequence++ }) })
  }

  const begin = (original?: JsonObject): void => {
    state = 'begun'
    const response = JSON.stringify(beginning({ request, stamp: stamp(), original }))
    for (const type of ['response.created', 'response.in_progress'])
      frames.push({ event: type, data: `{"type":"${type}","response":${response}${numbered}${sequence++}}` })
  }

  const open = (index: number, item: Item): Slot | undefined => {
    const known = slots.get(index)
    if (known || (item.type === 'native' && item.dialect !== dialect)) return known
    idOf ??= itemIds(stamp())
    const id = idOf(item)
    const slot: Slot = {
      place: slots.size,
      id,
      item,
      parts: new Map(),
      current: undefined,
      contents: 0,
      natives: new Map(),
      summaries: 0,
      head: `{"type":"${argumentsDelta}","item_id":${JSON.stringify(id)},"output_index":${slots.size},"delta":`,
      arguments: '',
      done: undefined,
    }
    slots.set(index, slot)
    emit('response.output_item.added', { output_index: slot.place, item: shell(item, id) })
    return slot
  }

  const openPart = (slot: Slot, kind: PartKind, part: number): OpenPart => {
    const growth = growths[kind]
    const { current } = slot
    if (current?.growth === growth && current.part === part) return current
    const key = `${kind}:${part}`
    const known = slot.parts.get(key)
    if (known) return known
    if (current) closePart(slot, current)
    const number = kind === 'summary' ? slot.summaries++ : slot.contents++
    const where = `"item_id":${JSON.stringify(slot.id)},"output_index":${slot.place},"${growth.at}":${number}`
    const opened: OpenPart = {
      growth,
      part,
      number,
      head: `{"type":"${growth.deltaEvent}",${where},"delta":`,
      foot: kind === 'text' ? `,"logprobs":[]${numbered}` : numbered,
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
    emit(`${growth.stem}.done`, { ...at(slot, part), [growth.field]: text, ...(isText && { logprobs: logprobs.map(withAlternatives) }) })
    emit(`${growth.bracket}.done`, { ...at(slot, part), part: growth.part(text, { annotations, logprobs }) })
  }

  const grow = (slot: Slot, delta: Delta, extras?: JsonObject): void => {
    if (slot.done || slot.item.type === 'native') return
    if (delta.kind === 'arguments') growArguments(slot, delta.text, extras)
    else if (delta.kind === 'annotation') annotate(slot, openPart(slot, 'text', delta.part), delta.annotation)
    else growPart(slot, delta as PartDelta, extras)
  }

  const growPart = (slot: Slot, { kind, part: number, text, logprobs = none }: PartDelta, extras?: JsonObject): void => {
    const part = openPart(slot, kind, number)
    if (text === '' && logprobs.length === 0) return
    part.text += text
    for (const entry of logprobs) part.logprobs.push(entry)
    const type = part.growth.deltaEvent
    if (extras || logprobs.length > 0) {
      const odds = kind === 'text' && { logprobs: logprobs.map(withAlternatives) }
      emit(type, { ...extras, ...at(slot, part), delta: text, ...odds })
    } else frames.push({ event: type, data: `${part.head}${JSON.stringify(text)}${part.foot}${sequence++}}` })
  }

  const growArguments = (slot: Slot, text: string, extras?: JsonObject): void => {
    if (text === '') return
    slot.arguments += text
    if (extras) emit(argumentsDelta, { ...extras, item_id: slot.id, output_index: slot.place, delta: text })
    else frames.push({ event: argumentsDelta, data: `${slot.head}${JSON.stringify(text)}${numbered}${sequence++}}` })
  }

  const annotate = (slot: Slot, part: OpenPart, annotation: JsonObject): void => {
    emit('response.output_text.annotation.added', { ...at(slot, part), annotation_index: part.annotations.length, annotation })
    part.annotations.push(annotation)
  }

  /** Brings a part to its final wording: what no delta told yet is told now. */
  const settle = (
    slot: Slot,
    kind: PartKind,
    final: { readonly at: number; readonly text: string; readonly part?: Part & { type: 'text' } },
  ): void => {
    const part = openPart(slot, kind, final.at)
    if (part.closed) return
    if (final.text.length > part.text.length && final.text.startsWith(part.text)) {
      growPart(slot, { kind, part: final.at, text: final.text.slice(part.text.length) })
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
    else if (part.type === 'native' && !slot.natives.has(number)) {
      if (slot.current) closePart(slot, slot.current)
      const where = { item_id: slot.id, output_index: slot.place, content_index: slot.contents++ }
      for (const end of ['added', 'done']) emit(`response.content_part.${end}`, { ...where, part: part.body })
    }
  }

  const finish = (slot: Slot, item: Item): void => {
    if (slot.done) return
    const written = writeItem(item, slot.id)
    if (item.type === 'message') for (const [number, part] of item.content.entries()) settleContent(slot, part, number)
    if (item.type === 'reasoning') {
      for (const [number, text] of item.summary.entries()) settle(slot, 'summary', { at: number, text })
      for (const [number, text] of (item.content ?? []).entries()) settle(slot, 'reasoning', { at: number, text })
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
    const slot = index === undefined ? undefined : slots.get(index)
    if (!isPublicEvent(name) || !fitsSlot(name, slot)) return
    const { type, sequence_number, obfuscation, error, ...rest } = body
    if (slot?.item.type === 'message') passPart(slot, name, rest)
    else if (slot) emit(name, { ...rest, item_id: slot.id, output_index: slot.place })
    else emit(name, { ...rest, ...('response_id' in rest && { response_id: stamp().id }) })
  }

  /** A part that we do not read still takes a number among those that we do. */
  const passPart = (slot: Slot, name: string, body: JsonObject): void => {
    const theirs = indexOf(body.content_index) ?? slot.contents
    const isNew = name.endsWith('.added')
    if (slot.natives.has(theirs) === isNew) return
    if (isNew && slot.current) closePart(slot, slot.current)
    if (isNew) slot.natives.set(theirs, slot.contents++)
    emit(name, { ...body, item_id: slot.id, output_index: slot.place, content_index: slot.natives.get(theirs) })
  }

  const end = (event: Extract<InferenceEvent, { type: 'finished' }>): void => {
    const { outcome, usage } = event
    const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
    for (const slot of slots.values()) if (!slot.done) finish(slot, soFar(slot, status))
    if (outcome.status === 'failed') emitError(writeError(outcome.error), outcome.error.param ?? null)
    const output = [...slots.values()].flatMap((slot): readonly JsonObject[] => (slot.done ? [slot.done] : []))
    emit(`response.${outcome.status}`, {
      response: ending({ request, stamp: stamp(), original: originalBody(event) }, { outcome, usage, output }),
    })
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
