import type { Clock } from './ports.ts'
import { unrefTimer } from './timers.ts'

/** A timer shared by several requests. */
export interface LastingTimer {
  /** Sets the timer, unless one is set and not overdue. `now`: monotonic milliseconds, if they are known. */
  set(milliseconds: number, now?: number): void
  clear(): void
  isSet(): boolean
}

interface LastingTimerOptions {
  /** Lets the process exit although the timer is set. Default: false. */
  readonly isUnref?: boolean
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
export function createLastingTimer(clock: Clock, run: () => void, { isUnref = false }: LastingTimerOptions = {}): LastingTimer {
  let timer: unknown
  let lateAt = 0
  const isSet = (now = clock.monotonic()): boolean => timer !== undefined && now < lateAt
  const clear = (): void => {
    clock.clearTimeout(timer)
    timer = undefined
  }
  return {
    set(milliseconds, now = clock.monotonic()) {
      if (isSet(now)) return
      clear()
      lateAt = now + milliseconds + lateMs
      const set = clock.setTimeout(() => {
        if (timer === set) timer = undefined
        run()
      }, milliseconds)
      timer = isUnref ? unrefTimer(set) : set
    },
    clear,
    isSet: () => isSet(),
  }
}
