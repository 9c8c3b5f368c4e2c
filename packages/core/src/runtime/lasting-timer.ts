import type { Clock } from './ports.ts'

/** A timer that several requests rely on. */
export interface LastingTimer {
  /** Sets it, unless it is set and not late. */
  set(milliseconds: number): void
  clear(): void
  isSet(): boolean
}

/** From when on a timer counts as dropped, in milliseconds after it was due. */
const lateMs = 2_000

/**
 * A timer of which one is set at a time. One that is late counts as dropped and can be set again: Workers drop the timers of a request
 * together with the request.
 *
 * @example
 * const retry = createLastingTimer(clock, tryAgain)
 * retry.set(200)
 */
export function createLastingTimer(clock: Clock, run: () => void): LastingTimer {
  let timer: unknown
  let lateAt = 0
  const isSet = (): boolean => timer !== undefined && clock.monotonic() < lateAt
  const clear = (): void => {
    clock.clearTimeout(timer)
    timer = undefined
  }
  return {
    set(milliseconds) {
      if (isSet()) return
      clear()
      lateAt = clock.monotonic() + milliseconds + lateMs
      const set = clock.setTimeout(() => {
        if (timer === set) timer = undefined
        run()
      }, milliseconds)
      timer = set
    },
    clear,
    isSet,
  }
}
