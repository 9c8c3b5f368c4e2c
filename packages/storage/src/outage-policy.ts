import type { EphemeralFailure } from './ephemeral.ts'

// What happens while stores are unavailable: one row per failure, and one per method. No row makes a request wait. Without ephemeral stores
// no request fails; without the durable storage, all requests fail that `withOutageGrace` does not admit.

/** What a failure means for later calls. */
export interface FailureRow {
  /** True: no call goes to the stores until a background probe succeeds. False: only the failed call gets a substitute. */
  readonly isOutage: boolean
}

/** The rows by failure. */
export const failureRows: Readonly<Record<EphemeralFailure, FailureRow>> = {
  unreachable: { isOutage: true },
  silent: { isOutage: true },
  refusing: { isOutage: true },
  damaged: { isOutage: false },
}

/** What a method does during an outage, and what follows afterwards. */
export interface OutageRow {
  /**
   * `fallback`: uses the counters of the option `fallback`, or the accounts of this process. `grace`: the same until the grace is over,
   * then fails. `later`: does nothing now. `reject`: fails at once; the router then uses the observations of its own process, and a
   * settlement waits in the spool.
   */
  readonly instead: 'fallback' | 'grace' | 'later' | 'reject'
  /**
   * `nothing`. `repeat`: counts, and slots taken or freed meanwhile, are applied to the stores. `lost`: other processes are informed that
   * messages were lost, and drop all cached records.
   */
  readonly afterwards: 'nothing' | 'repeat' | 'lost'
}

/** The rows by method. */
export const outageRows = {
  'counters.take': { instead: 'fallback', afterwards: 'repeat' },
  'counters.add': { instead: 'fallback', afterwards: 'repeat' },
  'counters.enter': { instead: 'fallback', afterwards: 'repeat' },
  'counters.leave': { instead: 'later', afterwards: 'repeat' },
  'routing.publish': { instead: 'reject', afterwards: 'nothing' },
  'routing.pause': { instead: 'reject', afterwards: 'nothing' },
  'routing.news': { instead: 'reject', afterwards: 'nothing' },
  'routing.remember': { instead: 'reject', afterwards: 'nothing' },
  'routing.readers': { instead: 'reject', afterwards: 'nothing' },
  'changes.publish': { instead: 'later', afterwards: 'lost' },
} as const satisfies Readonly<Record<string, OutageRow>>

/** The rows of a durable storage in `withOutageGrace`. Its counters use the rows above; every other method is `other`. */
export const graceRows = {
  'ledger.reserve': { instead: 'grace', afterwards: 'repeat' },
  'ledger.extend': { instead: 'fallback', afterwards: 'nothing' },
  ping: { instead: 'grace', afterwards: 'nothing' },
  other: { instead: 'reject', afterwards: 'nothing' },
} as const satisfies Readonly<Record<string, OutageRow>>

/** Milliseconds between two probes during an outage: first and maximum. Each is twice the previous one. */
export const probeDelays = { firstMs: 100, maxMs: 1_000 } as const
/** Milliseconds without a failure after which the next outage starts with the first delay again. */
export const steadyMs = 10_000
/** Slots remembered during an outage. Older ones expire. */
export const maxRepeatedSlots = 20_000
