/**
 * A map that has one entry in most streams. It makes a table only for the second: a table takes 150 bytes, and an open stream has several
 * maps. Values are not undefined.
 */
export interface SmallMap<Key, Value> {
  key: Key | undefined
  value: Value | undefined
  /** All entries but one. */
  rest: Map<Key, Value> | undefined
}

/** An empty map, which allocates nothing for its first entry. */
export const smallMap = <Key, Value>(): SmallMap<Key, Value> => ({ key: undefined, value: undefined, rest: undefined })

/** The value of a key. */
export const entryOf = <Key, Value>({ key, value, rest }: SmallMap<Key, Value>, wanted: Key): Value | undefined =>
  key === wanted ? value : rest?.get(wanted)

/** Adds or replaces an entry. */
export function setEntry<Key, Value>(map: SmallMap<Key, Value>, key: Key, value: Value): void {
  if (map.key === key || (map.value === undefined && map.rest === undefined)) {
    map.key = key
    map.value = value
  } else {
    map.rest ??= new Map()
    map.rest.set(key, value)
  }
}

/** Removes an entry. */
export function deleteEntry<Key, Value>(map: SmallMap<Key, Value>, key: Key): void {
  if (map.key !== key) map.rest?.delete(key)
  else {
    map.key = undefined
    map.value = undefined
  }
}

/** In the order in which the keys were added, if none was deleted. */
export function valuesOf<Key, Value>({ value, rest }: SmallMap<Key, Value>): readonly Value[] {
  const first = value === undefined ? [] : [value]
  return rest === undefined ? first : [...first, ...rest.values()]
}

export const sizeOf = <Key, Value>({ value, rest }: SmallMap<Key, Value>): number => (value === undefined ? 0 : 1) + (rest?.size ?? 0)
