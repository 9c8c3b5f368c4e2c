import { type Awaitable, recover } from '@signalbox/storage'
import type { ErrorBody, FailedAttempt } from '../protocol/error-body.ts'
import { codes, type ErrorCode } from './codes.ts'

export interface ErrorFacts {
  readonly message: string
  /** Path of the field at fault, as in `input[0].content`. */
  readonly param?: string
  /** What to try instead, in words. */
  readonly suggestion?: string
  readonly provider?: string
  /** Sent as `Retry-After`, at least 1 second. */
  readonly retryAfterMs?: number
  /** False: the same request can never succeed. Sent as `X-Should-Retry: false`, without `Retry-After`. */
  readonly shouldRetry?: false
  /** Who limits: sent as `X-Rate-Limit-Source`. */
  readonly limitedBy?: 'provider' | 'routing'
  readonly attempts?: readonly FailedAttempt[]
  /** The budget that is used up: sent as `X-Budget-*`. */
  readonly budget?: BudgetFacts
  readonly cause?: unknown
}

/** Where a budget stands. Microdollars. */
export interface BudgetFacts {
  readonly limit: number
  readonly used: number
  /** 0 where it is used up, and past it. */
  readonly remaining: number
  /** Unix milliseconds. Absent: it never begins anew. */
  readonly resetsAt?: number
}

/**
 * Ends a request. Status and type follow from the code (errors/codes.ts).
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

/** Also true for a GatewayError of another copy of this package. */
export const isGatewayError = (value: unknown): value is GatewayError =>
  value instanceof Error && value.name === 'GatewayError' && 'facts' in value

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
 * What a store answers, at once where the store does. Where it cannot, the request ends with 503, or with 500 where the fault is ours,
 * whether the store threw or its promise rejected.
 *
 * @example
 * const refusal = await orStoreDown(() => storage.counters.take(rates, at))
 */
export const orStoreDown = <T>(ask: () => Awaitable<T>): Awaitable<T> =>
  recover<T, never>(ask, error => {
    throw storeDown(error)
  })

/** Fail closed, and say that it may pass: without the store nobody can be told apart, nor anything paid for. */
export const storeDown = (cause: unknown): GatewayError =>
  isOurFault(cause)
    ? new GatewayError('internal_error', { message: 'Something went wrong on our side.', cause })
    : new GatewayError('service_unavailable', {
        message: 'The storage of the gateway cannot be used just now. Try again in a moment.',
        retryAfterMs: 1_000,
        cause,
      })

/** Errors of the language that a store throws where it was given what no store takes, or where our own code is wrong. */
const ourFaults: ReadonlySet<string> = new Set(['RangeError', 'TypeError', 'ReferenceError', 'SyntaxError'])

/**
 * By name, since an error may be of another realm. A lost connection is a TypeError, too, where a store speaks through `fetch`: runtimes
 * say so in its message, or give its cause.
 */
const isOurFault = (cause: unknown): boolean =>
  cause instanceof Error &&
  ourFaults.has(cause.name) &&
  !(cause.name === 'TypeError' && (cause.cause !== undefined || /fetch|network|load failed/i.test(cause.message)))
