import type { Delta, InferenceEvent } from '../protocol/event.ts'
import type { Item, ItemStatus, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import { entryOf, type SmallMap, setEntry, smallMap, valuesOf } from '../protocol/small-map.ts'
import { type TextBuffer, textDelta } from '../protocol/text-delta.ts'
import { append, type JsonObject } from '../protocol/wire.ts'

// Assembles the items of a response from the pieces of a stream, and emits the events that announce, extend and finish them.

export interface ItemAssembler {
  /** Events since the last drain. */
  events: readonly InferenceEvent[]
  /** Number of announced items, which is the index of the next. */
  count: number
  /** Content types that no item can represent. Undefined if there are none. */
  unmodeled: Set<string> | undefined
  /** The item to which text was added last. */
  extended: PartialItem | undefined
}

export type TextDelta = Exclude<Delta, { readonly kind: 'annotation' }>
export type AnnotationDelta = Extract<Delta, { readonly kind: 'annotation' }>
export type TextKind = TextDelta['kind']

/** An item that is not complete. */
export interface PartialItem {
  /** Its position in the output. Undefined until it is announced. */
  index: number | undefined
  /** The item without its text. */
  item: Item
  /** By kind and number. The arguments of a call are part 0. */
  readonly parts: SmallMap<string, PartialPart>
  /** The part to which text was added last. */
  latest: PartialPart | undefined
  finished: boolean
}

export interface PartialPart {
  readonly kind: TextKind
  readonly number: number
  text: TextBuffer
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
}

/** The list without events of all decoders. */
export const noEvents: readonly InferenceEvent[] = []

export const createItemAssembler = (): ItemAssembler => ({ events: noEvents, count: 0, unmodeled: undefined, extended: undefined })

export function drainEvents(assembler: ItemAssembler): readonly InferenceEvent[] {
  const { events } = assembler
  assembler.events = noEvents
  return events
}

/** Adds an event. A first event gets a list of its own size. */
export function emitEvent(assembler: ItemAssembler, event: InferenceEvent): void {
  assembler.events = append(assembler.events, event)
}

/** Providers use few types. A limit keeps a stream of invented ones from filling the memory. */
const maxUnmodeled = 20
const maxTypeLength = 100

/** Records a content type that no item can represent, to be reported at the end of the response. */
export function noteUnmodeled(assembler: ItemAssembler, type: string): void {
  assembler.unmodeled ??= new Set()
  if (assembler.unmodeled.size < maxUnmodeled) assembler.unmodeled.add(type.slice(0, maxTypeLength))
}

/** Starts collecting an item. Nothing is emitted until it is announced. */
export const partialItem = (item: Item): PartialItem => ({ index: undefined, item, parts: smallMap(), latest: undefined, finished: false })

/** Emits `item_started`, and the text that arrived before. Repeated calls have no effect. */
export function announceItem(assembler: ItemAssembler, partial: PartialItem): number {
  if (partial.index !== undefined) return partial.index
  const index = assembler.count++
  partial.index = index
  emitEvent(assembler, { type: 'item_started', index, item: shellOf(partial.item) })
  for (const { kind, number, text } of valuesOf(partial.parts))
    if (text.length > 0) emitEvent(assembler, textDelta(index, { kind, part: number, text: bufferedText(text) }, text))
  return index
}

/** Starts collecting an item and announces it at once. */
export function startItem(assembler: ItemAssembler, item: Item): PartialItem {
  const partial = partialItem(item)
  announceItem(assembler, partial)
  return partial
}

/** Adds text to a part, which is created if needed. Returns the event, or undefined while the item is not announced. */
export function appendDelta(assembler: ItemAssembler, partial: PartialItem, delta: TextDelta): InferenceEvent | undefined {
  const part = partOf(partial, delta.kind, delta.part)
  partial.latest = part
  assembler.extended = partial
  appendText(part.text, delta.text)
  if (delta.logprobs) for (const entry of delta.logprobs) part.logprobs.push(entry)
  if (partial.index === undefined) return undefined
  const event = textDelta(partial.index, delta, part.text)
  assembler.events = append(assembler.events, event)
  return event
}

export function appendAnnotation(assembler: ItemAssembler, partial: PartialItem, delta: AnnotationDelta): void {
  partOf(partial, 'text', delta.part).annotations.push(delta.annotation)
  if (partial.index !== undefined) emitEvent(assembler, { type: 'delta', index: partial.index, delta })
}

/** Emits `item_finished`. An item that was never announced is dropped. */
export function finishItem(assembler: ItemAssembler, partial: PartialItem, item: Item): void {
  partial.finished = true
  if (partial.index !== undefined) emitEvent(assembler, { type: 'item_finished', index: partial.index, item })
}

/** Emits a complete item. `announced` is its form in `item_started`. */
export function emitItem(assembler: ItemAssembler, item: Item, announced: Item = item): void {
  const index = assembler.count++
  emitEvent(assembler, { type: 'item_started', index, item: announced })
  emitEvent(assembler, { type: 'item_finished', index, item })
}

export function partOf(partial: PartialItem, kind: TextKind, number: number): PartialPart {
  const { latest } = partial
  if (latest?.kind === kind && latest.number === number) return latest
  const key = `${kind}:${number}`
  const known = entryOf(partial.parts, key)
  const part = known ?? { kind, number, text: textBuffer(), annotations: [], logprobs: [] }
  if (!known) setEntry(partial.parts, key, part)
  return part
}

export const hasPart = ({ parts }: PartialItem, kind: TextKind, number: number): boolean =>
  entryOf(parts, `${kind}:${number}`) !== undefined

/** The item with the text that has arrived so far. */
export function assembledItem(partial: PartialItem, status: ItemStatus): Item {
  const { item } = partial
  if (item.type === 'message') return { ...item, content: contentOf(partial), status }
  if (item.type === 'function_call') return { ...item, arguments: argumentsOf(partial), status }
  return item.type === 'reasoning' ? { ...item, ...assembledReasoning(partial) } : item
}

export const argumentsOf = ({ parts }: PartialItem): string => {
  const part = entryOf(parts, 'arguments:0')
  return part ? bufferedText(part.text) : ''
}

export const contentOf = (partial: PartialItem): readonly Part[] =>
  partsInOrder(partial, ['text', 'refusal']).map(({ kind, text, annotations, logprobs }): Part => {
    if (kind === 'refusal') return { type: 'refusal', refusal: bufferedText(text) }
    return {
      type: 'text',
      text: bufferedText(text),
      ...(annotations.length > 0 && { annotations }),
      ...(logprobs.length > 0 && { logprobs }),
    }
  })

export function assembledReasoning(partial: PartialItem): Pick<ReasoningItem, 'summary' | 'content'> {
  const summary = partsInOrder(partial, ['summary']).map(({ text }) => bufferedText(text))
  const content = partsInOrder(partial, ['reasoning']).map(({ text }) => bufferedText(text))
  return { summary, ...(content.length > 0 && { content }) }
}

const partsInOrder = ({ parts }: PartialItem, kinds: readonly TextKind[]): readonly PartialPart[] =>
  valuesOf(parts)
    .filter(({ kind }) => kinds.includes(kind))
    .sort((a, b) => a.number - b.number)

/** The item as it is announced: without text and sealed state, which are in `item_finished`. */
function shellOf(item: Item): Item {
  if (item.type === 'message') return like(item, { ...item, content: [], status: 'in_progress' })
  if (item.type === 'function_call') return like(item, { ...item, arguments: '', status: 'in_progress' })
  if (item.type !== 'reasoning') return item
  return like(item, { type: 'reasoning', ...(item.id !== undefined && { id: item.id }), summary: [] })
}

const like = (item: Item, shell: Item): Item => remember(shell, originalOf(item))

export const messageShell: MessageItem = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
export const reasoningShell: ReasoningItem = { type: 'reasoning', summary: [] }

/** The only item of an empty response, because a response always has an item. */
export const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }

const maxPieces = 32

export const textBuffer = (text = ''): TextBuffer => ({ length: text.length, groups: text === '' ? [] : [text], pieces: [] })

export function appendText(buffer: TextBuffer, piece: string): void {
  if (piece === '') return
  const { groups, pieces } = buffer
  buffer.length += piece.length
  if (pieces.push(piece) < maxPieces) return
  let group = pieces.join('')
  pieces.length = 0
  for (let last = groups.at(-1); last !== undefined && last.length <= group.length; last = groups.at(-1)) {
    groups.pop()
    group = [last, group].join('')
  }
  groups.push(group)
}

export function bufferedText({ groups, pieces }: TextBuffer): string {
  if (pieces.length === 0 && groups.length < 2) return groups[0] ?? ''
  const text = groups.concat(pieces).join('')
  groups.length = 1
  groups[0] = text
  pieces.length = 0
  return text
}
