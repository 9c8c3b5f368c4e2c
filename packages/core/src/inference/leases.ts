import type { CounterStore } from '@signalbox/storage'
import type { Clock, Logger } from '../runtime/ports.ts'
import type { Live } from './infer.ts'
import { type Place, slotMs } from './slots.ts'

/** Renews the slots of requests under way, so that a slot can be short and a crash frees it soon. */
export interface Leases {
  /** A request was admitted. */
  begin(): void
  /** None is left. */
  end(): void
}

export interface Leasing {
  readonly live: ReadonlySet<Live>
  readonly counters: CounterStore
  readonly clock: Clock
  readonly logger: Logger
}

const renewMs = slotMs / 3

export function keepLeases({ live, counters, clock, logger }: Leasing): Leases {
  let timer: unknown
  // Whatever the limit: a request that runs keeps its slot, also where a clock that was set forward had freed it for another one.
  const again = (slot: Place & { readonly slot: string }, at: number): void =>
    void counters
      .enter({ ...slot, limit: Number.MAX_SAFE_INTEGER, ttlMs: slotMs }, at)
      .catch((error: unknown) => logger.warn({ requestId: slot.slot, error: String(error) }, 'The slot of a request could not be renewed.'))
  const renew = (): void => {
    timer = clock.setTimeout(renew, renewMs)
    const at = clock.now()
    for (const { requestId, places } of live) for (const place of places) again({ ...place, slot: requestId }, at)
  }
  return {
    begin: () => {
      timer ??= clock.setTimeout(renew, renewMs)
    },
    end: () => {
      clock.clearTimeout(timer)
      timer = undefined
    },
  }
}
