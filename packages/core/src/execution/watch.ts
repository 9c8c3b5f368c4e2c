import type { Clock } from '../runtime/ports.ts'

/** Guards a stream after its commit: ends it when nothing was heard for `idleMs`, or when the deadline has come. */
export interface Watch {
  /** Something real arrived; comments and pings do not count. */
  heard(): void
  stop(): void
}

/**
 * One timer for a whole stream, re-armed only when it fires: noting a sound is an assignment, not a new timer.
 * `deadlineAt` is monotonic.
 */
export function watch(
  { clock, idleMs, deadlineAt }: { readonly clock: Clock; readonly idleMs: number; readonly deadlineAt: number },
  end: (why: 'idle' | 'deadline') => void,
): Watch {
  let heardAt = clock.monotonic()
  let timer: unknown
  const arm = (): void => {
    const now = clock.monotonic()
    const left = Math.min(heardAt + idleMs, deadlineAt) - now
    if (left <= 0) end(now >= deadlineAt ? 'deadline' : 'idle')
    else timer = clock.setTimeout(arm, Math.min(Math.ceil(left), maxTimer))
  }
  arm()
  return {
    heard: () => {
      heardAt = clock.monotonic()
    },
    stop: () => clock.clearTimeout(timer),
  }
}

/** Timers hold 31 bits; longer waits are taken in steps. */
const maxTimer = 2 ** 31 - 1
