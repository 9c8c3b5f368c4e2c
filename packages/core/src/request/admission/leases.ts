import type { CounterStore, LedgerStore } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'
import type { Clock, Logger } from '../../runtime/ports.ts'
import { createSingleRun } from '../../runtime/single-run.ts'
import { unrefTimer, withinStorageWait } from '../../runtime/timers.ts'
import type { RunningRequest } from '../running-requests.ts'
import { type SlotKey, slotMs } from './limits.ts'

/** Renews the slots and holds of running requests. A slot or hold that is not renewed belongs to a process that has ended. */
export interface Leases {
  /** Called when a request was admitted, at `now` (monotonic milliseconds). Renews until no request is running. */
  begin(now: number): void
  /** Renews slots and holds that are due. For requests with their own timer, since a shared timer may be dropped with its request. */
  renewDue(): void
}

export interface LeasePorts {
  readonly running: ReadonlySet<RunningRequest>
  readonly counters: CounterStore
  readonly ledger: Pick<LedgerStore, 'renew'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Milliseconds between two renewals of a hold. */
export const leaseMs = 10_000

/** Lease intervals in milliseconds. */
const leaseTimes = {
  /** Interval between two checks for due renewals. */
  tickMs: 2_000,
  /** A timer of `tickMs` that has not fired after this time counts as dropped. */
  lateMs: 4_000,
  slotMs: slotMs / 3,
  holdMs: leaseMs,
  /** A renewal that takes longer counts as dropped with the request whose timer started it. */
  maxRenewalMs: 12_000,
} as const

/** Holds renewed in one step of the store. */
const batchSize = 200

/** Creates the renewal of holds and slots of running requests. */
export function createLeases({ running, counters, ledger, clock, logger }: LeasePorts): Leases {
  let timer: unknown
  let lateAt = 0
  let slotsDueAt = 0
  const renewals = createSingleRun(clock, leaseTimes.maxRenewalMs)

  // Ignores the limit: a running request keeps its slot, even if a clock that was set forward gave it to another request.
  const enterAgain = (slot: SlotKey & { readonly slot: string }, at: number): void =>
    void recover(
      () => counters.enter({ ...slot, limit: Number.MAX_SAFE_INTEGER, ttlMs: slotMs }, at),
      error => logger.warn({ requestId: slot.slot, error: String(error) }, 'The concurrency slot of a request could not be renewed.'),
    )
  const renewSlots = (): void => {
    const at = clock.now()
    for (const { requestId, slots } of running) for (const place of slots) enterAgain({ ...place, slot: requestId }, at)
  }
  const renewHolds = async (): Promise<void> => {
    const now = clock.monotonic()
    const due = [...running].filter(({ holdDueAt }) => holdDueAt !== undefined && holdDueAt <= now)
    for (let from = 0; from < due.length; from += batchSize) {
      const batch = due.slice(from, from + batchSize)
      const renewals = batch.map(({ requestId, journal }) => ({ id: requestId, journal }))
      await withinStorageWait(ledger.renew(renewals), clock)
      for (const each of batch) each.holdDueAt = now + leaseTimes.holdMs
    }
  }
  // Not cleared when requests end: most end long before it fires, and the next request needs it again.
  const setTimer = (now: number): void => {
    clock.clearTimeout(timer)
    lateAt = now + leaseTimes.lateMs
    timer = unrefTimer(clock.setTimeout(tick, leaseTimes.tickMs))
  }
  const tick = (): void => {
    timer = undefined
    if (running.size === 0) return
    setTimer(clock.monotonic())
    renewDue()
  }
  const renewDue = (): void => {
    const now = clock.monotonic()
    void renewals.begin(() =>
      renewHolds().catch((error: unknown) => logger.warn({ error: String(error) }, 'The holds of running requests could not be renewed.')),
    )
    if (now < slotsDueAt) return
    slotsDueAt = now + leaseTimes.slotMs
    renewSlots()
  }
  return {
    renewDue,
    begin(now) {
      if (timer === undefined) slotsDueAt = now + leaseTimes.slotMs
      // Workers drop the timers of a request when it ends, so a late timer will never fire.
      else if (now < lateAt) return
      setTimer(now)
    },
  }
}
