import { type PartialItem, partialItem } from '../common/item-assembler.ts'
import type { Item } from '../protocol/item.ts'
import { entryOf, type SmallMap, setEntry, smallMap } from '../protocol/small-map.ts'
import { append, type Json, type JsonObject } from '../protocol/wire.ts'
import { indexOf } from './wire.ts'

// The items of one stream, to find the one that an event refers to. Every lookup takes constant time, however many items there are.

export interface ItemRegistry {
  /** In order of arrival. */
  all: PartialItem[]
  readonly byPlace: SmallMap<number | string, PartialItem>
  /** The first item with each id. */
  readonly byId: SmallMap<string, PartialItem>
  /** In order. Finished items are removed from the end on access. */
  open: PartialItem[]
}

export const itemRegistry = (): ItemRegistry => ({ all: [], byPlace: smallMap(), byId: smallMap(), open: [] })

export function addItem(registry: ItemRegistry, outputIndex: number | string | undefined, item: Item): PartialItem {
  const partial = partialItem(item)
  registry.all = append(registry.all, partial)
  registry.open = append(registry.open, partial)
  registerId(registry, partial)
  setEntry(registry.byPlace, outputIndex ?? `new:${registry.all.length}`, partial)
  return partial
}

/** Call it again when the id of an item may have changed. */
export function registerId({ byId }: ItemRegistry, partial: PartialItem): void {
  const id = 'id' in partial.item ? (partial.item.id ?? '') : ''
  if (id !== '' && entryOf(byId, id) === undefined) setEntry(byId, id, partial)
}

/** Finds an item by position, otherwise by id; otherwise returns the last unfinished one. */
export function findItem(registry: ItemRegistry, outputIndex: Json | undefined, id: Json | undefined): PartialItem | undefined {
  const index = indexOf(outputIndex)
  if (index !== undefined) return entryOf(registry.byPlace, index)
  return (typeof id === 'string' ? entryOf(registry.byId, id) : undefined) ?? lastOpen(registry)
}

function lastOpen({ open }: ItemRegistry): PartialItem | undefined {
  while (open.at(-1)?.finished) open.pop()
  return open.at(-1)
}

/** Items to assume for deltas about an item that was never announced. */
const assumed = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [] },
  function_call: { type: 'function_call', call_id: '', name: '', arguments: '' },
} as const satisfies Record<string, Item>

export type AssumedType = keyof typeof assumed

/** The item that an event about a part refers to; created if there is none of this type. */
export function findOrAddItem(registry: ItemRegistry, body: JsonObject, type: AssumedType): PartialItem {
  const outputIndex = indexOf(body.output_index)
  const known = findItem(registry, outputIndex, body.item_id)
  if (known && (known.item.type === type || known.item.type === 'native')) return known
  const key = known || outputIndex === undefined ? `${outputIndex}:${type}` : outputIndex
  const added = entryOf(registry.byPlace, key)
  if (added && !added.finished) return added
  return addItem(registry, key, { ...assumed[type], ...(typeof body.item_id === 'string' && body.item_id !== '' && { id: body.item_id }) })
}
