import type { Clock } from '../runtime/ports.ts'

// After the client disconnects, the upstream is read a little longer: usage, including hidden reasoning tokens, comes at the end.

/** Limits of reading on for usage. */
export const usageDrainLimits = {
  milliseconds: 5_000,
  /** Characters of content after the disconnect. Beyond them the response is cancelled, so that disconnecting stops its cost. */
  characters: 200,
  atOnce: 256,
} as const

export interface UsageDrains {
  /** Begins a drain: `end` is called when its time is over. Returns a function to call if it ends earlier; undefined at the limit. */
  begin(end: () => void): (() => void) | undefined
  /** Ends all drains and starts no more, because the gateway closes. */
  stop(): void
}

/** Creates the count of answers that are read to their usage after the client has left. */
export function createUsageDrains(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): UsageDrains {
  const open = new Set<() => void>()
  let isStopped = false
  return {
    begin(end) {
      if (isStopped || open.size >= usageDrainLimits.atOnce) return undefined
      const done = (): void => {
        clock.clearTimeout(timer)
        open.delete(stop)
      }
      const stop = (): void => {
        done()
        end()
      }
      const timer = clock.setTimeout(stop, usageDrainLimits.milliseconds)
      open.add(stop)
      return done
    },
    stop() {
      isStopped = true
      for (const stop of [...open]) stop()
    },
  }
}
