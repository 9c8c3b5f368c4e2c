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
