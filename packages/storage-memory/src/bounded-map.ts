/**
 * Sets a row as the newest, and removes the oldest once the map is a quarter too large. All at once, because removing the oldest of a large
 * map one by one is slow.
 *
 * ```ts
 * setYoungest(rows, { key, row, max: 10_000 })
 * ```
 */
export function setYoungest<Row>(
  rows: Map<string, Row>,
  { key, row, max }: { readonly key: string; readonly row: Row; readonly max: number },
): void {
  rows.delete(key)
  rows.set(key, row)
  if (rows.size <= max * 1.25) return
  let over = rows.size - max
  for (const oldest of rows.keys()) {
    if (over-- === 0) return
    rows.delete(oldest)
  }
}
