/** A queue of timed events, earliest first; at equal times, the one that was added first. */
export interface Events {
  at(atMs: number, happen: () => void): void
  /** Time of the next event in milliseconds; infinity if there is none. */
  nextMs(): number
  /** Runs the next event. */
  happen(): void
}

interface Event {
  readonly atMs: number
  readonly order: number
  readonly happen: () => void
}

const before = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A binary heap. */
export function createEvents(): Events {
  const heap: Event[] = []
  let order = 0
  const rise = (event: Event): void => {
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || !before(event, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = event
  }
  const sink = (event: Event): void => {
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [a, b] = [heap[left], heap[left + 1]]
      if (!a) break
      const below = b && before(b, a) ? left + 1 : left
      const child = below === left ? a : b
      if (!child || !before(child, event)) break
      heap[at] = child
      at = below
    }
    heap[at] = event
  }
  return {
    at: (atMs, happen) => {
      order += 1
      rise({ atMs, order, happen })
    },
    nextMs: () => heap[0]?.atMs ?? Number.POSITIVE_INFINITY,
    happen: () => {
      const [first] = heap
      const last = heap.pop()
      if (first && last && heap.length > 0) sink(last)
      first?.happen()
    },
  }
}
