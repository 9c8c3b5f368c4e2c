import type { Awaitable } from './awaitable.ts'

/**
 * What each method does while its stores are unavailable. No row makes a request wait. Without ephemeral stores no request fails; without
 * the durable storage, all requests fail that `withOutageGrace` does not admit.
 *
 * - `fallback`: uses the counters of the option `fallback`, or the accounts of this process.
 * - `grace`: the same until the grace is over, then fails.
 * - `later`: does nothing. Afterwards, slots are freed, and other processes are informed that messages were lost.
 * - `reject`: fails at once. The router uses the observations of its own process, and a settlement waits in the spool.
 */
export const outagePolicy = {
  'counters.take': 'fallback',
  'counters.add': 'fallback',
  'counters.enter': 'fallback',
  'counters.leave': 'later',
  'changes.publish': 'later',
  routing: 'reject',
  'ledger.reserve': 'grace',
  'ledger.extend': 'fallback',
  ping: 'grace',
  other: 'reject',
} as const satisfies Readonly<Record<string, 'fallback' | 'grace' | 'later' | 'reject'>>

/** A circuit breaker that applies the policy. */
export interface OutageGuard {
  /** Runs a call of a method, or during an outage `instead` if the policy has one, without waiting. */
  run<T>(method: keyof typeof outagePolicy, call: () => Awaitable<T>, instead: () => Awaitable<T>): Awaitable<T>
}

/** Logger for outages. Takes facts first, like pino. */
export interface OutageLogger {
  info(facts: Readonly<Record<string, unknown>>, message: string): void
  warn(facts: Readonly<Record<string, unknown>>, message: string): void
}

/** The default logger: warnings go to the console. */
export const consoleLog: OutageLogger = {
  info: () => {},
  // biome-ignore lint/suspicious/noConsole: the default of an option, as in the gateway itself
  warn: (facts, message) => console.warn(message, facts),
}
