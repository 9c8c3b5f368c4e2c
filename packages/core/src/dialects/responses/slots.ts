import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item, ItemStatus, Part } from '../../protocol/item.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { originalBody, writeItem } from './items.ts'
import { type Growth, growths, hostedEvents, type PartKind } from './wire.ts'

// What an encoder remembers of an open item, and the pieces of frames that follow from it.

export interface OpenPart {
  readonly growth: Growth
  /** As the facts count. */
  readonly part: number
  /** As this language counts. */
  readonly number: number
  /** Everything of a delta frame before the delta, and behind it up to the number: the same for each, and there are thousands. */
  readonly head: string
  readonly foot: string
  text: string
  annotations: JsonObject[]
  logprobs: JsonObject[]
  closed: boolean
}

export interface Slot {
  readonly place: number
  readonly id: string
  readonly item: Item
  readonly parts: Map<string, OpenPart>
  /** The part that grows now: parts follow one another. */
  current: OpenPart | undefined
  contents: number
  /** Parts that we do not read, by the provider's number for them. */
  readonly natives: Map<number, number>
  summaries: number
  /** Everything of a frame of arguments before them. */
  readonly head: string
  arguments: string
  /** The finished item. */
  done: JsonObject | undefined
}

export interface PartDelta {
  readonly kind: PartKind
  readonly part: number
  readonly text: string
  readonly logprobs?: readonly JsonObject[]
}

export const none: readonly JsonObject[] = []
export const noExtras = { annotations: none, logprobs: none }

export const at = (slot: Slot, part: OpenPart): JsonObject => ({
  item_id: slot.id,
  output_index: slot.place,
  [part.growth.at]: part.number,
})

/** Fields of the provider's delta that we do not know. Decoders remember a delta only if it has some. */
export function extrasOf(event: InferenceEvent): JsonObject | undefined {
  const body = originalBody(event)
  if (!body) return undefined
  const { type, sequence_number, obfuscation, error, ...extras } = body
  return extras
}

/** Clients stop at an event about an item of another type. Sound alone belongs to no item. */
export function fitsSlot(name: string, slot: Slot | undefined): boolean {
  const about = hostedEvents.get(name)?.item
  if (!slot) return hostedEvents.has(name) && about === undefined
  if (slot.done) return false
  if (slot.item.type === 'message') return name.startsWith('response.content_part.')
  return slot.item.type === 'native' && slot.item.body.type === about
}

/** `top_logprobs` is always a list: a client rejects the entry otherwise. */
export const withAlternatives = (entry: JsonObject): JsonObject => ({ ...entry, top_logprobs: entry.top_logprobs ?? [] })

/** The item as it is announced: who it is, and nothing of what it says. */
export function shell(item: Item, id: string): JsonObject {
  if (item.type === 'message') return { ...writeItem({ ...item, content: [], status: 'in_progress' }, id), ...unknownOf(item) }
  if (item.type === 'function_call') return { ...writeItem({ ...item, arguments: '', status: 'in_progress' }, id), ...unknownOf(item) }
  if (item.type === 'reasoning') return { ...unknownOf(item), id, type: 'reasoning', summary: [] }
  return writeItem(item, id)
}

const spoken: ReadonlySet<string> = new Set([
  'id',
  'type',
  'status',
  'role',
  'content',
  'phase',
  'call_id',
  'name',
  'arguments',
  'summary',
  'encrypted_content',
])
const unknownOf = (item: Item): JsonObject | undefined => {
  const body = originalBody(item)
  return body && Object.fromEntries(Object.entries(body).filter(([field]) => !spoken.has(field)))
}

/** What an item has come to when nobody finished it. */
export function soFar({ item, parts, arguments: written }: Slot, status: ItemStatus): Item {
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
