/** Ids seen lately: at least the last `size`, at most twice as many. */
export interface Remembered {
  has(id: string): boolean
  add(id: string): void
}

/**
 * Two halves that change places, since taking the oldest out of a large set one by one is slow.
 *
 * ```ts
 * const settled = remember(100_000)
 * if (!settled.has(id)) settled.add(id)
 * ```
 */
export function remember(size: number): Remembered {
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
