import type { Clock } from './ports.ts'

/** Work of which one run is under way at a time. */
export interface SingleRun {
  /** Begins a run, unless one is under way. Undefined: one was. The work may call `goesOn` after each of its steps: from then on it has `maxMs` again. */
  begin(work: (goesOn: () => void) => Promise<void>): Promise<void> | undefined
  /** Resolves once the run under way is over. */
  ended(): Promise<void> | undefined
  isUnderWay(): boolean
}

/**
 * Lets one run be under way at a time. A run that has neither ended nor gone on for `maxMs` is taken for lost, so that another may begin: Workers
 * drop what a request has begun together with the request, and its promise then never settles. What is run must bear a second run
 * beside a first that was only slow.
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
