import type { Ending } from '../runtime/ending.ts'
import type { Place } from './admission/slots.ts'

/** A request under way, as leases and a closing gateway see it. */
export interface Live {
  readonly requestId: string
  readonly ending: Ending
  /** Settles it, though nothing reads it to its end. */
  leave(): Promise<void>
  /** Where it has a slot under its id, once it has been admitted. */
  places: readonly Place[]
  /** Of its hold; from the admission on. */
  journal?: () => string
  /** Monotonic milliseconds: when its hold is to be renewed. Absent: it has none yet. */
  holdDueAt?: number
}

export const endForShutdown = (live: Iterable<Live>): void => {
  for (const { ending } of live) ending.end('shut_down')
}
