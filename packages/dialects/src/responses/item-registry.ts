import { OpenItem } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import type { Item } from '../protocol/item.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { indexOf } from './wire.ts'

/** Items to assume for deltas about an item that was never announced. */
const assumed = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [] },
  function_call: { type: 'function_call', call_id: '', name: '', arguments: '' },
} as const satisfies Record<string, Item>

export type AssumedType = keyof typeof assumed

/** The items of one stream, to find the one that an event refers to. Every lookup takes constant time, however many items there are. */
export class ItemRegistry {
  /** In order of arrival. */
  readonly all: OpenItem[] = []
  readonly #byPlace = new Map<number | string, OpenItem>()
  /** The first item with each id. */
  readonly #byId = new Map<string, OpenItem>()
  /** In order. Finished items are removed from the end on access. */
  readonly #open: OpenItem[] = []

  add(place: number | string | undefined, item: Item): OpenItem {
    const open = new OpenItem(item)
    this.all.push(open)
    this.#open.push(open)
    this.registerId(open)
    this.#byPlace.set(place ?? `new:${this.all.length}`, open)
    return open
  }

  /** Call it again when the id of an item may have changed. */
  registerId(open: OpenItem): void {
    const id = 'id' in open.item ? (open.item.id ?? '') : ''
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, open)
  }

  at(place: number | string): OpenItem | undefined {
    return this.#byPlace.get(place)
  }

  /** Finds an item by position, otherwise by id; otherwise returns the last unfinished one. */
  find(outputIndex: Json | undefined, id: Json | undefined): OpenItem | undefined {
    const index = indexOf(outputIndex)
    if (index !== undefined) return this.at(index)
    const known = typeof id === 'string' ? this.#byId.get(id) : undefined
    if (known) return known
    while (this.#open.at(-1)?.isFinished) this.#open.pop()
    return this.#open.at(-1)
  }

  /** The item that an event about a part refers to; created if there is none of this type. */
  findOrAdd({ output_index, item_id }: JsonObject, type: AssumedType): OpenItem {
    const outputIndex = indexOf(output_index)
    const known = this.find(outputIndex, item_id)
    if (known && (known.item.type === type || known.item.type === 'native')) return known
    const place = known || outputIndex === undefined ? `${outputIndex}:${type}` : outputIndex
    const added = this.at(place)
    if (added && !added.isFinished) return added
    return this.add(place, { ...assumed[type], id: stringOf(item_id) || undefined } as Item)
  }
}

/**
 * Matches each item of the last snapshot with the streamed one: by id if ids are stable, otherwise (some providers change them with every
 * event) with the next of its type. Items without a match were never streamed.
 */
export function matchItems(streamed: readonly OpenItem[], snapshot: readonly Item[]): readonly (OpenItem | undefined)[] {
  const free = new Set(streamed)
  const byId = new Map(streamed.map(open => [matchKey(open.item) ?? open, open]))
  const idsAreStable = snapshot.some(item => byId.has(matchKey(item) ?? ''))
  const queues = new Map<unknown, OpenItem[]>()
  for (const open of streamed.toReversed()) {
    const queue = queues.get(typeOf(open.item))
    if (queue) queue.push(open)
    else queues.set(typeOf(open.item), [open])
  }
  return snapshot.map(item => {
    const key = matchKey(item)
    const sameId = key === undefined ? undefined : byId.get(key)
    const found = sameId && free.has(sameId) ? sameId : idsAreStable && key !== undefined ? undefined : next(queues.get(typeOf(item)), free)
    if (found) free.delete(found)
    return found
  })
}

function next(queue: OpenItem[] | undefined, free: ReadonlySet<OpenItem>): OpenItem | undefined {
  for (let open = queue?.pop(); open; open = queue?.pop()) if (free.has(open)) return open
  return undefined
}

const typeOf = (item: Item): string => (item.type === 'native' ? stringOf(item.body.type) : item.type)

function matchKey(item: Item): string | undefined {
  const id = item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined
  return typeof id === 'string' && id !== '' ? `${typeOf(item)}:${id}` : undefined
}
