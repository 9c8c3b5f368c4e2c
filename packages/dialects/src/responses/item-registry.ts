import { type PartialItem, partialItem } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
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

/**
 * Matches each item of the last snapshot with the streamed one: by id if ids are stable, otherwise (some providers change them with every
 * event) with the next of its type. Items without a match were never streamed.
 */
export function matchItems(streamed: readonly PartialItem[], snapshot: readonly Item[]): readonly (PartialItem | undefined)[] {
  const free = new Set(streamed)
  const byId = new Map(streamed.map(partial => [matchKey(partial.item) ?? partial, partial]))
  const idsAreStable = snapshot.some(item => byId.has(matchKey(item) ?? ''))
  const queues = new Map<unknown, PartialItem[]>()
  for (const partial of streamed.toReversed()) {
    const queue = queues.get(typeOf(partial.item))
    if (queue) queue.push(partial)
    else queues.set(typeOf(partial.item), [partial])
  }
  return snapshot.map(item => {
    const key = matchKey(item)
    const sameId = key === undefined ? undefined : byId.get(key)
    const found = sameId && free.has(sameId) ? sameId : idsAreStable && key !== undefined ? undefined : next(queues.get(typeOf(item)), free)
    if (found) free.delete(found)
    return found
  })
}

function next(queue: PartialItem[] | undefined, free: ReadonlySet<PartialItem>): PartialItem | undefined {
  for (let partial = queue?.pop(); partial; partial = queue?.pop()) if (free.has(partial)) return partial
  return undefined
}

const typeOf = (item: Item): string => (item.type === 'native' ? stringOf(item.body.type) : item.type)

function matchKey(item: Item): string | undefined {
  const id = item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined
  return typeof id === 'string' && id !== '' ? `${typeOf(item)}:${id}` : undefined
}
