import { LRUCache } from 'lru-cache'

const sizeOfEntry = (): number => 1

/**
 * A cache of at most `max` entries that evicts the least recently used; with `sizeOf`, of entries of that size together. It grows with its
 * entries: the `max` option of LRUCache preallocates room for all of them, hundreds of kilobytes per cache and gateway.
 */
export const createLru = <Value extends NonNullable<unknown>>(
  max: number,
  sizeOf: (value: Value) => number = sizeOfEntry,
): LRUCache<string, Value> => new LRUCache<string, Value>({ maxSize: max, sizeCalculation: sizeOf })
