const CALLS_PER_SWEEP = 64
const ROWS_PER_SWEEP = 128

/**
 * Removes a few expired rows on every 64th call: the work is proportional to use, and no timer outlives the store.
 *
 * ```ts
 * const sweep = makeSweeper(counters, (counter, at) => counter.endsAt <= at)
 * sweep(at)
 * ```
 */
export function makeSweeper<Row>(rows: Map<string, Row>, isOver: (row: Row, at: number) => boolean): (at: number) => void {
  let calls = 0
  let place = rows.entries()
  return at => {
    if (++calls % CALLS_PER_SWEEP !== 0) return
    for (let step = 0; step < ROWS_PER_SWEEP; step++) {
      const next = place.next()
      if (next.done) {
        place = rows.entries()
        return
      }
      const [key, row] = next.value
      if (isOver(row, at)) rows.delete(key)
    }
  }
}
