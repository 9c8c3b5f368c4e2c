const PAUSE = 64
const STRIDE = 128

/**
 * Forgets what is over, a few rows on every 64th call: work in step with use, and no timer that outlives the store.
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
    if (++calls % PAUSE !== 0) return
    for (let step = 0; step < STRIDE; step++) {
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
