import type { Cancellation } from '../runtime/cancellation.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Interruption } from '../runtime/steps.ts'
import { maxTimerMs } from '../runtime/timers.ts'
import { allFailedError } from '../upstream/error-message.ts'

/** Ends a request's waits for hooks and stores before admission, when the client disconnects or the deadline passes. */
export interface AdmissionWatch extends Interruption {
  /** Milliseconds from the start of the request. A change applies to waits that start later. */
  deadlineMs: number
}

export interface AdmissionWatchOptions {
  readonly cancellation: Cancellation
  readonly clock: Clock
  readonly deadlineMs: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
}

export function watchAdmission({ cancellation, clock, deadlineMs, startedAt }: AdmissionWatchOptions): AdmissionWatch {
  const admissionWatch: AdmissionWatch = {
    isOn: true,
    deadlineMs,
    watch(interrupt) {
      const leftMs = Math.max(0, startedAt + admissionWatch.deadlineMs - clock.monotonic())
      const timer = clock.setTimeout(() => interrupt(allFailedError([], { deadlineOver: true })), Math.min(leftMs, maxTimerMs))
      const stop = cancellation.onCancel(() => interrupt(allFailedError([{ kind: cancellation.reason ?? 'client_left', message: '' }])))
      return () => {
        clock.clearTimeout(timer)
        stop()
      }
    },
  }
  return admissionWatch
}
