/**
 * Sets a row as the youngest, and cuts the oldest once a quarter too many are there: in one go, since taking the oldest out of a
 * large map one by one is slow.
 *
 * ```ts
 * setYoungest(rows, { key, row, most: 10_000 })
 * ```
 */
export function setYoungest<Row>(
  rows: Map<string, Row>,
  { key, row, most }: { readonly key: string; readonly row: Row; readonly most: number },
): void {
  rows.delete(key)
  rows.set(key, row)
  if (rows.size <= most * 1.25) return
  let over = rows.size - most
  for (const oldest of rows.keys()) {
    if (over-- === 0) return
    rows.delete(oldest)
  }
}
