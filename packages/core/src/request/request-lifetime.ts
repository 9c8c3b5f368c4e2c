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
  /** Requests under way; a closing gateway ends them through this. */
  readonly running: Set<RunningRequest>
  readonly leases: Leases
  /** Absent: routing state is not shared with other processes. */
  readonly sharing?: RoutingSync | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export interface LifetimeOptions {
  readonly requestId: string
  /** Fires when the client has left. */
  readonly signal?: AbortSignal | undefined
  /** Settles the request, though nothing reads it to its end. */
  readonly leave: () => Promise<void>
  /**
   * Given a promise that resolves once the request is over: its runtime drops the work and the timers of a request that is over, or
   * whose client disconnects. So the request renews its lease by a timer of its own, too.
   */
  readonly waitUntil?: WaitUntil | undefined
  /** From the request's start. */
  readonly deadlineMs: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
}

/** Ends the waits of a request for hooks and stores before it is admitted: with its client, or at its deadline. */
export interface AdmissionWatch extends Interruption {
  /** Milliseconds from the start of the request. A later wait goes by a later value. */
  deadlineMs: number
}

/** A request among those under way. */
export interface TrackedRequest {
  /** The cancellation of the request: its client disconnects, or the gateway closes. */
  readonly cancellation: Cancellation
  readonly admissionWatch: AdmissionWatch
  /** Renews its slots and its hold from now on: it is admitted. */
  readonly startLease: (slots: readonly SlotKey[], journal: LiveJournal) => void
  /** Stops renewing, before it is settled: a slot that was given back must not be taken again. */
  readonly endLease: () => void
  /** Ends following: the request is over. */
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
      // From here on the attempts and the settlement bound their own waits.
      admissionWatch.isOn = false
      entry.slots = slots
      entry.journal = journal.write
      // Soon, since by then a provider has been called; most requests are over before.
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
