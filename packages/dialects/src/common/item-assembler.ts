import type { ResponseMapping } from '../protocol/dialect.ts'
import type { Delta, InferenceEvent } from '../protocol/event.ts'
import type { Item, ItemStatus, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { type Original, originalOf, remember } from '../protocol/original.ts'
import type { InferenceResponse, Outcome, Usage } from '../protocol/response.ts'
import { TextBuffer, textDelta } from '../protocol/text-delta.ts'
import { append, type JsonObject } from '../protocol/wire.ts'
import { callIdFor } from './ids.ts'

// Assembles the items of a response from the pieces of a stream, and emits the events that announce, extend and finish them.

export type TextDelta = Exclude<Delta, { readonly kind: 'annotation' }>
export type TextKind = TextDelta['kind']

/** The identity of a response, as its provider states it. */
export type ResponseHead = Pick<InferenceResponse, 'id' | 'model' | 'created_at'>

/** One text of an item that is not complete. The arguments of a call are part 0. */
export interface OpenPart {
  readonly kind: TextKind
  readonly number: number
  text: TextBuffer
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
}

/** An item that is not complete. A dialect whose items consist of more than texts extends it. */
export class OpenItem {
  /** The item without its text. */
  item: Item
  /** Its position in the output. Undefined until it is announced. */
  index: number | undefined = undefined
  isFinished = false
  /** The part to which text was added last. */
  latest: OpenPart | undefined = undefined
  /** The kind of its text that is a JSON object: `{}` if the item is complete without it. */
  jsonKind: TextKind | undefined
  readonly #parts = new Map<string, OpenPart>()

  constructor(item: Item) {
    this.item = item
    this.jsonKind = item.type === 'function_call' && !item.custom ? 'arguments' : undefined
  }

  /** Whether it is known to be complete, even if the response was cut off. */
  get isComplete(): boolean {
    return false
  }

  /** A part, which is created if needed. */
  part(kind: TextKind, number: number): OpenPart {
    const { latest } = this
    if (latest?.kind === kind && latest.number === number) return latest
    const key = `${kind}:${number}`
    const known = this.#parts.get(key)
    if (known) return known
    const part: OpenPart = { kind, number, text: new TextBuffer(), annotations: [], logprobs: [] }
    this.#parts.set(key, part)
    return part
  }

  hasPart(kind: TextKind, number: number): boolean {
    return this.#parts.has(`${kind}:${number}`)
  }

  /** In the order in which they began. */
  parts(): Iterable<OpenPart> {
    return this.#parts.values()
  }

  get partCount(): number {
    return this.#parts.size
  }

  /** The text that has arrived of a part. */
  textOf(kind: TextKind, number = 0): string {
    return this.hasPart(kind, number) ? this.part(kind, number).text.toString() : ''
  }

  content(): readonly Part[] {
    return this.#inOrder('text', 'refusal').map(({ kind, text, annotations, logprobs }): Part => {
      if (kind === 'refusal') return { type: 'refusal', refusal: text.toString() }
      return {
        type: 'text',
        text: text.toString(),
        annotations: annotations.length > 0 ? annotations : undefined,
        logprobs: logprobs.length > 0 ? logprobs : undefined,
      }
    })
  }

  reasoning(): Pick<ReasoningItem, 'summary' | 'content'> {
    const content = this.#inOrder('reasoning').map(({ text }) => text.toString())
    return {
      summary: this.#inOrder('summary').map(({ text }) => text.toString()),
      content: content.length > 0 ? content : undefined,
    }
  }

  #inOrder(...kinds: readonly TextKind[]): readonly OpenPart[] {
    return [...this.#parts.values()].filter(({ kind }) => kinds.includes(kind)).sort((a, b) => a.number - b.number)
  }

  /** The item with the text that has arrived so far. */
  complete(status: ItemStatus): Item {
    const { item } = this
    if (item.type === 'message') return { ...item, content: this.content(), status }
    if (item.type === 'function_call') return { ...item, arguments: this.textOf('arguments'), status }
    return item.type === 'reasoning' ? { ...item, ...this.reasoning() } : item
  }
}

