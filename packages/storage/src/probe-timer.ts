import { probeDelays } from './outage-policy.ts'

/** A timer that does not keep its process alive. */
export type BackgroundTimer = ReturnType<typeof setTimeout>

/** The state of the next probe during an outage. */
export interface ProbeState {
  /** Milliseconds until the next probe, before jitter. */
  delayMs: number
  timer: BackgroundTimer | undefined
  readonly isClosed: boolean
}

/** `setTimeout` that does not keep a Node process alive. In other runtimes a timer is a number. */
export function setBackgroundTimer(run: () => void, ms: number): BackgroundTimer {
  const timer = setTimeout(run, ms)
  if (typeof timer === 'object') timer.unref()
  return timer
}

/** Schedules the next probe, and doubles the delay of the one after it. */
export function probeLater(state: ProbeState, probe: () => Promise<void>): void {
  if (state.isClosed) return
  // Jitter, so that processes do not all return at the same moment.
  state.timer = setBackgroundTimer(() => void probe(), state.delayMs * (0.75 + Math.random() / 2))
  state.delayMs = Math.min(state.delayMs * 2, probeDelays.maxMs)
}
