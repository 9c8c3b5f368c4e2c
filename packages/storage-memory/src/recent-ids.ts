/** A set of recent ids: at least the last `size`, at most twice as many. */
export interface RecentIds {
  has(id: string): boolean
  add(id: string): void
}

/**
 * Creates a set of recent ids from two halves that swap, because removing the oldest of a large set one by one is slow.
 *
 * ```ts
 * const settled = createRecentIds(100_000)
 * if (!settled.has(id)) settled.add(id)
 * ```
 */
export function createRecentIds(size: number): RecentIds {
  let recent = new Set<string>()
  let older = new Set<string>()
  return {
    has: id => recent.has(id) || older.has(id),
    add(id) {
      recent.add(id)
      if (recent.size < size) return
      older = recent
      recent = new Set()
    },
  }
}
