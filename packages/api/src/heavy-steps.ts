import type { Clock } from '@signalbox/core/runtime'

/** Resolves when the next heavy step may run: each has a turn of the event loop to itself, so that others are served in between. */
export type HeavySteps = () => Promise<void>

/** Parsing a body of 30 MB takes a tenth of a second. Sixty of them that arrive together must not be one step of six seconds. */
export function createHeavySteps(clock: Pick<Clock, 'setTimeout'>): HeavySteps {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise(resolve => void clock.setTimeout(resolve, 0)))
    return last
  }
}
