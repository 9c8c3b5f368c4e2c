import { allSettled } from '@signalbox/storage'
import type { Caller } from '../access/caller.ts'
import type { Terms } from '../access/terms.ts'
import { storeDown } from '../errors/gateway-error.ts'
import { makeEnding } from '../runtime/ending.ts'
import type { Engine, Live } from './infer.ts'
import { ratesOfCaller, take } from './rates.ts'
import { type Place, roomsOf, slotMs } from './slots.ts'

/**
 * A request that is admitted before its body is read: it counts against the rates of its key and workspace and has its slot.
 * The call that it is handed to takes neither again.
 */
export interface EarlyAdmission {
  readonly places: readonly Place[]
  /** The call was admitted in full: from here on it renews the slot and gives it back. */
  take(): void
  /** Gives the slot back, unless a call has taken it. May be called more than once. */
  leave(): Promise<void>
}

type Admitting = Pick<Engine, 'storage' | 'limits' | 'clock' | 'live' | 'leases'>

/** Takes the rates and the slot. Throws 429 where there is none left, and gives back what was taken. */
export async function admitEarly(
  { storage: { counters }, limits, clock, live, leases }: Admitting,
  { caller, terms, requestId }: { readonly caller: Caller; readonly terms: Terms; readonly requestId: string },
): Promise<EarlyAdmission> {
  const at = clock.now()
  const rooms = roomsOf(caller, terms, limits)
  const vacate = async (): Promise<void> =>
    void (await allSettled(
      rooms.map(
        ({ key }) =>
          () =>
            counters.leave(key, requestId),
      ),
    ))
  const counting = take(ratesOfCaller({ caller, terms }, limits), counters, at)
  const entering = rooms.map(
    ({ key, limit }) =>
      () =>
        counters.enter({ key, slot: requestId, limit, ttlMs: slotMs }, at),
  )
  const [[counted], entered] = await Promise.all([Promise.allSettled([counting]), allSettled(entering)])
  const full = entered.findIndex(room => room.status === 'rejected' || !room.value)
  if (full >= 0 || counted?.status === 'rejected') {
    await vacate()
    const room = entered[full]
    if (room?.status === 'rejected') throw storeDown(room.reason)
    throw room ? rooms[full]?.full() : counted?.status === 'rejected' && counted.reason
  }
  // Until a call takes over, the slot is renewed like that of a call.
  const entry: Live = { ending: makeEnding(), requestId, places: rooms, leave: async () => {} }
  const drop = (): boolean => {
    const waited = live.delete(entry)
    if (waited && live.size === 0) leases.end()
    return waited
  }
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
    leave: async () => {
      drop()
      if (!held) return
      held = false
      await vacate()
    },
  }
}
