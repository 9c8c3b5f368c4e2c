import type { Clock } from '../runtime/ports.ts'

// After its client has left, an answer is read on for a moment, for the usage that stands at its end: what its provider takes for
// it is known then, thoughts that nobody saw included.

/** How long, how far and how often: the cost of an answer that nobody reads any more. */
export const drainLimits = {
  milliseconds: 5_000,
  /** Of content that comes after the client has left: an answer that goes on is cut, so that leaving stops its cost. */
  characters: 200,
  atOnce: 256,
} as const

export interface Drains {
  /** Reads while `read` resolves to true, within the limits. Rejects never. */
  run(read: () => Promise<boolean>): Promise<void>
  /** Ends those under way, and those to come: the gateway closes. */
  stop(): void
}

export function keepDrains(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Drains {
  const open = new Set<() => void>()
  let isStopped = false
  return {
    run(read) {
      if (isStopped || open.size >= drainLimits.atOnce) return Promise.resolve()
      return new Promise(resolve => {
        let isOver = false
        const end = (): void => {
          isOver = true
          clock.clearTimeout(timer)
          open.delete(end)
          resolve()
        }
        const timer = clock.setTimeout(end, drainLimits.milliseconds)
        open.add(end)
        const again = (goesOn: boolean): void => {
          if (isOver) return
          if (goesOn) read().then(again, end)
          else end()
        }
        again(true)
      })
    },
    stop() {
      isStopped = true
      for (const end of [...open]) end()
    },
  }
}
