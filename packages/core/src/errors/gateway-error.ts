import type { Awaitable } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'
import type { ErrorBody, FailedAttempt } from '../protocol/error-body.ts'
import { codes, type ErrorCode } from './codes.ts'

/** The details of a GatewayError. */
export interface ErrorFacts {
  readonly message: string
  /** Path of the field at fault, as in `input[0].content`. */
  readonly param?: string
  /** What to try instead, as a sentence. */
  readonly suggestion?: string
  readonly provider?: string
  /** Sent as `Retry-After`, at least 1 second. */
  readonly retryAfterMs?: number
  /**
   * Whether the same request may succeed later. False is sent as `X-Should-Retry: false`, without `Retry-After`. Default: by the code
   * (`retry` in errors/codes.ts).
   */
  readonly shouldRetry?: boolean
  /** The source of the limit, sent as `X-Rate-Limit-Source`: a provider, or the gateway itself (`routing`). */
  readonly limitedBy?: 'provider' | 'routing'
  readonly attempts?: readonly FailedAttempt[]
  /** The budget that is used up: sent as `X-Budget-*`. */
  readonly budget?: BudgetFacts
  readonly cause?: unknown
}

/** The state of a budget, in microdollars. */
export interface BudgetFacts {
  readonly limit: number
  readonly used: number
  /** 0 if the budget is used up or exceeded. */
  readonly remaining: number
  /** Unix milliseconds at which the budget resets. Absent: never. */
  readonly resetsAt?: number
}

/**
 * An error that ends a request. Its status and type follow from the code (errors/codes.ts).
 *
 * @example throw new GatewayError('model_not_found', { message: 'Model "gpt-5-mni" does not exist.', param: 'model' })
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly status: number
  readonly type: string
  readonly facts: ErrorFacts

  constructor(code: ErrorCode, facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.status = codes[code].status
    this.type = codes[code].type
    this.facts = facts
  }
}

/** Whether a value is a GatewayError, including one from another copy of this package. */
export const isGatewayError = (value: unknown): value is GatewayError =>
  value instanceof Error && value.name === 'GatewayError' && 'facts' in value

/** The fields of an error response. Each client dialect puts them into its own shape. */
export const errorBody = (error: GatewayError): ErrorBody => ({
  status: error.status,
  message: error.message,
  type: error.type,
  code: error.code,
  param: error.facts.param ?? null,
  ...(error.facts.suggestion !== undefined && { suggestion: error.facts.suggestion }),
  ...(error.facts.provider !== undefined && { provider: error.facts.provider }),
  ...(error.facts.attempts && { attempts: error.facts.attempts }),
})

/**
 * The result of a store call. Returns no promise if the store returns none. If the store throws or rejects, the request ends with 503,
 * or with 500 if the fault is in our code.
 *
 * @example
 * const refusal = await orStoreDown(() => storage.counters.take(rates, at))
 */
export const orStoreDown = <T>(ask: () => Awaitable<T>): Awaitable<T> =>
  recover<T, never>(ask, error => {
    throw storeDown(error)
  })

/** The error for a failed store. Requests fail closed: without the store no key can be checked and nothing can be charged. */
export const storeDown = (cause: unknown): GatewayError =>
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