/** The list without events of all decoders. */
const noEvents: readonly InferenceEvent[] = []

/** Providers use few types. A limit keeps a stream of invented ones from filling the memory. */
const maxUnmodeled = 20
const maxTypeLength = 100

/** The head of a response that does not state any. */
const unknownHead: ResponseHead = { id: '', model: '', created_at: 0 }

/** The items and events of one response. `started` is emitted with the first event if the decoder has not emitted it. */
export class ItemAssembler<Open extends OpenItem = OpenItem> {
  readonly mapping: ResponseMapping
  /** Events since the last drain. */
  events: readonly InferenceEvent[] = noEvents
  /** Number of announced items, which is the index of the next. */
  count = 0
  /** The item to which text was added last. */
  extended: OpenItem | undefined = undefined
  /** Undefined until `started` was emitted. */
  head: ResponseHead | undefined = undefined
  /** Makes a response fail that did not fail by itself. */
  fault: Outcome | undefined = undefined
  /** Undefined until all items are finished. */
  outcome: Outcome | undefined = undefined
  /** Whether `finished` was emitted. */
  isFinished = false
  /** Unfinished items, in the order in which they began. */
  readonly open = new Set<Open>()
  /** Those of them that are finished when another item starts. */
  readonly #whole = new Set<Open>()
  readonly #callIds = new Set<string>()
  #unmodeled: Set<string> | undefined = undefined

  constructor(mapping: ResponseMapping = {}) {
    this.mapping = mapping
  }

  /** Adds an event. A first event gets a list of its own size. */
  emit(event: InferenceEvent): void {
    if (!this.head) this.start(unknownHead)
    this.events = append(this.events, event)
  }

  drain(): readonly InferenceEvent[] {
    const { events } = this
    this.events = noEvents
    return events
  }

  /** Emits `started`. Repeated calls have no effect. `usage`: counts that the provider sent with it. */
  start(head: ResponseHead, original?: Original, usage?: Usage): void {
    if (this.head) return
    this.head = head
    this.emit(remember<InferenceEvent>({ type: 'started', ...head, usage }, original))
  }

  /** Starts an item, and finishes those before it that are whole. `isHeld`: it is announced later. */
  begin<Type extends Open>(item: Type, isHeld = false): Type {
    this.finishWhole()
    this.open.add(item)
    if (!isHeld) this.announce(item)
    return item
  }

  /** Emits `item_started`, and the text that arrived before. Has no effect on an announced item, or a call without a name. */
  announce(open: OpenItem): void {
    const { item } = open
    if (open.index !== undefined || (item.type === 'function_call' && item.name === '')) return
    const index = this.count++
    open.index = index
    this.emit({ type: 'item_started', index, item: announced(item) })
    for (const { kind, number, text } of open.parts())
      if (text.length > 0) this.emit(textDelta(index, { kind, part: number, text: text.toString() }, text))
  }

  /** Adds text to a part. Returns the event, or undefined while the item is not announced. */
  text(open: OpenItem, delta: TextDelta): InferenceEvent | undefined {
    const part = open.part(delta.kind, delta.part)
    open.latest = part
    this.extended = open
    part.text.append(delta.text)
    if (delta.logprobs) for (const entry of delta.logprobs) part.logprobs.push(entry)
    if (open.index === undefined || open.isFinished) return undefined
    const event = textDelta(open.index, delta, part.text)
    this.events = append(this.events, event)
    return event
  }

  /** Adds an annotation to a text. */
  cite(open: OpenItem, part: number, annotation: JsonObject): void {
    open.part('text', part).annotations.push(annotation)
    if (open.index !== undefined) this.emit({ type: 'delta', index: open.index, delta: { kind: 'annotation', part, annotation } })
  }

