import type { Clock } from '../runtime/ports.ts'

// After its client has left, an answer is read on for a moment, for the usage that stands at its end: what its provider takes for
// it is known then, thoughts that nobody saw included.

/** How long, how far and how often: the cost of an answer that has no reader any more. */
export const drainLimits = {
  milliseconds: 5_000,
  /** Of content that comes after the client has left: an answer that goes on is cut, so that leaving stops its cost. */
  characters: 200,
  atOnce: 256,
} as const

export interface Drains {
  /** Begins to read on: `end` is called once the time is over. Gives what to call when it is over before; nothing where too many are read on already. */
  begin(end: () => void): (() => void) | undefined
  /** Ends those under way, and those to come: the gateway closes. */
  stop(): void
}

export function createDrains(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): Drains {
  const open = new Set<() => void>()
  let isStopped = false
  return {
    begin(end) {
      if (isStopped || open.size >= drainLimits.atOnce) return undefined
      const done = (): void => {
        clock.clearTimeout(timer)
        open.delete(stop)
      }
      const stop = (): void => {
        done()
        end()
      }
      const timer = clock.setTimeout(stop, drainLimits.milliseconds)
      open.add(stop)
      return done
    },
    stop() {
      isStopped = true
      for (const stop of [...open]) stop()
    },
  }
}
