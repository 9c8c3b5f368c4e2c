import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import type { Interruption } from '../runtime/steps.ts'
import { maxTimerMs } from '../runtime/timers.ts'
import { handOver, type WaitUntil } from '../runtime/wait-until.ts'
import { allFailed } from '../upstream/error-message.ts'
import type { LiveJournal } from './admission/journal.ts'
import { type Leases, leaseMs } from './admission/leases.ts'
import type { SlotKey } from './admission/slots.ts'
import type { RoutingSync } from './routing-sync/routing-sync.ts'
import { type RunningRequest, removeRunning } from './running-requests.ts'

export interface LifetimePorts {
  /** Running requests. A closing gateway ends them through this set. */
  readonly running: Set<RunningRequest>
  readonly leases: Leases
  /** Undefined if routing state is not shared with other processes. */
  readonly sharing?: RoutingSync | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export interface LifetimeOptions {
  readonly requestId: string
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined
  /** Settles the request even if its response is not read to the end. */
  readonly leave: () => Promise<void>
  /**
   * Called with a promise that resolves once the request has ended. Such a runtime drops the work and timers of a request that has ended
   * or whose client disconnected, so the request also renews its lease with its own timer.
   */
  readonly waitUntil?: WaitUntil | undefined
  /** Milliseconds from the start of the request. */
  readonly deadlineMs: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
}

/** Ends a request's waits for hooks and stores before admission, when the client disconnects or the deadline passes. */
export interface AdmissionWatch extends Interruption {
  /** Milliseconds from the start of the request. A change applies to waits that start later. */
  deadlineMs: number
}

/** A running request. */
export interface TrackedRequest {
  /** Cancelled when the client disconnects or the gateway closes. */
  readonly cancellation: Cancellation
  readonly admissionWatch: AdmissionWatch
  /** Starts renewing the slots and the hold, after admission. */
  readonly startLease: (slots: readonly SlotKey[], journal: LiveJournal) => void
  /** Stops renewing, before settlement, so that a released slot is not taken again. */
  readonly endLease: () => void
  /** Ends tracking when the request has ended. */
  readonly release: () => void
}

export function trackRequest(ports: LifetimePorts, options: LifetimeOptions): TrackedRequest {
  const { running, leases, sharing, clock, logger } = ports
  const { requestId, signal, leave, deadlineMs, startedAt, waitUntil } = options
  const cancellation = createCancellation()
  const end = (): void => cancellation.cancel('client_left')
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  const entry: RunningRequest = { requestId, control: { cancellation, leave }, slots: [] }
  running.add(entry)
  let over: (() => void) | undefined
  if (waitUntil) {
    const life = new Promise<void>(resolve => (over = resolve))
    handOver(waitUntil, life, { requestId, logger })
  }
  let timer: unknown
  const renew = (): void => {
    leases.renewDue()
    timer = clock.setTimeout(renew, leaseMs)
  }
  const admissionWatch = watchAdmission({ cancellation, clock, deadlineMs, startedAt })
  return {
    cancellation,
    admissionWatch,
    startLease(slots, journal) {
      // From here on, the attempts and the settlement limit their own waits.
      admissionWatch.isOn = false
      entry.slots = slots
      entry.journal = journal.write
      // The first renewal is early, because a provider has been called by then. Most requests end before it.
      const now = clock.monotonic()
      entry.holdDueAt = now + 1
      entry.deadlineAt = startedAt + admissionWatch.deadlineMs
      leases.begin(now)
      if (waitUntil) timer = clock.setTimeout(renew, leaseMs)
      sharing?.resume()
    },
    endLease() {
      entry.slots = []
    },
    release() {
      if (timer !== undefined) clock.clearTimeout(timer)
      over?.()
      removeRunning(running, entry)
      if (running.size === 0) sharing?.pause()
      signal?.removeEventListener('abort', end)
    },
  }
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
      const timer = clock.setTimeout(() => interrupt(allFailed([], { deadlineOver: true })), Math.min(leftMs, maxTimerMs))
      const stop = cancellation.onCancel(() => interrupt(allFailed([{ kind: cancellation.reason ?? 'client_left', message: '' }])))
      return () => {
        clock.clearTimeout(timer)
        stop()
      }
    },
  }
  return admissionWatch
}
