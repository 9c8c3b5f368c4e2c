import { tuning } from './constants.ts'

// Who fails again and again is left alone for a while, and for longer each time; then one call at a time shows whether it is back.

const { failuresToOpen, failuresToOpenDoubted, firstPauseMs, pauseGrowth, maxPauseMs, successesToClose } = tuning.breaker

export interface Breaker {
  /** Failures in a row. */
  streak: number
  /** Monotonic milliseconds until which nobody asks; 0: closed. */
  openUntil: number
  /** How often it opened in a row. */
  times: number
  /** Good answers since it may be asked again. */
  good: number
  /** A call that shows whether it is back is under way. */
  trying: boolean
}

export const makeBreaker = (): Breaker => ({ streak: 0, openUntil: 0, times: 0, good: 0, trying: false })

export const isClosed = ({ openUntil }: Breaker): boolean => openUntil === 0

/** Milliseconds until it may be asked: 0 also where the one call that shows whether it is back may go out. */
export const restOf = ({ openUntil, trying }: Breaker, now: number): number => {
  if (openUntil === 0) return 0
  if (now < openUntil) return openUntil - now
  return trying ? firstPauseMs : 0
}

export function tried(breaker: Breaker): void {
  if (breaker.openUntil > 0) breaker.trying = true
}

export function worked(breaker: Breaker): void {
  breaker.streak = 0
  breaker.trying = false
  if (breaker.openUntil === 0) return
  breaker.good += 1
  if (breaker.good < successesToClose) return
  breaker.openUntil = 0
  breaker.good = 0
  breaker.times = 0
}

/** `failing`: the share of calls that is believed to fail. */
export function broke(breaker: Breaker, now: number, { failing, chance }: { readonly failing: number; readonly chance: number }): void {
  breaker.streak += 1
  breaker.good = 0
  breaker.trying = false
  const again = breaker.openUntil > 0
  if (again && now < breaker.openUntil) return
  if (!again && breaker.streak < (failing > 0.5 ? failuresToOpenDoubted : failuresToOpen)) return
  const lasts = Math.min(maxPauseMs, firstPauseMs * pauseGrowth ** Math.min(breaker.times, 20)) * (0.8 + 0.4 * chance)
  breaker.openUntil = now + lasts
  breaker.times += 1
}

/** Nobody learned what the call would have shown. */
export function untried(breaker: Breaker): void {
  breaker.trying = false
}
