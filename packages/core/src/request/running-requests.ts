import type { Cancellation } from '../runtime/cancellation.ts'
import type { SlotKey } from './admission/slots.ts'

/** A request under way, as leases and a closing gateway see it. */
export interface RunningRequest {
  readonly requestId: string
  /** Absent: the request is over, or only its body is being read. */
  control?: RunningControl | undefined
  /** Where it has a slot under its id, once it has been admitted. */
  slots: readonly SlotKey[]
  /** Of its hold; from the admission on. */
  journal?: (() => string) | undefined
  /** Monotonic milliseconds: when its hold is to be renewed. Absent: it has none yet. */
  holdDueAt?: number
  /** Monotonic milliseconds: its deadline. Absent: it has no hold yet. */
  deadlineAt?: number
}

/** How a request under way is ended. */
interface RunningControl {
  readonly cancellation: Cancellation
  /** Settles it, though nothing reads it to its end. */
  readonly leave: () => Promise<void>
}

const noSlots: readonly SlotKey[] = []

/**
 * Takes a request out, and empties its entry: a set that makes room for new entries leaves its former table behind, which keeps
 * the entries of that moment, and all that they refer to, until a full collection.
 */
export function removeRunning(running: Set<RunningRequest>, entry: RunningRequest): void {
  running.delete(entry)
  entry.control = undefined
  entry.journal = undefined
  entry.slots = noSlots
}

/** How long after its deadline a request may still drain its answer and wait for the storage, in milliseconds. */
const overdueMs = 60_000

/** Takes out requests that nothing ends any more: their holds are not renewed from then on, and are settled as interrupted. */
export function dropOverdue(running: Set<RunningRequest>, now: number): void {
  for (const entry of running) if (entry.deadlineAt !== undefined && now > entry.deadlineAt + overdueMs) removeRunning(running, entry)
}

export const endForShutdown = (running: Iterable<RunningRequest>): void => {
  for (const { control } of running) control?.cancellation.cancel('shut_down')
}
