import type { Cancellation } from '../runtime/cancellation.ts'
import type { SlotKey } from './admission/limits.ts'

/** A running request, as used by leases and a closing gateway. */
export interface RunningRequest {
  readonly requestId: string
  /** Undefined if the request has ended. */
  control?: RunningControl | undefined
  /** The slots taken under its id, once it has been admitted. */
  slots: readonly SlotKey[]
  /** The journal of its hold, once it has been admitted. */
  journal?: (() => string) | undefined
  /** When its hold is renewed next, in monotonic milliseconds. Undefined if it has no hold yet. */
  holdDueAt?: number
  /** Its deadline, in monotonic milliseconds. Undefined if it has no hold yet. */
  deadlineAt?: number
}

/** Ends a running request. */
interface RunningControl {
  readonly cancellation: Cancellation
  /** Settles the request even if its response is not read to the end. */
  readonly leave: () => Promise<void>
}

const noSlots: readonly SlotKey[] = []

/**
 * Removes a request and clears its entry. A set that grows leaves its old table behind, which retains the entries of that moment and all
 * that they refer to until a full garbage collection.
 */
export function removeRunning(running: Set<RunningRequest>, entry: RunningRequest): void {
  running.delete(entry)
  entry.control = undefined
  entry.journal = undefined
  entry.slots = noSlots
}

/** Milliseconds after its deadline for which a request may still drain its response and wait for the storage. */
const overdueMs = 60_000

/** Removes requests that nothing will end. Their holds are no longer renewed, and so are settled as interrupted. */
export function dropOverdue(running: Set<RunningRequest>, now: number): void {
  for (const entry of running) if (entry.deadlineAt !== undefined && now > entry.deadlineAt + overdueMs) removeRunning(running, entry)
}

/** Ends all running requests because the gateway closes. */
export const endForShutdown = (running: Iterable<RunningRequest>): void => {
  for (const { control } of running) control?.cancellation.cancel('shut_down')
}
