import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { Outcome } from '../../protocol/response.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { addFields, type GatheredFields, gatherFields, objects, stringOf } from '../json.ts'
import {
  add,
  type Block,
  close,
  closingOf,
  type Growing,
  growths,
  guesses,
  itemOf,
  openingOf,
  partOf,
  shellOf,
  startBlock,
  startItem,
} from './growing.ts'
import {
  callerName,
  callIds,
  countUsage,
  emptyMessage,
  errorOf,
  explanationOf,
  failed,
  type Head,
  headOf,
  isLink,
  isSpeech,
  kindOf,
  nameless,
  outcomeOf,
} from './decode-response.ts'
import { dialect } from './wire.ts'

// Frames → facts. Neighbouring texts are one message of ours, so an item ends when another begins, or the answer does: only
// then it is known whether it was cut.

export function decodeEvents(reading: Reading = {}): EventDecoder {
  let facts: InferenceEvent[] = []
  let head: Head | undefined
  /** The message as it has come so far, but for its blocks. */
  let message: GatheredFields | undefined
  let usage = gatherFields({})
  /** What is told at the beginning is no count of the answer. */
  let isCounted = false
  let content: JsonObject[] = []
  let count = 0
  /** Items that are not finished, in order, and the last that began. */
  let items = new Set<Growing>()
  let last: Growing | undefined
  let places = new Map<number, Block>()
  let latest: Block | undefined
  /** What makes the answer fail, however it goes on. */
  let fault: Outcome | undefined
  /** Set by a reason to stop: all that may still come is usage. */
  let ending: Outcome | undefined
  let over = false
  const idFor = callIds(() => head ?? headOf({}))

  const begin = (body: JsonObject): void => {
    if (head) return
    head = headOf(body)
    facts.push(remember<InferenceEvent>({ type: 'started', ...head }, { dialect, body }))
  }

  const announce = (item: Growing): number => {
    if (item.index !== undefined) return item.index
    item.index = count++
    facts.push({ type: 'item_started', index: item.index, item: shellOf(item) })
    return item.index
  }

  const grow = (block: Block, text: string): void => {
    if (text === '') return
    block.text += text
    const { told: kind } = growths[block.kind]
    if (kind) facts.push({ type: 'delta', index: announce(block.item), delta: { kind, part: kind === 'text' ? block.part : 0, text } })
  }

  const open = (wire: JsonObject, place?: number): Block | undefined => {
    const kind = kindOf(wire, reading)
    const name = callerName(stringOf(wire.name), reading)
    if (kind === 'call' && name === '') {
      fault ??= nameless
      return undefined
    }
    const goesOn = last && isSpeech(last.kind) && isSpeech(kind)
    const item = last && goesOn ? last : join(startItem(kind, kind === 'call' ? { call_id: idFor(wire.id, name), name } : undefined))
    const block = startBlock(item, kind, wire)
    latest = block
    if (place !== undefined) places.set(place, block)
    grow(block, openingOf(block))
    return block
  }

  /** Something else begins. */
  const join = (item: Growing): Growing => {
    if (last?.open === 0) finishItem(last, 'completed')
    items.add(item)
    last = item
    return item
  }

  /** Tells what no delta has told. */
  const end = (block: Block, isCut = false): void => {
    if (block.whole) return
    if (!isCut) grow(block, closingOf(block))
    content.push(close(block, isCut))
    const index = announce(block.item)
    const part = isSpeech(block.kind) ? partOf(block) : undefined
    for (const annotation of part?.type === 'text' ? (part.annotations ?? []) : [])
      facts.push({ type: 'delta', index, delta: { kind: 'annotation', part: block.part, annotation } })
    for (const citation of block.citations) if (!isLink(citation)) facts.push(citationOf(citation, index))
  }

  const finishItem = (item: Growing, status: ItemStatus, refusal: readonly Part[] = []): void => {
    items.delete(item)
    if (last === item) last = undefined
    for (const block of item.blocks) end(block, status !== 'completed')
    const index = announce(item)
    for (const part of refusal)
      if (part.type === 'refusal')
        facts.push({ type: 'delta', index, delta: { kind: 'refusal', part: item.blocks.length, text: part.refusal } })
    facts.push({ type: 'item_finished', index, item: itemOf(item, status, refusal) })
  }

  const tellWhole = (item: Item): void => {
    facts.push({ type: 'item_started', index: count, item }, { type: 'item_finished', index: count, item })
    count += 1
  }

  const settle = (outcome: Outcome): void => {
    // Some answers are told whole in the announcement.
    if (count === 0 && items.size === 0 && outcome.status !== 'failed')
      for (const wire of objects(message?.fields.content)) {
        const block = open(wire)
        if (block) end(block)
      }
    ending = fault ?? outcome
    const isRefusal = ending.status === 'incomplete' && ending.reason === 'content_filter'
    const refusal = isRefusal ? explanationOf(message?.fields ?? {}) : ''
    if (refusal !== '' && !(last && isSpeech(last.kind))) join(startItem('text'))
    const status: ItemStatus = ending.status === 'completed' ? 'completed' : 'incomplete'
    for (const item of items) finishItem(item, status, refusal !== '' && item === last ? [{ type: 'refusal', refusal }] : [])
    if (count === 0 && status === 'completed') tellWhole(emptyMessage)
  }

  const finish = (outcome: Outcome): void => {
    begin({})
    if (!ending) settle(outcome)
    over = true
    const counted = isCounted ? countUsage(usage.fields, count > 0) : undefined
    const fact: InferenceEvent = { type: 'finished', outcome: ending ?? outcome, ...(counted && { usage: counted }) }
    facts.push(remember(fact, message && { dialect, body: { ...message.fields, content, usage: usage.fields } }))
  }

  const onStart = ({ message: body }: JsonObject): void => {
    if (ending) return
    if (count > 0) {
      finish(second)
      return
    }
    items = new Set()
    last = undefined
    content = []
    places = new Map()
    latest = undefined
    const opening = isObject(body) ? body : {}
    message = gatherFields(opening)
    usage = gatherFields(isObject(opening.usage) ? opening.usage : {})
    begin(opening)
  }

  const onBlockStart = ({ index, content_block: wire }: JsonObject): void => {
    if (!ending && isObject(wire)) open(wire, indexOf(index))
  }

  /** A block that has had its last word is told of no more: what comes then is of another. */
  const blockAt = (index: Json | undefined): Block | undefined => {
    const place = indexOf(index)
    const block = place === undefined ? latest : places.get(place)
    return block?.whole ? undefined : block
  }

  const guess = ({ type }: JsonObject, place: number | undefined): Block | undefined => {
    const wire = guesses.get(stringOf(type))
    return wire && open(wire, place)
  }

  const onDelta = ({ index, delta }: JsonObject): void => {
    if (ending || !isObject(delta)) return
    const block = blockAt(index) ?? guess(delta, indexOf(index))
    if (!block) return
    const { by, field } = growths[block.kind]
    if (delta.type === by) grow(block, stringOf(delta[field]))
    else add(block, delta)
  }

  const onBlockStop = ({ index }: JsonObject): void => {
    const block = ending ? undefined : blockAt(index)
    if (!block) return
    end(block)
    // Whoever began before the last does not go on.
    if (block.item !== last && block.item.open === 0) finishItem(block.item, 'completed')
  }

  const onMessageDelta = ({ type, delta, usage: counts, ...rest }: JsonObject): void => {
    const said = isObject(delta) ? told(delta) : {}
    message ??= gatherFields({})
    addFields(message, rest)
    addFields(message, said)
    if (isObject(counts)) {
      addFields(usage, told(counts))
      isCounted = true
    }
    if (!ending && typeof said.stop_reason === 'string') settle(outcomeOf(said.stop_reason))
  }

  const onStop = (): void => {
    const { stop_reason } = message?.fields ?? {}
    isCounted ||= typeof stop_reason === 'string'
    const isAnswered = count > 0 || items.size > 0 || typeof stop_reason === 'string'
    finish(ending ?? (isAnswered ? outcomeOf(stringOf(stop_reason)) : truncated))
  }

  const onError = (body: JsonObject): void => {
    const error = ending ? undefined : errorOf({ ...body, type: 'error' })
    if (error) finish(failed(error))
  }

  const handlers: ReadonlyMap<string, (body: JsonObject) => void> = new Map([
    ['content_block_delta', onDelta],
    ['content_block_start', onBlockStart],
    ['content_block_stop', onBlockStop],
    ['message_start', onStart],
    ['message_delta', onMessageDelta],
    ['message_stop', onStop],
    ['error', onError],
  ])

  const take = (frame: Frame): void => {
    const body = readFrame(frame)
    if (body === 'broken') finish(ending ?? broken)
    else if (body !== 'nothing' && body !== 'done') takeBody(body, nameOf(body, frame))
  }

  const takeBody = (body: JsonObject, name: string): void => {
    const handle = handlers.get(name)
    if (!handle) return
    if (!head && name !== 'message_start' && name !== 'error') begin({})
    handle(body)
    if (fault && !over) finish(fault)
  }

  const drain = (): readonly InferenceEvent[] => {
    const batch = facts
    facts = []
    return batch
  }

  return {
    read(frames) {
      for (const frame of frames) if (!over) take(frame)
      return drain()
    },
    end() {
      if (!over) finish(ending ?? truncated)
      return drain()
    },
  }
}

/** A type may stand only in the frame, and an error may come without one. */
const nameOf = ({ type, error }: JsonObject, { event }: Frame): string => {
  if (typeof type === 'string') return type
  return error === undefined || error === null ? (event ?? '') : 'error'
}

const indexOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** The last that was really said of each field counts. */
const told = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

const broken = failed(unreadable('The provider sent an event that is not valid JSON.'))
const truncated = failed(unreadable('The provider’s stream ended before the answer was finished.'))
const second = failed(unreadable('The provider began a second answer within the first.'))

/** A place in a document of the caller's: this language alone can tell it. */
function citationOf(citation: JsonObject, index: number): InferenceEvent {
  const type = 'content_block_delta'
  return { type: 'native', dialect, name: type, index, body: { type, delta: { type: 'citations_delta', citation } }, preamble: false }
}
