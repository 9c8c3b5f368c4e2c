import type { Clock } from './ports.ts'

/** A timer shared by several requests. */
export interface LastingTimer {
  /** Sets the timer, unless one is set and not overdue. */
  set(milliseconds: number): void
  clear(): void
  isSet(): boolean
}

/** How long after its due time a timer counts as dropped, in milliseconds. */
const lateMs = 2_000

/**
 * Creates a timer that is set at most once at a time. An overdue timer counts as dropped and can be set again, because Workers drop the
 * timers of a request together with the request.
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