  /** Says whether an item is finished when another one starts. */
  setWhole(open: Open, isWhole = true): void {
    if (isWhole && !open.isFinished) this.#whole.add(open)
    else this.#whole.delete(open)
  }

  /** Finishes the items that are whole. Each leaves the set once, so the total work is linear. */
  finishWhole(except?: Open): void {
    for (const open of this.#whole) if (open !== except) this.finish(open)
  }

  /** Emits `item_finished`. An item that cannot be announced is dropped. `item`: the item as the provider states it. */
  finish(open: Open, status: ItemStatus = 'completed', item?: Item): void {
    if (open.isFinished) return
    this.announce(open)
    const { index, jsonKind } = open
    if (index !== undefined) {
      if (!item && status === 'completed' && jsonKind && open.textOf(jsonKind) === '')
        this.text(open, { kind: jsonKind, part: 0, text: '{}' })
      this.emit({ type: 'item_finished', index, item: item ?? open.complete(status) })
    }
    open.isFinished = true
    this.open.delete(open)
    this.#whole.delete(open)
  }

  /** Emits a complete item, after those before it that are whole. `shell`: its form in `item_started`. */
  add(item: Item, shell: Item = item): void {
    this.finishWhole()
    const index = this.count++
    this.emit({ type: 'item_started', index, item: shell })
    this.emit({ type: 'item_finished', index, item })
  }

  /** Records a content type that no item can represent, to be reported at the end of the response. */
  noteUnmodeled(type: string): void {
    this.#unmodeled ??= new Set()
    if (this.#unmodeled.size < maxUnmodeled) this.#unmodeled.add(type.slice(0, maxTypeLength))
  }

  /** The id of the next call: the provider's, unless that is empty or taken. `more`: facts that tell calls without an id apart. */
  callId(given: string, name: string, ...more: readonly string[]): string {
    const { id = '', created_at = 0 } = this.head ?? {}
    return callIdFor(this.#callIds, given, [id, created_at, this.#callIds.size, name, ...more])
  }

  get callCount(): number {
    return this.#callIds.size
  }

  /** The client's name of a tool. */
  toolName(sent: string): string {
    return this.mapping.toolNames?.get(sent) ?? sent
  }

  /** Decides the outcome, and finishes all items. Repeated calls have no effect. */
  settle(outcome: Outcome): void {
    if (this.outcome) return
    this.outcome = outcome.status === 'failed' ? outcome : (this.fault ?? outcome)
    const status = this.outcome.status === 'completed' ? 'completed' : 'incomplete'
    for (const open of this.open) this.finish(open, open.isComplete ? 'completed' : status)
    if (this.count === 0 && status === 'completed') this.add(emptyMessage)
  }

  /** Emits `finished`, the last event. */
  end(usage: Usage | undefined, original?: Original): void {
    const unmodeled = this.#unmodeled && [...this.#unmodeled]
    this.emit(remember<InferenceEvent>({ type: 'finished', outcome: this.outcome ?? { status: 'completed' }, usage, unmodeled }, original))
    this.isFinished = true
  }
}

/** The item as it is announced: without text and sealed state, which are in `item_finished`. */
function announced(item: Item): Item {
  const original = originalOf(item)
  if (item.type === 'message') return remember<Item>({ ...item, content: [], status: 'in_progress' }, original)
  if (item.type === 'function_call') return remember<Item>({ ...item, arguments: '', status: 'in_progress' }, original)
  return item.type === 'reasoning' ? remember<Item>({ type: 'reasoning', id: item.id, summary: [] }, original) : item
}

export const messageShell: MessageItem = { type: 'message', role: 'assistant', content: [], status: 'in_progress' }
export const reasoningShell: ReasoningItem = { type: 'reasoning', summary: [] }

/** The only item of an empty response, because a response always has an item. */
const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }
