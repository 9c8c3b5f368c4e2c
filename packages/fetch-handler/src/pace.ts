import type { ClientLimits } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'

/** How long a client may say or take nothing, and by which clock. */
export interface Pace extends Required<ClientLimits> {
  readonly clock: Gateway['clock']
}

export interface Silence {
  /** Something was said or taken: it begins anew. */
  readonly broken: () => void
  /** It is our turn now: whatever the client does not do is no silence until `broken`. */
  readonly pause: () => void
  readonly stop: () => void
}

/** Runs `tooLong` once, after `ms` of silence. One timer, armed anew only when it has fired. */
export function watchSilence(clock: Gateway['clock'], ms: number, tooLong: () => void): Silence {
  let heardAt = clock.monotonic()
  const look = (): void => {
    const left = Math.min(ms, ms - (clock.monotonic() - heardAt))
    if (left > 0) timer = clock.setTimeout(look, Math.ceil(left))
    else tooLong()
  }
  let timer = clock.setTimeout(look, ms)
  return {
    broken: () => {
      heardAt = clock.monotonic()
    },
    pause: () => {
      heardAt = Number.POSITIVE_INFINITY
    },
    stop: () => clock.clearTimeout(timer),
  }
}
