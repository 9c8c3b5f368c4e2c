import type { Clock } from '@signalbox/core/runtime'

/** Resolves when the next heavy work may run. Each gets its own turn of the event loop, so that other requests run in between. */
export type TurnQueue = () => Promise<void>

/**
 * Creates a queue of turns. Parsing 30 MB takes a tenth of a second, and sixty bodies that arrive together must not block for six seconds.
 */
export function createTurnQueue(clock: Pick<Clock, 'setTimeout'>): TurnQueue {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise(resolve => void clock.setTimeout(resolve, 0)))
    return last
  }
}
