import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import type { Interruption } from '../runtime/steps.ts'
import { maxTimerMs } from '../runtime/timers.ts'
import { handOver, type WaitUntil } from '../runtime/wait-until.ts'
import { allFailed } from '../upstream/error-message.ts'
import type { LiveJournal } from './admission/journal.ts'
import { type Leases, leaseMs } from './admission/leases.ts'
import type { SlotKey } from './admission/limits.ts'
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
  readonly ports: LifetimePorts
  readonly options: LifetimeOptions
  /** Cancelled when the client disconnects or the gateway closes. */
  readonly cancellation: Cancellation
  /** Undefined after admission: from then on, the attempts and the settlement limit their own waits. */
  admissionWatch: AdmissionWatch | undefined
  readonly entry: RunningRequest
  readonly onAbort: () => void
  /** Resolves the promise that was passed to `waitUntil`. */
  onOver: (() => void) | undefined
  /** The timer of the request's own renewals. */
  timer: unknown
}

export function trackRequest(ports: LifetimePorts, options: LifetimeOptions): TrackedRequest {
  const { running, clock, logger } = ports
  const { requestId, signal, leave, deadlineMs, startedAt, waitUntil } = options
  const cancellation = createCancellation()
  const tracked: TrackedRequest = {
    ports,
    options,
    cancellation,
    admissionWatch: watchAdmission({ cancellation, clock, deadlineMs, startedAt }),
    entry: { requestId, control: { cancellation, leave }, slots: [] },
    onAbort: () => cancellation.cancel('client_left'),
    onOver: undefined,
    timer: undefined,
  }
  if (signal?.aborted) tracked.onAbort()
  else signal?.addEventListener('abort', tracked.onAbort, { once: true })
  running.add(tracked.entry)
  if (waitUntil) handOver(waitUntil, untilOver(tracked), { requestId, logger })
  return tracked
}

const untilOver = (tracked: TrackedRequest): Promise<void> =>
  new Promise(resolve => {
    tracked.onOver = resolve
  })

/** Starts renewing the slots and the hold, after admission. */
export function startLease(tracked: TrackedRequest, slots: readonly SlotKey[], journal: LiveJournal): void {
  const { ports, options, entry, admissionWatch } = tracked
  const { deadlineMs } = admissionWatch ?? options
  if (admissionWatch) admissionWatch.isOn = false
  tracked.admissionWatch = undefined
  entry.slots = slots
  entry.journal = journal.write
  // The first renewal is early, because a provider has been called by then. Most requests end before it.
  const now = ports.clock.monotonic()
  entry.holdDueAt = now + 1
  entry.deadlineAt = options.startedAt + deadlineMs
  ports.leases.begin(now)
  if (options.waitUntil) renewLater(tracked)
  ports.sharing?.resume()
}

function renewLater(tracked: TrackedRequest): void {
  const { leases, clock } = tracked.ports
  tracked.timer = clock.setTimeout(() => {
    leases.renewDue()
    renewLater(tracked)
  }, leaseMs)
}

/** Stops renewing, before settlement, so that a released slot is not taken again. */
export function endLease({ entry }: TrackedRequest): void {
  entry.slots = []
}

/** Ends tracking when the request has ended. */
export function releaseRequest({ ports, options, entry, onAbort, onOver, timer }: TrackedRequest): void {
  const { running, sharing, clock } = ports
  if (timer !== undefined) clock.clearTimeout(timer)
  onOver?.()
  removeRunning(running, entry)
  if (running.size === 0) sharing?.pause()
  options.signal?.removeEventListener('abort', onAbort)
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
