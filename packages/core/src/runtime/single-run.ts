import type { Clock } from './ports.ts'

/** Work that has at most one run at a time. */
export interface SingleRun {
  /**
   * Starts a run; returns undefined if one is under way. The work may call `goesOn` after each of its steps to restart the `maxMs` limit.
   */
  begin(work: (goesOn: () => void) => Promise<void>): Promise<void> | undefined
  /** Resolves once the run under way is over. */
  ended(): Promise<void> | undefined
  isUnderWay(): boolean
}

/**
 * Allows one run at a time. A run that has neither ended nor called `goesOn` for `maxMs` counts as lost, and another may start: Workers
 * drop the work of a request together with the request, and its promise then never settles. The task must be safe to run concurrently with
 * an earlier run that turned out to be slow, not lost.
 *
 * @example
 * const looks = createSingleRun(clock, 60_000)
 * void looks.begin(look)
 */
export function createSingleRun(clock: Pick<Clock, 'monotonic'>, maxMs: number): SingleRun {
  let running: { readonly ended: Promise<void>; readonly isLost: () => boolean } | undefined
  const isUnderWay = (): boolean => running !== undefined && !running.isLost()
  return {
    begin(work) {
      if (isUnderWay()) return undefined
      let lostAt = clock.monotonic() + maxMs
      const goesOn = (): void => {
        lostAt = clock.monotonic() + maxMs
      }
      const ended = work(goesOn).finally(() => {
        if (running === run) running = undefined
      })
      const run = { ended, isLost: () => clock.monotonic() >= lostAt }
      running = run
      return ended
    },
    ended: () => running?.ended,
    isUnderWay,
  }
}
