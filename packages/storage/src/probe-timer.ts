import { probeDelays } from './outage-policy.ts'

/** A timer that does not keep its process alive. */
export type BackgroundTimer = ReturnType<typeof setTimeout>

/** What is known of the next probe during an outage. */
export interface ProbeState {
  /** Milliseconds until it, before a random part. */
  delayMs: number
  timer: BackgroundTimer | undefined
  readonly isClosed: boolean
}

/** `setTimeout` in the background: in Node a timer keeps its process alive unless it is unreferenced; elsewhere it is a number. */
export function setBackgroundTimer(run: () => void, ms: number): BackgroundTimer {
  const timer = setTimeout(run, ms)
  if (typeof timer === 'object') timer.unref()
  return timer
}

/** Sets the timer of the next probe, and doubles the delay of the one after it. */
export function probeLater(state: ProbeState, probe: () => Promise<void>): void {
  if (state.isClosed) return
  // A random part, so that processes do not all return at the same moment.
  state.timer = setBackgroundTimer(() => void probe(), state.delayMs * (0.75 + Math.random() / 2))
  state.delayMs = Math.min(state.delayMs * 2, probeDelays.maxMs)
}
