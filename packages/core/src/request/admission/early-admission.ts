import { type Awaitable, allSettled, type Storage } from '@signalbox/storage'
import type { Caller } from '../../access/caller.ts'
import { makeEnding } from '../../runtime/ending.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { Limits } from '../../upstream/limits.ts'
import type { Live } from '../live.ts'
import { type PolicyPorts, termsFor } from '../policy/apply-policy.ts'
import type { Leases } from './leases.ts'
import { ratesOfCaller } from './rate-limits.ts'
import { leaveRooms, type Place, roomsOf, takeTogether, throwRefusals } from './slots.ts'

/**
 * A request that is admitted before its body is read: it counts against the rates of its key and workspace and has its slot.
 * The call that it is handed to takes neither again.
 */
export interface EarlyAdmission {
  readonly places: readonly Place[]
  /** The call was admitted in full: from here on it renews the slot and gives it back. */
  take(): void
  /** Gives the slot back, unless a call has taken it. May be called more than once. */
  leave(): Awaitable<unknown>
}

export interface EarlyAdmissionPorts extends Pick<PolicyPorts, 'terms'> {
  readonly storage: Pick<Storage, 'counters'>
  readonly limits: Limits
  readonly clock: Clock
  readonly live: Set<Live>
  readonly leases: Leases
}

/** Takes the rates and the slot. Throws 429 where there is none left, and gives back what was taken. */
export function* admitEarly(ports: EarlyAdmissionPorts, caller: Caller, requestId: string): Step<EarlyAdmission> {
  const { limits, clock, live, leases } = ports
  const { counters } = ports.storage
  const terms = yield* termsFor(ports, caller)
  const at = clock.now()
  const rooms = roomsOf(caller, terms, limits)
  const vacate = (): Awaitable<unknown> => allSettled(leaveRooms(rooms, requestId, counters))
  const taken = yield* takeTogether({ rates: ratesOfCaller({ caller, terms }, limits), rooms, requestId, at }, counters)
  try {
    throwRefusals({ ...taken, rooms })
  } catch (error) {
    yield* wait(vacate())
    throw error
  }
  // Until a call takes over, the slot is renewed like that of a call.
  const entry: Live = { ending: makeEnding(), requestId, places: rooms, leave: async () => {} }
  const drop = (): boolean => live.delete(entry)
  live.add(entry)
  leases.begin()
  // A gateway that closes does not wait for bodies: their calls would be refused.
  entry.ending.onEnd(drop)
  let held = true
  return {
    places: rooms,
    take: () => {
      held = false
      drop()
    },
    leave: () => {
      drop()
      if (!held) return undefined
      held = false
      return vacate()
    },
  }
}
