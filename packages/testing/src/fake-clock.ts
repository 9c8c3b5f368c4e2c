import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@signalbox/core/runtime'

export interface FakeClock extends Clock {
  /** Moves time on and runs what falls due on the way, in order. What a timer wakes may set timers that fall due within the same move. */
  advance(milliseconds: number): Promise<void>
  /** Sets the wall clock forward, or back, as a correction of a real one does. Timers and the monotonic clock do not notice. */
  jump(milliseconds: number): void
  /** How many timers wait. */
  pending(): number
}

/**
 * Time that moves when told, and not otherwise.
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
    // Insertion order breaks ties, as it does for real timers.
    for (const [timer, { due, run }] of timers) if (due <= by && (!next || due < next.due)) next = { timer, due, run }
    return next
  }

  return {
    now: () => now + jumped,
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
      // A turn of the real loop lets every promise that can go on do so, before and after each timer.
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
