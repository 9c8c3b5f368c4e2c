import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import pTimeout from 'p-timeout'
import type { Clock } from './ports.ts'

/** The timers of a clock, for p-timeout. Cast, because p-timeout types them as the runtime's own timers. */
export const timersOf = (clock: Clock) =>
  ({
    setTimeout: (run: () => void, milliseconds: number) => clock.setTimeout(run, milliseconds),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  }) as never

/** Resolves when the work finishes or the time is over, because a hook or store may hang. Rejects if the work rejects. */
export const waitAtMost = (milliseconds: number, work: Awaitable<unknown>, clock: Clock): Promise<unknown> =>
  pTimeout(Promise.resolve(work), { milliseconds, fallback: () => undefined, customTimers: timersOf(clock) })

/** Maximum wait for one storage call, in milliseconds. */
export const storageWaitMs = 10_000

/** The result of a storage call. Rejects if it takes longer than `storageWaitMs`; a later result is ignored. */
export const withinStorageWait = <T>(result: Awaitable<T>, clock: Clock): Awaitable<T> =>
  isPromise(result)
    ? pTimeout(Promise.resolve(result), { milliseconds: storageWaitMs, message: storageSilent(), customTimers: timersOf(clock) })
    : result

/** The error of a storage call that timed out. */
export const storageSilent = (): Error => new Error(`The storage did not answer within ${storageWaitMs / 1_000} s.`)

/** The longest timer delay, in milliseconds (31 bits). */
export const maxTimerMs = 2 ** 31 - 1

/** Lets the process exit although the timer is set, on runtimes that support it. */
export function unrefTimer(timer: unknown): unknown {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref()
  return timer
}

/** Resolves after the given milliseconds. */
export const sleep = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise(resolve => void clock.setTimeout(resolve, milliseconds))
