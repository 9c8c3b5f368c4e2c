import type { Item } from '../../protocol/item.ts'
import type { Json, JsonObject } from '../../protocol/wire.ts'
import { type Growing, type Guess, guesses, startGrowing } from './growing.ts'
import { indexOf } from './wire.ts'

// The items of one stream, and which of them an event is about. Every look-up takes the same time, however many there are.

export interface ItemRegistry {
  /** In the order in which they came. */
  readonly all: readonly Growing[]
  add(place: number | string | undefined, item: Item): Growing
  /** The item may go by another id now. */
  renamed(growing: Growing): void
  /** By position, else by id, else the last item that is not finished. */
  find(place: Json | undefined, id: Json | undefined): Growing | undefined
  /** The same for a part of an item of this type, which is added where there is none. */
  findOrAdd(body: JsonObject, guess: Guess): Growing
}

export function itemRegistry(): ItemRegistry {
  const all: Growing[] = []
  const places = new Map<number | string, Growing>()
  /** The first item of each id. */
  const ids = new Map<string, Growing>()
  /** In order; what is finished is taken off the end when it is looked at. */
  const open: Growing[] = []

  const lastOpen = (): Growing | undefined => {
    while (open.at(-1)?.finished) open.pop()
    return open.at(-1)
  }

  const renamed = (growing: Growing): void => {
    const id = 'id' in growing.item ? (growing.item.id ?? '') : ''
    if (id !== '' && !ids.has(id)) ids.set(id, growing)
  }

  const add = (place: number | string | undefined, item: Item): Growing => {
    const growing = startGrowing(item)
    all.push(growing)
    open.push(growing)
    renamed(growing)
    places.set(place ?? `new:${all.length}`, growing)
    return growing
  }

  const find = (place: Json | undefined, id: Json | undefined): Growing | undefined => {
    const index = indexOf(place)
    if (index !== undefined) return places.get(index)
    return (typeof id === 'string' ? ids.get(id) : undefined) ?? lastOpen()
  }

  return {
    all,
    add,
    renamed,
    find,
    findOrAdd(body, guess) {
      const place = indexOf(body.output_index)
      const known = find(place, body.item_id)
      if (known && (known.item.type === guess || known.item.type === 'native')) return known
      const key = known || place === undefined ? `${place}:${guess}` : place
      const guessed = places.get(key)
      if (guessed && !guessed.finished) return guessed
      return add(key, { ...guesses[guess], ...(typeof body.item_id === 'string' && body.item_id !== '' && { id: body.item_id }) })
    },
  }
}
