import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@signalbox/core/runtime'

export interface FakeClock extends Clock {
  /** Advances time and runs the timers that fall due, in order. They may set further timers that fall due within the same call. */
  advance(milliseconds: number): Promise<void>
  /** Sets the wall clock forward or back, like a correction of a real one. Timers and the monotonic clock are unaffected. */
  jump(milliseconds: number): void
  /** Number of pending timers. */
  pending(): number
}

/**
 * A clock whose time only changes by `advance`. After part of a millisecond `now` is still whole, as `Date.now` is, and `monotonic` is not.
 *
 * @example
 * const clock = fakeClock()
 * const gateway = createGateway({ ...options, clock })
 * await clock.advance(120_000)
 */
export function fakeClock(options: { readonly now?: number } = {}): FakeClock {
  const start = options.now ?? Date.UTC(2026, 0, 1)
  const timers = new Map<object, { readonly due: number; readonly run: () => void }>()
  let now = start
  let jumped = 0

  const nextDue = (by: number) => {
    let next: { readonly timer: object; readonly due: number; readonly run: () => void } | undefined
    // Insertion order breaks ties, as for real timers.
    for (const [timer, { due, run }] of timers) if (due <= by && (!next || due < next.due)) next = { timer, due, run }
    return next
  }

  return {
    now: () => Math.floor(now + jumped),
    monotonic: () => now - start,
    setTimeout(run, milliseconds) {
      const timer = {}
      timers.set(timer, { due: now + Math.max(0, milliseconds), run })
      return timer
    },
    clearTimeout(timer) {
      if (typeof timer === 'object' && timer !== null) timers.delete(timer)
    },
    async advance(milliseconds) {
      const end = now + milliseconds
      // A turn of the real event loop lets all pending promises continue, before and after each timer.
      await setImmediate()
      for (let next = nextDue(end); next; next = nextDue(end)) {
        timers.delete(next.timer)
        now = Math.max(now, next.due)
        next.run()
        await setImmediate()
      }
      now = Math.max(now, end)
    },
    jump(milliseconds) {
      jumped += milliseconds
    },
    pending: () => timers.size,
  }
}
