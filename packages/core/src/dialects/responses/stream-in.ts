import type { EventDecoder, Reading } from '../../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../../protocol/event.ts'
import type { FunctionCallItem, Item, ItemStatus, Part } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { Outcome, Usage } from '../../protocol/response.ts'
import { type Frame, isObject, type JsonObject } from '../../protocol/wire.ts'
import { unreadable } from '../failure.ts'
import { readFrame } from '../frame.ts'
import { objects, stringOf } from '../json.ts'
import { type Growing, type Guess, grownItem, mergedItem, partOf, shellOf, withId } from './growing.ts'
import { itemRegistry } from './item-registry.ts'
import { callIds, headOf, nameless, readErrorEvent, readOutcome, readOutputItem, usageOf } from './reading.ts'
import { hasUnknown, matchItems, mended, nameOf, unwrap } from './sorting.ts'
import { dialect, hostedEvents, indexOf, type PartKind } from './wire.ts'

// Frames → facts. Positions are trusted, ids and numbers are not: some providers change ids with every event, leave gaps in
// the numbering, or tell of an item that they never announced.

export function decodeEvents(reading: Reading = {}): EventDecoder {
  let facts: InferenceEvent[] = []
  let head = { id: '', model: '', created_at: 0 }
  let state: 'fresh' | 'begun' | 'ended' = 'fresh'
  const items = itemRegistry()
  const idFor = callIds()
  let announced = 0

  const begin = (told?: JsonObject): void => {
    if (state !== 'fresh') return
    state = 'begun'
    const response = told ?? {}
    head = headOf(response)
    facts.push(remember({ type: 'started', ...head } satisfies InferenceEvent, { dialect, body: response }))
  }

  /** A call can only be announced once it has a name. */
  const announce = (growing: Growing, item: Item = growing.item): void => {
    if (growing.index !== undefined) return
    growing.item = item.type === 'function_call' ? named(item) : item
    items.renamed(growing)
    if (growing.item.type === 'function_call' && growing.item.name === '') return
    growing.index = announced++
    facts.push({ type: 'item_started', index: growing.index, item: shellOf(growing.item) })
    if (growing.arguments !== '') tell(growing, { kind: 'arguments', part: 0, text: growing.arguments })
  }

  const named = (item: FunctionCallItem): Item => {
    const call_id = item.name === '' ? item.call_id : idFor(item, head)
    return call_id === item.call_id ? item : { ...item, call_id }
  }

  const tell = (growing: Growing, delta: Delta, body?: JsonObject): void => {
    if (growing.index === undefined) return
    const fact: InferenceEvent = { type: 'delta', index: growing.index, delta }
    facts.push(body && hasUnknown(body) ? remember(fact, { dialect, body }) : fact)
  }

  const pass = (name: string, body: JsonObject, growing?: Growing): void => {
    const preamble = hostedEvents.get(name)?.preamble ?? name.endsWith('.added')
    facts.push({ type: 'native', dialect, name, ...(growing?.index !== undefined && { index: growing.index }), body, preamble })
  }

  const onDelta = (kind: PartKind, guess: Guess) => (body: JsonObject, name: string) => {
    const growing = items.findOrAdd(body, guess)
    if (growing.item.type === 'native') pass(name, body, growing)
    if (growing.finished || growing.item.type === 'native') return
    announce(growing)
    const part = partOf(growing, kind, numberOf(kind, body))
    const text = stringOf(body.delta)
    const logprobs = objects(body.logprobs)
    part.text += text
    for (const entry of logprobs) part.logprobs.push(entry)
    const { number } = part
    tell(growing, logprobs.length > 0 ? { kind, part: number, text, logprobs } : { kind, part: number, text }, body)
  }

  const onArguments = (body: JsonObject): void => {
    const growing = items.findOrAdd(body, 'function_call')
    if (growing.finished || growing.item.type === 'native') return
    announce(growing)
    const text = stringOf(body.delta)
    growing.arguments += text
    tell(growing, { kind: 'arguments', part: 0, text }, body)
  }

  const onArgumentsDone = (body: JsonObject): void => {
    const growing = items.findOrAdd(body, 'function_call')
    if (growing.finished || growing.item.type !== 'function_call') return
    if (growing.index === undefined) announce(growing, { ...growing.item, name: callerName(body) })
    settleArguments(growing, stringOf(body.arguments))
  }

  const callerName = ({ name }: JsonObject): string => reading.toolNames?.get(stringOf(name)) ?? stringOf(name)

  /** Tells what the deltas left out of a text that is now known whole. */
  const settle = (growing: Growing, kind: PartKind, { number, text }: { readonly number: number; readonly text: string }): void => {
    const part = partOf(growing, kind, number)
    if (text.length > part.text.length && text.startsWith(part.text))
      tell(growing, { kind, part: number, text: text.slice(part.text.length) })
    if (text !== '') part.text = text
  }

  const settleArguments = (growing: Growing, text: string): void => {
    const { arguments: told } = growing
    if (text.length > told.length && text.startsWith(told)) tell(growing, { kind: 'arguments', part: 0, text: text.slice(told.length) })
    if (text !== '') growing.arguments = text
  }

  const settlePart = (growing: Growing, part: Part, number: number): void => {
    if (part.type === 'refusal') settle(growing, 'refusal', { number, text: part.refusal })
    if (part.type !== 'text') return
    settle(growing, 'text', { number, text: part.text })
    const told = partOf(growing, 'text', number).annotations
    for (const annotation of part.annotations?.slice(told.length) ?? []) {
      told.push(annotation)
      tell(growing, { kind: 'annotation', part: number, annotation })
    }
  }

  const onTextDone = (kind: PartKind, guess: Guess) => (body: JsonObject, name: string) => {
    const growing = items.findOrAdd(body, guess)
    if (growing.item.type === 'native') pass(name, body, growing)
    if (growing.finished || growing.item.type === 'native') return
    announce(growing)
    settle(growing, kind, { number: numberOf(kind, body), text: stringOf(kind === 'refusal' ? body.refusal : body.text) })
  }

  const onPart = (body: JsonObject, name: string): void => {
    const { part } = body
    if (!isObject(part) || typeof part.type !== 'string') return
    const kind = name.startsWith('response.reasoning_summary') ? 'summary' : partKinds.get(stringOf(part.type))
    const growing = items.findOrAdd(body, kind === 'summary' || kind === 'reasoning' ? 'reasoning' : 'message')
    if (growing.finished) return
    announce(growing)
    if (!kind || growing.item.type === 'native') {
      pass(name, body, growing)
      return
    }
    const number = numberOf(kind, body)
    const isNew = !growing.parts.has(`${kind}:${number}`)
    const text = stringOf(kind === 'refusal' ? part.refusal : part.text)
    if (isNew && text === '') tell(growing, { kind, part: number, text: '' })
    settle(growing, kind, { number, text })
  }

  const onAnnotation = (body: JsonObject): void => {
    const growing = items.findOrAdd(body, 'message')
    if (growing.finished || growing.item.type === 'native' || !isObject(body.annotation)) return
    announce(growing)
    const part = partOf(growing, 'text', numberOf('text', body))
    part.annotations.push(body.annotation)
    tell(growing, { kind: 'annotation', part: part.number, annotation: body.annotation })
  }

  const onAdded = (body: JsonObject): void => {
    if (!isObject(body.item)) return
    const item = readOutputItem(body.item, reading)
    const place = indexOf(body.output_index)
    const known = place === undefined ? undefined : items.find(place, undefined)
    announce(known && !known.finished && known.item.type === item.type ? known : items.add(place, item), item)
  }

  const onDone = (body: JsonObject): void => {
    if (!isObject(body.item)) return
    const item = readOutputItem(body.item, reading)
    const known = items.find(body.output_index, body.item.id)
    const isRepeat = known?.finished && known.item.type === item.type
    if (!isRepeat)
      finish(known && !known.finished && known.item.type === item.type ? known : items.add(indexOf(body.output_index), item), item)
  }

  const finish = (growing: Growing, last: Item): void => {
    if (growing.finished) return
    announce(growing, growing.index === undefined ? last : growing.item)
    growing.finished = true
    if (growing.index === undefined) return
    const item = withId(mergedItem(growing, last), growing.item)
    if (item.type === 'message') for (const [number, part] of item.content.entries()) settlePart(growing, part, number)
    if (item.type === 'function_call') settleArguments(growing, item.arguments)
    if (item.type === 'reasoning') {
      for (const [number, text] of item.summary.entries()) settle(growing, 'summary', { number, text })
      for (const [number, text] of (item.content ?? []).entries()) settle(growing, 'reasoning', { number, text })
    }
    facts.push({ type: 'item_finished', index: growing.index, item })
  }

  /** The last snapshot: finishes what is open, and tells of items that were never streamed. */
  const onTerminal = (body: JsonObject, name: string): void => {
    const response = isObject(body.response) ? body.response : {}
    begin(response)
    const told = terminals.get(name)
    const outcome = readOutcome({
      error: body.error,
      ...response,
      status: terminals.has(`response.${stringOf(response.status)}`) ? response.status : told,
    })
    const output = objects(response.output).map(item => readOutputItem(item, reading))
    const streamed = matchItems([...items.all], output)
    for (const [at, item] of output.entries()) finish(streamed[at] ?? items.add(undefined, item), item)
    end(outcome, usageOf(response, items.all.length > 0), response)
  }

  const end = (outcome: Outcome, usage?: Usage, response?: JsonObject): void => {
    begin(response)
    const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
    for (const growing of items.all) if (!growing.finished) finish(growing, grownItem(growing, status))
    const last = outcome.status !== 'failed' && items.all.some(({ index }) => index === undefined) ? nameless : outcome
    const fact: InferenceEvent = { type: 'finished', outcome: last, ...(usage && { usage }) }
    facts.push(remember(fact, response && { dialect, body: response }))
    state = 'ended'
  }

  const fail = (message: string): void => end({ status: 'failed', error: unreadable(message) })

  const handlers: ReadonlyMap<string, (body: JsonObject, name: string) => void> = new Map<string, (body: JsonObject, name: string) => void>(
    [
      ['response.output_text.delta', onDelta('text', 'message')],
      ['response.function_call_arguments.delta', onArguments],
      ['response.reasoning_summary_text.delta', onDelta('summary', 'reasoning')],
      ['response.reasoning_text.delta', onDelta('reasoning', 'reasoning')],
      ['response.reasoning.delta', onDelta('reasoning', 'reasoning')],
      ['response.refusal.delta', onDelta('refusal', 'message')],
      ['response.output_text.done', onTextDone('text', 'message')],
      ['response.function_call_arguments.done', onArgumentsDone],
      ['response.reasoning_summary_text.done', onTextDone('summary', 'reasoning')],
      ['response.reasoning_text.done', onTextDone('reasoning', 'reasoning')],
      ['response.reasoning.done', onTextDone('reasoning', 'reasoning')],
      ['response.refusal.done', onTextDone('refusal', 'message')],
      ['response.content_part.added', onPart],
      ['response.content_part.done', onPart],
      ['response.reasoning_summary_part.added', onPart],
      ['response.reasoning_summary_part.done', onPart],
      ['response.output_text.annotation.added', onAnnotation],
      ['response.output_item.added', onAdded],
      ['response.output_item.done', onDone],
      ['response.created', body => begin(isObject(body.response) ? body.response : {})],
      ['response.completed', onTerminal],
      ['response.incomplete', onTerminal],
      ['response.failed', onTerminal],
      ['error', body => end({ status: 'failed', error: readErrorEvent(body) })],
    ],
  )

  const take = (frame: Frame): void => {
    const read = readFrame(frame)
    const content = read === 'broken' ? (mended(frame) ?? read) : read
    if (content === 'broken') fail('The provider sent an event that is not valid JSON.')
    else if (content !== 'nothing' && content !== 'done') takeBody(unwrap(content), frame)
  }

  const takeBody = (body: JsonObject, frame: Frame): void => {
    const name = nameOf(body, frame)
    const handle = handlers.get(name)
    if (handle) {
      if (!lifecycle.has(name)) begin()
      handle(body, name)
    } else if (hostedEvents.has(name)) {
      begin()
      pass(name, body, items.find(body.output_index, body.item_id))
    }
  }

  return {
    read(frames) {
      for (const frame of frames) if (state !== 'ended') take(frame)
      const told = facts
      facts = []
      return told
    },
    end() {
      if (state !== 'ended') fail('The provider’s stream ended before the answer was finished.')
      const told = facts
      facts = []
      return told
    },
  }
}

const terminals: ReadonlyMap<string, string> = new Map(['completed', 'incomplete', 'failed'].map(status => [`response.${status}`, status]))
const lifecycle: ReadonlySet<string> = new Set(['response.created', 'error', ...terminals.keys()])

const partKinds: ReadonlyMap<string, PartKind> = new Map<string, PartKind>([
  ['output_text', 'text'],
  ['text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'reasoning'],
  ['summary_text', 'summary'],
])

const numberOf = (kind: PartKind, body: JsonObject): number => indexOf(kind === 'summary' ? body.summary_index : body.content_index) ?? 0
