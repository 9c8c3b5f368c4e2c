import type { Clock } from '../runtime/ports.ts'
import { longestTimer } from '../runtime/timers.ts'

/** Guards a stream after its commit: ends it when nothing was heard for `idleMs` while somebody listened, or when the deadline has come. */
export interface Watch {
  /** Somebody listens from now on: a client that reads slowly is not a provider that is silent. */
  waiting(): void
  /** Something real arrived; comments and pings do not count. */
  heard(): void
  /** Somebody listens just now. */
  listening(): boolean
  /** More time has passed between the reads than in waiting for what was read: the pace is the reader's, not the provider's. */
  readSlowly(): boolean
  stop(): void
}

/** What passes between reads is nothing below this. */
const littleMs = 100

/**
 * One timer for a whole stream, re-armed only when it fires: noting a sound is an assignment, not a new timer.
 * `deadlineAt` is monotonic.
 */
export function watch(
  { clock, idleMs, deadlineAt }: { readonly clock: Clock; readonly idleMs: number; readonly deadlineAt: number },
  end: (why: 'idle' | 'deadline') => void,
): Watch {
  const since = clock.monotonic()
  let waitingSince: number | undefined
  let waitedMs = 0
  let timer: unknown
  const arm = (): void => {
    const now = clock.monotonic()
    const left = Math.min((waitingSince ?? now) + idleMs, deadlineAt) - now
    if (left <= 0) end(now >= deadlineAt ? 'deadline' : 'idle')
    else timer = clock.setTimeout(arm, Math.min(Math.ceil(left), longestTimer))
  }
  arm()
  return {
    waiting: () => {
      waitingSince = clock.monotonic()
    },
    heard: () => {
      if (waitingSince !== undefined) waitedMs += clock.monotonic() - waitingSince
      waitingSince = undefined
    },
    listening: () => waitingSince !== undefined,
    readSlowly: () => {
      const betweenMs = clock.monotonic() - since - waitedMs
      return betweenMs > littleMs && betweenMs > waitedMs
    },
    stop: () => clock.clearTimeout(timer),
  }
}
