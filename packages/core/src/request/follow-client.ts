import { type Ending, makeEnding } from '../runtime/ending.ts'
import type { Clock } from '../runtime/ports.ts'
import type { GrowingJournal } from './admission/journal.ts'
import type { Leases } from './admission/leases.ts'
import type { Place } from './admission/slots.ts'
import type { Live } from './live.ts'
import type { Sharing } from './routing-sync/sharing.ts'

export interface FollowPorts {
  /** Requests under way; a closing gateway ends them through this. */
  readonly live: Set<Live>
  readonly leases: Leases
  /** Absent: what is learned is told to no other process. */
  readonly sharing?: Sharing | undefined
  readonly clock: Clock
}

export interface FollowOptions {
  readonly requestId: string
  /** Fires when the client has left. */
  readonly signal?: AbortSignal | undefined
  /** Settles the request, though nothing reads it to its end. */
  readonly leave: () => Promise<void>
}

/** A request among those under way. */
export interface Following {
  /** The one ending of the request: its client leaves, or a closing gateway waits no longer. */
  readonly ending: Ending
  /** It is admitted: its slots and its hold are renewed from now on. */
  readonly lease: (places: readonly Place[], journal: GrowingJournal) => void
  /** Before it is settled: a slot that was given back must not be renewed in between. */
  readonly unlease: () => void
  /** It is over. */
  readonly release: () => void
}

export function followClient({ live, leases, sharing, clock }: FollowPorts, { requestId, signal, leave }: FollowOptions): Following {
  const ending = makeEnding()
  const end = (): void => ending.end('client_left')
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  const entry: Live = { ending, requestId, places: [], leave }
  live.add(entry)
  return {
    ending,
    lease(places, journal) {
      entry.places = places
      entry.journal = journal.write
      // Soon, since by then a provider has been called; most requests are over before.
      entry.holdDueAt = clock.monotonic() + 1
      leases.begin()
      sharing?.begin()
    },
    unlease() {
      entry.places = []
    },
    release() {
      live.delete(entry)
      if (live.size === 0) sharing?.end()
      signal?.removeEventListener('abort', end)
    },
  }
}
