import type { EphemeralFailure } from './ephemeral.ts'

// What happens while stores cannot be used: one row for each failure, and one for each method. No row makes a request wait. Without
// ephemeral stores no request fails; without the durable storage those fail that `withOutageGrace` does not let through.

/** What a failure means for the calls after it. */
export interface FailureRow {
  /** True: no call goes to the stores until a probe in the background succeeds. False: only the call that failed is answered otherwise. */
  readonly isOutage: boolean
}

/** The rows by failure. */
export const failureRows: Readonly<Record<EphemeralFailure, FailureRow>> = {
  unreachable: { isOutage: true },
  silent: { isOutage: true },
  refusing: { isOutage: true },
  damaged: { isOutage: false },
}

/** What a method does instead, and what follows when the stores can be used again. */
export interface OutageRow {
  /**
   * `fallback`: the counters that the option `fallback` names, or the accounts of this process. `grace`: the same until the grace is
   * over, then it fails. `later`: nothing now. `reject`: it fails at once; the router goes by what its own process has seen, as without
   * shared state, and a settlement waits in the spool.
   */
  readonly instead: 'fallback' | 'grace' | 'later' | 'reject'
  /**
   * `nothing`. `repeat`: what was counted, and slots that were taken or freed meanwhile, are so in the stores too. `lost`: other processes hear that
   * messages were lost, and drop all that they have cached of records.
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

/** The rows of a durable storage in `withOutageGrace`. Its counters have the rows above; every other method is `other`. */
export const graceRows = {
  'ledger.reserve': { instead: 'grace', afterwards: 'repeat' },
  'ledger.extend': { instead: 'fallback', afterwards: 'nothing' },
  ping: { instead: 'grace', afterwards: 'nothing' },
  other: { instead: 'reject', afterwards: 'nothing' },
} as const satisfies Readonly<Record<string, OutageRow>>

/** Milliseconds between two probes during an outage: the first, and the most. Each is twice the one before it. */
export const probeDelays = { firstMs: 100, maxMs: 1_000 } as const
/** Milliseconds without a failure after which the next outage begins with the first delay again. */
export const steadyMs = 10_000
/** Slots that are remembered during an outage. Older ones free themselves in time. */
export const maxRepeatedSlots = 20_000
