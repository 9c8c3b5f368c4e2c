import { GatewayError } from '@signalbox/dialects/errors'
import type { Awaitable } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'

/**
 * The result of a store call. Returns no promise if the store returns none. If the store throws or rejects, the request ends with 503,
 * or with 500 if the fault is in our code.
 *
 * @example
 * const refusal = await orStoreDown(() => storage.counters.take(rates, at))
 * @throws {GatewayError} 503, or 500 if the fault is in our code.
 */
export const orStoreDown = <T>(ask: () => Awaitable<T>): Awaitable<T> =>
  recover<T, never>(ask, error => {
    throw storeDownError(error)
  })

/** The error for a failed store. Requests fail closed: without the store no key can be checked and nothing can be charged. */
export const storeDownError = (cause: unknown): GatewayError =>
  isOurFault(cause)
    ? new GatewayError('internal_error', { message: 'Internal error.', cause })
    : new GatewayError('service_unavailable', {
        message: 'The storage of the gateway is unavailable. Try again in a moment.',
        retryAfterMs: 1_000,
        cause,
      })

/** Errors that a store throws for an impossible argument, or because of a bug in our code. */
const ourFaults: ReadonlySet<string> = new Set(['RangeError', 'TypeError', 'ReferenceError', 'SyntaxError'])

/**
 * Compared by name, because an error may come from another realm. Stores that use `fetch` report a lost connection as a TypeError too,
 * recognizable by its message or its cause.
 */
const isOurFault = (cause: unknown): boolean =>
  cause instanceof Error &&
  ourFaults.has(cause.name) &&
  !(cause.name === 'TypeError' && (cause.cause !== undefined || /fetch|network|load failed/i.test(cause.message)))
