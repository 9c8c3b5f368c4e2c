import type { ClientLimits } from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'

/** The limits on slow clients, and the clock that measures them. */
export interface ClientPace extends Required<ClientLimits> {
  readonly clock: Gateway['clock']
}

/** A timeout that activity postpones. */
export interface IdleTimer {
  /** Restarts the timeout, after activity or a pause. */
  readonly reset: () => void
  /** Suspends the timeout until the next `reset`, while something other than the client is awaited. */
  readonly pause: () => void
  readonly stop: () => void
}

/** Calls `onIdle` once, `ms` after the last activity. A single timer serves all resets: it is re-armed only when it fires. */
export function startIdleTimer(clock: Gateway['clock'], ms: number, onIdle: () => void): IdleTimer {
  let activeAt = clock.monotonic()
  const check = (): void => {
    const left = Math.min(ms, ms - (clock.monotonic() - activeAt))
    if (left > 0) timer = clock.setTimeout(check, Math.ceil(left))
    else onIdle()
  }
  let timer = clock.setTimeout(check, ms)
  return {
    reset: () => {
      activeAt = clock.monotonic()
    },
    pause: () => {
      activeAt = Number.POSITIVE_INFINITY
    },
    stop: () => clock.clearTimeout(timer),
  }
}
